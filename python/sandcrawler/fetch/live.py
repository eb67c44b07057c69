"""The live web: one request at a time turned into a Capture, every fault of the web into its status.

aiohttp does HTTP, and nothing it could do on its own account: redirects (`hops`), decompression (`decode`), proxies and
passwords from the environment (none). Raw header bytes are kept as latin-1 text, so nothing is lost or fails.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from sandcrawler.config import Config
from sandcrawler.fetch import exchange, faults, metrics, robots
from sandcrawler.fetch.base import Recorder, Refused, Take
from sandcrawler.fetch.client import client
from sandcrawler.fetch.connect import GuardedConnector, SystemResolver, connector
from sandcrawler.fetch.gate import Gate
from sandcrawler.fetch.governor import retry_after
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.hosts import AsyncSleeper, CoolingDown, Host, Hosts
from sandcrawler.fetch.judgement import decoder, judged, of_code
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.target import Target
from sandcrawler.fetch.watch import Watch
from sandcrawler.model import Capture
from sandcrawler.status import Status


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
    ) -> AsyncIterator["Session"]:
        """One document's session: its cookies end with it, the connections stay.

        `order`: its place among the worker's documents, else the next. `part`: bodies are cut at so many bytes.
        """
        if self._connector is None:
            raise RuntimeError("a Fetcher is used as an async context manager")
        jar = aiohttp.CookieJar(unsafe=True, quote_cookie=False)  # unsafe: hosts that are addresses have cookies too
        async with client(self.config, self._connector, jar, self.watch) as http:
            yield Session(self, http, next(self._sessions) if order is None else order, recorder, part)

    async def _robots_txt(self, target: Target, order: int) -> Capture:
        async with self.session(order=order, part=robots.READ_BYTES) as session:
            return await session.robots_txt(target.url)


class Session:
    """One document's fetches; `order` is its place among the worker's documents."""

    def __init__(
        self,
        fetcher: Fetcher,
        http: aiohttp.ClientSession,
        order: int,
        recorder: Recorder | None,
        part: int | None,
    ) -> None:
        self._part = part
        self._order = order
        self._recorder = recorder
        self._fetcher = fetcher
        self._http = http

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through redirects; `deadline` on the fetcher's clock. Never raises for the web's faults."""
        config = self._fetcher.config

        async def ask(target: Target) -> Capture:
            rules = await self._fetcher.gate.enter(target, deadline, self._order)
            capture = rules if isinstance(rules, Capture) else await self._exchange(target, deadline, rules.delay)
            return self._noted(target, capture)

        return await follow(ask, self._cookies, url, config.fetch_redirects, config.fetch_allow_ports)

    async def robots_txt(self, url: str) -> Capture:
        """A site's rules, followed through their own redirects."""
        fetcher, deadline = self._fetcher, self._fetcher.clock() + robots.ASK_SECONDS

        async def ask(target: Target) -> Capture:
            return self._noted(target, fetcher.gate.listed(target) or await self._exchange(target, deadline, None))

        return await follow(ask, self._cookies, url, robots.REDIRECTS, fetcher.config.fetch_allow_ports)

    def _noted(self, target: Target, capture: Capture) -> Capture:
        metrics.answered(target.host, capture)
        if self._fetcher.watch:
            to = capture.header("location") if capture.status_code in REDIRECTS else None
            said = capture.error_message or (f"to {to}" if to else f"{len(capture.body or b'')} bytes")
            self._fetcher.watch("*", f"{'redirect' if to else capture.status}: {said}")
        return capture

    def _cookies(self, target: Target) -> str:
        return self._http.cookie_jar.filter_cookies(URL(target.url, encoded=True)).output(header="", sep=";")

    async def _exchange(self, target: Target, deadline: float | None, gap: float | None) -> Capture:
        """One request: its response, or why there is none."""
        asked = self._fetcher.clock()
        nothing = Capture(target.url, Status.CONNECT_ERROR, (target.url,), datetime.now(UTC), target.url)
        try:
            async with self._fetcher.hosts.turn(target.host, deadline, self._order, gap) as host:
                self._waited(host, self._fetcher.clock() - asked)
                try:
                    async with asyncio.timeout(None if deadline is None else deadline - self._fetcher.clock()):
                        return await self._request(target, host)
                except faults.CAUGHT as error:
                    if isinstance(error, faults.SILENCE):
                        host.missed()
                    status, reason = faults.status(error), faults.reason(error, target)
                    return replace(nothing, status=status, error_message=reason)
        except CoolingDown as cooling:
            later, reason = _later(cooling.seconds), str(cooling)
            return replace(nothing, status=Status.HOST_BACKOFF, error_message=reason, retry_at=later)

    def _waited(self, host: Host, seconds: float) -> None:
        metrics.TURN.observe(seconds)
        if self._fetcher.watch:
            self._fetcher.watch("*", f"{host.name}: its turn came after {seconds:.3f} s, gap {host.pacer.gap:g} s")

    async def _request(self, target: Target, host: Host) -> Capture:
        start = self._fetcher.clock()
        async with self._http.get(URL(target.url, encoded=True), allow_redirects=False) as response:
            metrics.HEAD.observe(self._fetcher.clock() - start)
            answer = Capture(
                url=target.url,
                status=of_code(response.status),
                hops=(target.url,),
                when=datetime.now(UTC),
                terminal_url=target.url,
                status_code=response.status,
                headers=tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers),
            )
            if self._recorder is None:
                return await self._answer(target, host, response, answer, None)
            take = self._recorder.begin(exchange.exchange(response, target.url, answer.when))
            status = Status.TIMEOUT  # should this be cut short
            try:
                answer = await self._answer(target, host, response, answer, take)
                status = answer.status
            finally:
                take.end(exchange.truncated(response, status))
            return answer

    async def _answer(
        self, target: Target, host: Host, response: aiohttp.ClientResponse, answer: Capture, take: Take | None
    ) -> Capture:
        if host.heard(response.status, retry_after(answer.header("retry-after"))):
            return _throttled(answer, host.governor.remaining())
        if response.status in REDIRECTS:
            await exchange.drain(response, take)
            return answer
        try:
            return judged(answer, await self._body(response, take))
        except Refused as refused:
            response.close()
            return replace(answer, status=refused.status, error_message=str(refused))
        except TimeoutError as error:
            response.close()
            return replace(answer, status=Status.TIMEOUT, error_message=faults.reason(error, target))

    async def _body(self, response: aiohttp.ClientResponse, take: Take | None) -> bytes:
        encodings = response.headers.getall("Content-Encoding", [])
        start, cap = self._fetcher.clock(), self._part or self._fetcher.config.fetch_body_bytes
        body = decoder(response.content_type, encodings, cap)
        try:
            async for piece in response.content.iter_any():
                if take:
                    take.feed(piece)
                body.feed(piece)
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            raise Refused(Status.TRUNCATED_BODY, f"the body ended early: {faults.text(error)}") from error
        except Refused as refused:
            if self._part is None or refused.status is not Status.BODY_TOO_LARGE:
                raise
            response.close()
            return body.so_far()
        seconds = self._fetcher.clock() - start
        metrics.BODY.observe(seconds)
        if self._fetcher.watch:
            self._fetcher.watch("*", f"the body came after another {seconds:.3f} s")
        return body.finish()


def _throttled(answer: Capture, seconds: float) -> Capture:
    message = f"HTTP {answer.status_code}: the host asked to be left alone for {seconds:.0f} s"
    return replace(answer, status=Status.HOST_BACKOFF, error_message=message, retry_at=_later(seconds))


def _later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
