"""The back ends `live-then-wayback` and `wayback-then-live`: where the first has no document, the second is asked.

Which answers fall through is a table for each back end. What is said of the URL itself (forbidden address, robots.txt,
an operator's list) never does. Both are asked for the same URL; where that is in vain, the second is asked for the URL
at which the redirects of the first ended: a DOI may resolve, and only the publisher behind it be gone.
The back end that gave the document is asked first for all that follows: the parts of an archived page are archived.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from sandcrawler.config import Config
from sandcrawler.fetch import live, wayback
from sandcrawler.fetch.base import Opening, Recorder, Session
from sandcrawler.fetch.budget import FREE_BYTES
from sandcrawler.fetch.digest import Digest
from sandcrawler.model import Capture
from sandcrawler.status import Status

# Of the time that is left, what the first may use: the second must have a chance.
SHARE = 0.6

# Status -> why the web archive may know better than the live web.
LIVE_FALLS: Mapping[Status, str] = {
    Status.DNS_ERROR: "the site has lost its name",
    Status.CONNECT_ERROR: "the site is down, or does not speak HTTP",
    Status.TLS_ERROR: "the certificate cannot be trusted, so nothing of it was read",
    Status.TIMEOUT: "the site does not answer in time",
    Status.HOST_BACKOFF: "the site wants to be left alone; the archive costs it nothing",
    Status.TERMINAL_BAD_STATUS: "the page is gone or the site is broken (the codes below)",
    Status.EMPTY_BLOB: "a success without a document",
    Status.TRUNCATED_BODY: "the document did not come whole",
    Status.BAD_GZIP_ENCODING: "the document cannot be unpacked",
    Status.REDIRECT_LOOP: "the site runs in a circle",
    Status.REDIRECTS_EXCEEDED: "the site runs in a circle",
    Status.BAD_REDIRECT: "the site leads nowhere",
}
# Of terminal-bad-status, these. A 401 or 403 is an answer: a wall, which is told as such.
GONE = frozenset({404, 410, 500, 502, 504})

# Status -> why the live web may know better than the web archive.
WAYBACK_FALLS: Mapping[Status, str] = {
    Status.NO_CAPTURE: "it was never archived",
    Status.CDX_ERROR: "the archive's index does not answer",
    Status.WAYBACK_ERROR: "the archive's replay does not answer",
    Status.WAYBACK_CONTENT_ERROR: "the archive's records are broken",
    Status.TIMEOUT: "the archive does not answer in time",
    Status.TERMINAL_BAD_STATUS: "only errors were archived (the codes above); the page may be back",
    Status.EMPTY_BLOB: "a success without a document",
    Status.TRUNCATED_BODY: "the document was not archived whole",
    Status.BAD_GZIP_ENCODING: "the document cannot be unpacked",
    Status.REDIRECT_LOOP: "captures of many years may lead in a circle",
    Status.REDIRECTS_EXCEEDED: "captures of many years may lead in a circle",
    Status.BAD_REDIRECT: "a redirect that leads nowhere was archived",
}
# These say nothing of the document: any other answer tells more.
SILENT = frozenset({Status.NO_CAPTURE, Status.CDX_ERROR, Status.WAYBACK_ERROR, Status.WAYBACK_CONTENT_ERROR})


# A session asked for a URL: its capture, with the digest where bodies are not collected.
Ask = Callable[[Session, str, float | None], Awaitable[tuple[Capture, Digest | None]]]


async def collect(session: Session, url: str, deadline: float | None) -> tuple[Capture, Digest | None]:
    """An `Ask` for the whole body."""
    return await session.get(url, deadline), None


async def hashed(session: Session, url: str, deadline: float | None) -> tuple[Capture, Digest | None]:
    """An `Ask` for its digest."""
    return await session.digest(url, deadline)


@dataclass(frozen=True, slots=True)
class Choice:
    """A back end by its name, and which of its answers fall through."""

    name: str
    make: Callable[[Config], Opening]
    falls: Mapping[Status, str]

    def fell(self, capture: Capture) -> bool:
        """Whether the other back end is asked after this answer."""
        bad = capture.status is Status.TERMINAL_BAD_STATUS and capture.status_code not in GONE
        return capture.status in self.falls and not bad


LIVE = Choice("live", live.Fetcher, LIVE_FALLS)
WAYBACK = Choice("wayback", wayback.WaybackFetcher, WAYBACK_FALLS)


class FallbackFetcher:
    """Two back ends in their order. Use as an async context manager."""

    def __init__(self, config: Config, choices: Sequence[Choice]) -> None:
        self._open = [(choice, choice.make(config)) for choice in choices]
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for _, fetcher in self._open:
                await stack.enter_async_context(fetcher)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["FallbackSession"]:
        """A session of each for one document."""
        async with AsyncExitStack() as stack:
            pairs = [(each, await stack.enter_async_context(fetcher.session(recorder))) for each, fetcher in self._open]
            yield FallbackSession(pairs)


class FallbackSession:
    """One document's fetches, from one back end or the other."""

    def __init__(self, pairs: list[tuple[Choice, Session]]) -> None:
        self._first, self._second = pairs
        self._begun = False

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through redirects; the second's answer where the first's fell through and it is better."""
        return (await self._ask(collect, url, deadline))[0]

    async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest | None]:
        """The same, its body hashed as it comes."""
        return await self._ask(hashed, url, deadline)

    def release(self) -> None:
        """The bodies that were collected are needed no longer."""
        for _, session in (self._first, self._second):
            session.release()

    async def _ask(self, ask: Ask, url: str, deadline: float | None) -> tuple[Capture, Digest | None]:
        (choice, session), (other_choice, other) = self._first, self._second
        begun, self._begun = self._begun, True
        self.release()
        capture, taken = await ask(session, url, _part(deadline))
        if not choice.fell(capture):
            return capture, taken
        session.release()
        capture = _light(capture)
        answers = [(choice, capture)]
        for asked in dict.fromkeys((url, capture.terminal_url)):
            second, taken = await ask(other, asked, deadline)
            if second.status is Status.SUCCESS:
                if not begun:
                    self._first, self._second = self._second, self._first
                return second if asked == url else _joined(capture, second), taken
            other.release()
            answers.append((other_choice, _light(second)))
        return _told(answers), None


def _light(capture: Capture) -> Capture:
    """An answer that is kept while others are asked for: a large body (of an error page) would be paid by nobody."""
    return capture if len(capture.body or b"") <= FREE_BYTES else replace(capture, body=None)


def _told(answers: Sequence[tuple[Choice, Capture]]) -> Capture:
    """The first answer that says something of the document, with what each back end said."""
    captures = [capture for _, capture in answers]
    told = next((capture for capture in captures if capture.status not in SILENT), captures[0])
    message = "; ".join(f"{choice.name}: {_said(capture)}" for choice, capture in answers)
    later = next((capture.retry_at for capture in captures if capture.retry_at), None)
    return replace(told, error_message=message[:1600], retry_at=told.retry_at or later)


def _part(deadline: float | None) -> float | None:
    now = time.monotonic()
    return None if deadline is None else now + SHARE * max(0.0, deadline - now)


def _joined(first: Capture, second: Capture) -> Capture:
    """The second's answer, reached by the first's redirects."""
    return replace(second, url=first.url, hops=(*first.hops[:-1], *second.hops))


def _said(capture: Capture) -> str:
    return f"{capture.status}: {capture.error_message}" if capture.error_message else str(capture.status)
