"""The live web: what the documents of one worker share. What one of them asks is in `session`.

aiohttp does HTTP, and nothing it could do on its own account: redirects (`hops`), decompression (`decode`), proxies and
passwords from the environment (none). Raw header bytes are kept as latin-1 text, so nothing is lost or fails.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from types import TracebackType
from typing import Self

import aiohttp

from sandcrawler.config import Config
from sandcrawler.fetch import robots
from sandcrawler.fetch.base import Recorder
from sandcrawler.fetch.client import client
from sandcrawler.fetch.connect import GuardedConnector, SystemResolver, connector
from sandcrawler.fetch.gate import Gate
from sandcrawler.fetch.hosts import AsyncSleeper, Hosts
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.session import Session
from sandcrawler.fetch.target import Target
from sandcrawler.fetch.watch import Watch
from sandcrawler.model import Capture


class Fetcher:
    """One worker's client: connections, names, and the state of every host. Use as an async context manager."""

    def __init__(
        self,
        config: Config,
        clock: Clock = time.monotonic,
        sleeper: AsyncSleeper = asyncio.sleep,
        watch: Watch | None = None,
    ) -> None:
        self.config = config
        self.clock = clock
        self.watch = watch
        self.gate = Gate(config, self._robots_txt, clock, watch)
        limits = (config.fetch_host_gap, config.fetch_host_parallel, config.fetch_host_patience)
        self.hosts = Hosts(*limits, clock, sleeper)
        self._connector: GuardedConnector | None = None
        self._resolver: SystemResolver | None = None
        self._sessions = count()

    async def __aenter__(self) -> Self:
        self._resolver = SystemResolver()
        self._connector = connector(self.config, self._resolver, self.watch)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.gate.close()
        if self._connector and self._resolver:
            await self._connector.close()
            await self._resolver.close()

    @asynccontextmanager
    async def session(
        self, recorder: Recorder | None = None, order: int | None = None, part: int | None = None
    ) -> AsyncIterator[Session]:
        """One document's session: its cookies end with it, the connections stay.

        `order`: its place among the worker's documents, else the next. `part`: bodies are cut at so many bytes.
        """
        if self._connector is None:
            raise RuntimeError("a Fetcher is used as an async context manager")
        jar = aiohttp.CookieJar(unsafe=True, quote_cookie=False)  # unsafe: hosts that are addresses have cookies too
        async with client(self.config, self._connector, jar, self.watch) as http:
            session = Session(self, http, next(self._sessions) if order is None else order, recorder, part)
            try:
                yield session
            finally:
                session.release()

    async def _robots_txt(self, target: Target, order: int) -> Capture:
        async with self.session(order=order, part=robots.READ_BYTES) as session:
            return await session.robots_txt(target.url)
