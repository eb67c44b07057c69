"""The back ends `wayback` and `wayback:YYYYMMDDhhmmss`: answers come from a web archive, by its index and its replay.

    URL ─► index (CDX API) ─► the best capture ─► replay (…/MOMENTid_/URL) ─► Capture
                                                     └ a redirect: the same again for where it led

The moment may be given; else the newest good capture is taken, and its moment is that of everything which follows in
the document: redirects, full text, images. The archive resolves revisits; where it cannot, or a record is broken,
the next captures are tried. What was never archived is `no-capture`; an index or a replay that does not answer is
`cdx-error` or `wayback-error`; a record that is not what the index says is `wayback-content-error`.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch import blocklist, waybackindex
from sandcrawler.fetch.address import local
from sandcrawler.fetch.allowance import allowed
from sandcrawler.fetch.base import Recorder, Refused
from sandcrawler.fetch.bodies import BodySession
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.intake import Intake
from sandcrawler.fetch.judgement import SUCCESSFUL, judged, of_code
from sandcrawler.fetch.service import Question, Service, Unanswered
from sandcrawler.fetch.target import ANY_PORT, Target, read
from sandcrawler.fetch.waybackindex import Row
from sandcrawler.fetch.waybackreplay import objection, original_headers, words
from sandcrawler.model import Capture
from sandcrawler.status import Status

TRIES = 3  # captures of one URL
INDEX_BYTES = 8 << 20


class WaybackFetcher:
    """One archive's captures, those nearest to `moment` where it is given. Use as an async context manager."""

    def __init__(self, config: Config, moment: str = "") -> None:
        """ConfigurationError: the moment is none, or the archive's addresses are none."""
        self.config, self.service = config, Service(config)
        self._blocklist = blocklist.load(config.fetch_blocklist)
        try:
            self._moment = waybackindex.instant(moment) if moment else None
            for url in (config.fetch_wayback_cdx, config.fetch_wayback_replay):
                read(url, more_ports=ANY_PORT)
        except (ValueError, Refused) as error:
            raise ConfigurationError(f"back end wayback: {error}") from error

    async def __aenter__(self) -> Self:
        await self.service.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.service.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["Session"]:  # noqa: ARG002
        """A session for one document. Nothing is recorded: it is in an archive already."""
        session = Session(self, self._moment)
        try:
            yield session
        finally:
            session.release()

    def check(self, target: Target) -> None:
        """Refused: an operator's list says that this URL is not to be had, or it is of a local network.

        Names are not looked up: an archive is asked for sites that have lost theirs.
        """
        self._blocklist.check(target)
        if reason := local(target.host, self.config.fetch_allow_addresses):
            raise Refused(Status.BLOCKED_ADDRESS, reason)


class Session(BodySession):
    """One document's look-ups: all near one moment, once there is one. Captures before `since` do not count."""

    def __init__(self, fetcher: WaybackFetcher, moment: datetime | None, since: datetime | None = None) -> None:
        super().__init__(fetcher.config)
        self._fetcher = fetcher
        self._service = fetcher.service
        self._config = fetcher.config
        self.moment = moment
        self._since = since

    async def fetch(self, url: str, deadline: float | None, intake: Intake) -> Capture:
        """The URL as it was archived, followed through redirects that the archive holds."""
        spelled: dict[str, str] = {}

        async def ask(target: Target) -> Capture:
            try:
                async with allowed(None if deadline is None else deadline - time.monotonic()):
                    capture = await self._answer(target, deadline, intake)
            except TimeoutError:
                return _nothing(target, Status.TIMEOUT, "the archive did not answer in time")
            spelled[target.url] = capture.terminal_url
            return capture

        capture = await follow(ask, lambda _: "", url, self._config.fetch_redirects, ANY_PORT)
        # The archive may know the document under another spelling (https, www): that is where it was got.
        as_archived = spelled.get(capture.terminal_url, capture.terminal_url)
        if as_archived == capture.terminal_url:
            return capture
        return replace(capture, hops=(*capture.hops, as_archived), terminal_url=as_archived)

    async def _answer(self, target: Target, deadline: float | None, intake: Intake) -> Capture:
        """The best capture that can be had; the last one's fault where none can."""
        intake.release()  # the index is waited for
        try:
            self._fetcher.check(target)
            found = await self._index(target.url, deadline)
        except Refused as refused:
            return _nothing(target, refused.status, str(refused))
        except Unanswered as fault:
            return replace(_nothing(target, Status.CDX_ERROR, str(fault)), retry_at=fault.retry_at)
        capture = _nothing(target, Status.NO_CAPTURE, f"{self._config.fetch_wayback_cdx} has no capture of it")
        for row in found[:TRIES]:
            capture = await self._replay(target, row, deadline, intake)
            if capture.status is not Status.WAYBACK_CONTENT_ERROR:
                self.moment = self.moment or row.when
                break
        return capture

    async def _index(self, url: str, deadline: float | None) -> list[Row]:
        """The captures of a URL, the best first. Unanswered."""
        found = await self._rows(url, deadline)
        if len(found) >= waybackindex.LIMIT and not any(row.code in SUCCESSFUL for row in found):
            found += await self._rows(url, deadline, filter="statuscode:200")  # further away than the others
        fresh = [row for row in found if self._since is None or row.when >= self._since]
        return waybackindex.ranked(fresh, url, self.moment)

    async def _rows(self, url: str, deadline: float | None, **more: str) -> list[Row]:
        asked = f"{self._config.fetch_wayback_cdx}?{waybackindex.query(url, self.moment, **more)}"
        answer = await self._service.ask(Question(asked), Intake(INDEX_BYTES), deadline)
        if answer.code == 404 and not answer.body.strip():
            return []
        if answer.code != 200 or answer.fault:
            raise Unanswered(f"index: HTTP {answer.code} {answer.fault or words(answer.body)}")
        try:
            return waybackindex.rows(answer.body, url)
        except ValueError as error:
            raise Unanswered(f"index: {error}") from error

    async def _replay(self, target: Target, row: Row, deadline: float | None, intake: Intake) -> Capture:
        """One capture, played back."""
        base = self._config.fetch_wayback_replay.rstrip("/")
        nothing = replace(_nothing(target, Status.WAYBACK_ERROR, ""), when=row.when, terminal_url=row.url)
        try:
            answer = await self._service.ask(Question(f"{base}/{row.moment}id_/{row.url}"), intake, deadline)
        except Refused as refused:
            return replace(nothing, status=refused.status, error_message=str(refused))
        except Unanswered as fault:
            return replace(nothing, error_message=f"replay of {row.moment}: {fault}", retry_at=fault.retry_at)
        wrong = await asyncio.to_thread(objection, answer, row)
        if wrong:
            message = f"replay of {row.moment}: {wrong}"
            return replace(nothing, status=Status.WAYBACK_CONTENT_ERROR, error_message=message)
        capture = replace(
            nothing,
            status=of_code(answer.code),
            status_code=answer.code,
            headers=original_headers(answer, base),
            error_message=None,
            place=row.place,
        )
        if answer.code in REDIRECTS:
            return capture
        if answer.fault:
            return replace(capture, status=answer.fault.status, error_message=str(answer.fault))
        return judged(capture, answer.body)


def _nothing(target: Target, status: Status, message: str) -> Capture:
    return Capture(target.url, status, (target.url,), datetime.now(UTC), target.url, error_message=message[:800])
