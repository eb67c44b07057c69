"""The back ends by name, and the fetchers that are open.

A worker has one back end by its settings; a request may name another. Fetchers are opened when they are first asked
for and shared by all documents; of those that nobody uses, a few are kept open, since the next request is likely to
want the same.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Self

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch import fallback, live, spn, warc, wayback
from sandcrawler.fetch.base import Fetcher, Opening, Recorder, Refused
from sandcrawler.fetch.hops import failure
from sandcrawler.fetch.target import shown
from sandcrawler.model import Capture
from sandcrawler.status import Status

IDLE = 4


Make = Callable[[Config, str], Opening]

# Name -> how its fetcher is made, from the settings and what stands after the colon.
BACKENDS: Mapping[str, Make] = {
    "live": lambda config, _: live.Fetcher(config),
    "wayback": wayback.WaybackFetcher,
    "spn": spn.SpnFetcher,
    "live-then-wayback": lambda config, _: fallback.FallbackFetcher(config, (fallback.LIVE, fallback.WAYBACK)),
    "wayback-then-live": lambda config, _: fallback.FallbackFetcher(config, (fallback.WAYBACK, fallback.LIVE)),
    "warc": warc.WarcFetcher,
}
# How those that take something after the colon are written, and which of them do without it.
WRITTEN: Mapping[str, str] = {"warc": "warc:PATH or warc:URL", "wayback": "wayback or wayback:YYYYMMDDhhmmss"}
BARE = frozenset({"wayback"})


def named(backend: str) -> tuple[Make, str]:
    """How a back end such as `live` or `warc:crawl.warc.gz` is made. ConfigurationError: there is none."""
    name, colon, argument = backend.partition(":")
    if name not in BACKENDS:
        raise ConfigurationError(f"back end {backend!r}: there is none of that name, only {', '.join(BACKENDS)}")
    takes, needs = name in WRITTEN, name in WRITTEN and name not in BARE
    if (needs and not argument) or (colon and not (takes and argument)):
        raise ConfigurationError(f"back end {backend!r}: it is written {WRITTEN.get(name, name)}")
    return BACKENDS[name], argument


def open_fetcher(config: Config, backend: str) -> Opening:
    """The fetcher of a back end, to be opened with `async with`. ConfigurationError: there is none."""
    make, argument = named(backend)
    return make(config, argument)


class Nothing:
    """In place of a back end that cannot be opened: every answer is `no-capture`, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["Nothing"]:  # noqa: ARG002
        yield self

    async def get(self, url: str, deadline: float | None = None) -> Capture:  # noqa: ARG002
        return failure(url, (shown(url),), Refused(Status.NO_CAPTURE, self.reason))

    async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, None]:
        return await self.get(url, deadline), None

    def release(self) -> None:
        pass


@dataclass(slots=True)
class _Held:
    """A fetcher that is open, or is being opened under its lock, and how many documents use it."""

    fetcher: Opening
    lock: asyncio.Lock
    users: int = 0
    opened: bool = False


class Backends:
    """The open fetchers of one worker. Use as an async context manager, which opens the worker's own."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._held: OrderedDict[str, _Held] = OrderedDict()

    async def __aenter__(self) -> Self:
        """ConfigurationError: the worker's own back end cannot be opened."""
        async with self._used(self.config.fetch_backend):
            return self

    async def __aexit__(self, *_: object) -> None:
        while self._held:
            await self._close(next(iter(self._held)))

    @asynccontextmanager
    async def fetcher(self, backend: str | None = None) -> AsyncIterator[Fetcher]:
        """The fetcher of a back end for one document, the worker's own where none is named.

        One that cannot be opened (no such file, no WARC) answers in its own way: the worker goes on.
        """
        async with AsyncExitStack() as stack:
            fetcher: Fetcher
            try:
                fetcher = await stack.enter_async_context(self._used(backend or self.config.fetch_backend))
            except ConfigurationError as error:
                fetcher = Nothing(str(error))
            yield fetcher

    @asynccontextmanager
    async def _used(self, backend: str) -> AsyncIterator[Fetcher]:
        held = self._held.get(backend)
        if held is None:
            held = self._held[backend] = _Held(open_fetcher(self.config, backend), asyncio.Lock())
        held.users += 1
        try:
            async with held.lock:
                if not held.opened:
                    await held.fetcher.__aenter__()
                    held.opened = True
            self._held.move_to_end(backend)
            yield held.fetcher
        finally:
            held.users -= 1
            await self._forget()

    async def _forget(self) -> None:
        """Close what nobody uses: all that could not be opened, and of the others all but the last few."""
        idle = [name for name, held in self._held.items() if not held.users and name != self.config.fetch_backend]
        for name in [name for name in idle if not self._held[name].opened] + idle[:-IDLE]:
            if name in self._held:
                await self._close(name)

    async def _close(self, backend: str) -> None:
        held = self._held.pop(backend)
        if held.opened:
            await held.fetcher.__aexit__(None, None, None)
