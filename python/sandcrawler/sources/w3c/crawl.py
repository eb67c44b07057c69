"""The harvest of the W3C's API: pages of all specifications into a few workers, and the guards before anything counts.

    index pages (each specification embedded) ─► bounded queue ─► workers: specification, its versions ─► Keeper
                                                                     │ Realizer: back-off, skips
    afterwards: pages all there? banned? too much lost? ─► index, report

The record files are written as they come; the index speaks for the whole, and is written when no guard refused. Ctrl-C
stops the asking and saves what there is; a second one ends at once. A full disk stops everything, and the index stays.
"""

import queue
import threading
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count

import structlog

from sandcrawler.fetch.pacing import Sleeper
from sandcrawler.sources.base import CrawlIncomplete, Record
from sandcrawler.sources.w3c.api import Api, Resource
from sandcrawler.sources.w3c.gather import Gathering, lists_of
from sandcrawler.sources.w3c.keep import Keeper
from sandcrawler.sources.w3c.pages import IndexPages
from sandcrawler.sources.w3c.parse import EVERY_RECORD, EVERY_VERSION, url_of
from sandcrawler.sources.w3c.realize import Realizer
from sandcrawler.sources.w3c.reference import identifier
from sandcrawler.sources.w3c.settings import Settings, W3cGovernor
from sandcrawler.sources.w3c.stop import Stop

log = structlog.get_logger()

Work = tuple[str, Resource]
Progress = Callable[[int, int | None], None]


def unseen(done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


class Crawl:
    """One harvest. `run` is called once."""

    def __init__(  # noqa: PLR0913  (what it works with; tests replace each)
        self,
        api: Api,
        keeper: Keeper,
        settings: Settings,
        *,
        stop: Stop | None = None,
        governor: W3cGovernor | None = None,
        sleeper: Sleeper | None = None,
        progress: Progress = unseen,
    ) -> None:
        self.api, self.keeper, self.settings = api, keeper, settings
        self.stop = stop or Stop()
        self.governor = governor or W3cGovernor(sleeper=self.stop.sleep)
        self.realizer = Realizer(api, self.governor, self.stop)
        self.pages = IndexPages(self.realizer, sleeper or self.stop.sleep)
        self._progress = progress
        self._queue: queue.Queue[Work | None] = queue.Queue(4 * settings.concurrency)
        self._fatal: OSError | None = None
        self._done = count(1)
        self._taken: set[str] = set()

    def run(self) -> None:
        """Harvest and guard. When this returns, what was kept may be indexed.

        CrawlIncomplete where the data set would be truncated; HttpError where the first page cannot be had; OSError
        where a record could not be written.
        """
        self.realizer.reset()
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self.settings.concurrency)]
        with self.stop.on_interrupt():
            for worker in workers:
                worker.start()
            try:
                for work in self.pages.specifications():
                    self._queue.put(work)
            finally:
                for _ in workers:
                    self._queue.put(None)
                for worker in workers:
                    worker.join()
        if self._fatal:
            raise self._fatal
        if self.stop.interrupted:
            log.warning("Crawl interrupted — saving progress collected so far.")
        else:
            self._guard()
        self._count()

    def _guard(self) -> None:
        governor, lost, budget = self.governor, len(self.realizer.throttled), self.settings.max_throttled
        if governor.exhausted:
            raise CrawlIncomplete(
                f"crawl is rate-limited: gave up after {governor.give_up_rounds} consecutive backoffs "
                f"({governor.throttle_count} rate-limited responses); refusing to save a partial dataset"
            )
        if lost > budget:
            raise CrawlIncomplete(
                f"{lost} resources were dropped to rate limiting (budget {budget}); refusing to save a partial dataset"
            )

    def _count(self) -> None:
        self.keeper.count("requests", self.api.client.requests)
        self.keeper.count("requests_saved_by_memory", self.api.saved)
        self.keeper.count("skipped", len(self.realizer.skipped))
        self.keeper.count("throttled", len(self.realizer.throttled))

    # The workers: a specification and its versions each.

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            if self.realizer.stopping():
                continue
            self._safely(partial(self._specification, *work), work[0])
            self._progress(next(self._done), self.pages.total)

    def _safely(self, work: Callable[[], None], href: str) -> None:
        """One bad resource costs its own record only; a disk that does not take records costs the harvest."""
        try:
            work()
        except OSError as error:
            self._fatal = error
            self.stop.set()
        except Exception as error:  # noqa: BLE001  (whatever an answer's shape provokes is that record's fault)
            log.warning("record failed", href=href, error=f"{type(error).__name__}: {error}")
            self.keeper.errors.say(href, f"Failed to make a record of {href}: {error}")

    def _specification(self, href: str, page: Resource) -> None:
        resource = self.realizer.resource(href, page)
        if resource is None:
            return
        gathering = Gathering(self.realizer)
        editions = gathering.editions(resource)
        entry = {"specification": resource, "editions": editions}
        if not self.keeper.unchanged(href, entry, identifier(url_of(resource))):
            record = gathering.specification(resource, editions)
            self._keep(href, entry, record, EVERY_RECORD, gathering.whole)
        if self.settings.versions:
            for edition in editions:
                self._safely(partial(self._version, edition), edition)

    def _version(self, href: str) -> None:
        # Histories overlap: that of 2dcontext begins with versions of html5.
        if href in self._taken:
            return
        self._taken.add(href)
        resource = self.realizer.resource(href)
        if resource is None:
            return
        if self.keeper.unchanged(href, resource, identifier(url_of(resource))):
            self.keeper.count("requests_saved_by_ledger", lists_of(resource))
            return
        gathering = Gathering(self.realizer)
        record = gathering.version(resource)
        self._keep(href, resource, record, EVERY_RECORD | EVERY_VERSION, gathering.whole)

    def _keep(self, href: str, entry: object, record: Record, expected: Mapping[str, str], whole: bool) -> None:
        # Where the harvest stopped meanwhile, the record may lack what was no longer asked for.
        if self.realizer.stopping():
            return
        path = self.keeper.save(record, expected, whole)
        if path and whole:
            self.keeper.note(href, entry, path)
