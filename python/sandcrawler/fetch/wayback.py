"""The back ends `wayback` and `wayback:YYYYMMDDhhmmss`: answers come from a web archive, by its index and its replay.

    URL ─► index (CDX API) ─► the best capture ─► replay (…/MOMENTid_/URL) ─► Capture
                                                     └ a redirect: the same again for where it led

The moment may be given; else the newest good capture is taken, and its moment is that of everything which follows in
the document: redirects, full text, images. The archive resolves revisits; where it cannot, or a record is broken,
the next captures are tried. What was never archived is `no-capture`; an index or a replay that does not answer is
`cdx-error` or `wayback-error`; a record that is not what the index says is `wayback-content-error`.
"""

import asyncio
import base64
import hashlib
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch import blocklist, waybackindex
from sandcrawler.fetch.base import Recorder, Refused
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.judgement import SUCCESSFUL, judged, of_code
from sandcrawler.fetch.service import ORIGINAL, Answer, Question, Service, Unanswered
from sandcrawler.fetch.target import ANY_PORT, Target, read
from sandcrawler.fetch.waybackindex import Row
from sandcrawler.model import Capture
from sandcrawler.status import Status

TRIES = 3  # captures of one URL
INDEX_BYTES = 8 << 20
# A captured response's headers that an archive may hand on under their own names; the others are the archive's own.
HANDED_ON = frozenset(
    {"content-type", "content-language", "content-disposition", "etag", "last-modified", "location", "refresh"}
)


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
        yield Session(self, self._moment)

    def check(self, target: Target) -> None:
        """Refused: an operator's list says that this URL is not to be had."""
        self._blocklist.check(target)


class Session:
    """One document's look-ups: all near one moment, once there is one. Captures before `since` do not count."""

    def __init__(self, fetcher: WaybackFetcher, moment: datetime | None, since: datetime | None = None) -> None:
        self._fetcher = fetcher
        self._service = fetcher.service
        self._config = fetcher.config
        self.moment = moment
        self._since = since

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL as it was archived, followed through redirects that the archive holds."""
        spelled: dict[str, str] = {}

        async def ask(target: Target) -> Capture:
            try:
                async with asyncio.timeout(None if deadline is None else deadline - time.monotonic()):
                    capture = await self._answer(target, deadline)
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

    async def _answer(self, target: Target, deadline: float | None) -> Capture:
        """The best capture that can be had; the last one's fault where none can."""
        try:
            self._fetcher.check(target)
            found = await self._index(target.url, deadline)
        except Refused as refused:
            return _nothing(target, refused.status, str(refused))
        except Unanswered as fault:
            return replace(_nothing(target, Status.CDX_ERROR, str(fault)), retry_at=fault.retry_at)
        capture = _nothing(target, Status.NO_CAPTURE, f"{self._config.fetch_wayback_cdx} has no capture of it")
        for row in found[:TRIES]:
            capture = await self._replay(target, row, deadline)
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
        answer = await self._service.ask(Question(asked, INDEX_BYTES), deadline)
        if answer.code == 404 and not answer.body.strip():
            return []
        if answer.code != 200 or answer.fault:
            raise Unanswered(f"index: HTTP {answer.code} {answer.fault or _words(answer.body)}")
        try:
            return waybackindex.rows(answer.body, url)
        except ValueError as error:
            raise Unanswered(f"index: {error}") from error

    async def _replay(self, target: Target, row: Row, deadline: float | None) -> Capture:
        """One capture, played back."""
        base = self._config.fetch_wayback_replay.rstrip("/")
        nothing = replace(_nothing(target, Status.WAYBACK_ERROR, ""), when=row.when, terminal_url=row.url)
        try:
            question = Question(f"{base}/{row.moment}id_/{row.url}", self._config.fetch_body_bytes)
            answer = await self._service.ask(question, deadline)
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


def objection(answer: Answer, row: Row) -> str | None:
    """Why an answer is not the capture that the index names, if so."""
    if not answer.archived:
        return f"HTTP {answer.code} from the archive itself {_words(answer.body)}"
    moment = answer.header("memento-datetime")
    if moment and _differs(moment, row.when):
        return f"it is the capture of {moment[:40]}"
    coded = answer.header("content-encoding") or any(
        answer.header(ORIGINAL + name) for name in ("content-encoding", "transfer-encoding")
    )
    if answer.fault or row.digest is None or answer.code in REDIRECTS or row.digest == _base32(answer.sha1):
        return None
    # What was coded on the wire is hashed so by some crawlers, and handed on without its coding by some archives.
    if coded or row.digest == _base32(hashlib.sha1(answer.body, usedforsecurity=False).digest()):
        return None
    return "its bytes are not those of the index's digest"


def original_headers(answer: Answer, replay: str) -> tuple[tuple[str, str], ...]:
    """The headers of the captured response; its Location leads to the site again and not into the archive."""
    named = [(name[len(ORIGINAL) :], value) for name, value in answer.headers if name.lower().startswith(ORIGINAL)]
    known = {name.lower() for name, _ in named}
    plain = [each for each in answer.headers if each[0].lower() in HANDED_ON - known]
    return tuple((n, unwrapped(v, replay) if n.lower() == "location" else v) for n, v in (*named, *plain))


def unwrapped(location: str, replay: str) -> str:
    """`https://web.archive.org/web/20200101000000id_/https://example.org/` → `https://example.org/`."""
    places = "|".join(map(re.escape, (replay, urlsplit(replay).path)))
    found = re.match(rf"(?:{places})/\d{{1,14}}(?:[a-z]{{2}}_)?/(?=https?:)", location)
    return location[found.end() :] if found else location


def _differs(moment: str, when: datetime) -> bool:
    try:
        given = parsedate_to_datetime(moment)
    except ValueError:
        return True
    return (given if given.tzinfo else given.replace(tzinfo=UTC)) != when


def _base32(digest: bytes) -> str:
    return base64.b32encode(digest).decode()


def _words(body: bytes) -> str:
    """The beginning of what an archive says, on one line."""
    return " ".join(re.sub(r"[^ -~]+", " ", body[:300].decode("latin-1")).split())


def _nothing(target: Target, status: Status, message: str) -> Capture:
    return Capture(target.url, status, (target.url,), datetime.now(UTC), target.url, error_message=message[:800])
