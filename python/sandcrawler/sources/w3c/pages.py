"""The index of the API, page after page: every specification with the page that has it embedded.

A page that is lost, or a list that ends early, would make a data set that looks whole and is not: that is an error, and
not the end of the list.
"""

from collections.abc import Iterator

import structlog

from sandcrawler.fetch.pacing import Sleeper
from sandcrawler.sources.base import CrawlIncomplete
from sandcrawler.sources.failures import HttpError
from sandcrawler.sources.w3c.api import Resource, href_of, links
from sandcrawler.sources.w3c.realize import Realizer

log = structlog.get_logger()

ATTEMPTS = 3
SPECIFICATIONS = "specifications"


class IndexPages:
    """The pages for one harvest. `total`: how many specifications the first page promises."""

    def __init__(self, realizer: Realizer, sleeper: Sleeper) -> None:
        self._realizer, self._sleeper = realizer, sleeper
        self.total: int | None = None

    def specifications(self) -> Iterator[tuple[str, Resource]]:
        """Addresses of specifications, with their page. Ends early when the harvest stops.

        HttpError where the first page cannot be had; CrawlIncomplete where a later one cannot, or lacks.
        """
        first = self._realizer.api.index_page(1)
        number, pages, self.total = 1, _count(first, "pages"), _count(first, "total")
        page: Resource | None = first
        while page is not None:
            for entry in links(page, SPECIFICATIONS):
                if self._realizer.stopping():
                    return
                yield entry["href"], page
            if not href_of(page, "next"):
                break
            page = self._following(number + 1)
            if page is None and not self._realizer.stopping():
                raise CrawlIncomplete(
                    f"specifications pagination stopped at page {number}: failed to fetch page {number + 1}"
                )
            number += 1
        if pages is not None and number < pages and not self._realizer.stopping():
            raise CrawlIncomplete(
                f"specifications pagination ended at page {number} of {pages}; refusing to save a partial dataset"
            )

    def _following(self, number: int) -> Resource | None:
        """A page after the first one: refusals are sat out, other failures tried three times."""
        governor, failures = self._realizer.governor, 0
        while not self._realizer.stopping():
            governor.wait()
            try:
                page = self._realizer.api.index_page(number)
            except HttpError as error:
                if error.status is not None and governor.throttles(error.status):
                    log.warning("index page refused", page=number, error=str(error))
                    governor.throttled(error.retry_after)
                    continue
                failures += 1
                log.warning("index page failed", page=number, attempt=failures, of=ATTEMPTS, error=str(error))
                if failures == ATTEMPTS:
                    return None
                self._sleeper(2**failures)
            else:
                governor.succeeded()
                # A server that answers with an earlier page would lead us in circles.
                return page if _count(page, "page") in {None, number} else None
        return None


def _count(page: Resource, name: str) -> int | None:
    value = page.get(name)
    return value if isinstance(value, int) else None
