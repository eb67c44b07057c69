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
from sandcrawler.fetch import decode, exchange, faults
from sandcrawler.fetch.base import Recorder, Refused, Take
from sandcrawler.fetch.connect import GuardedConnector, SystemResolver, connector
from sandcrawler.fetch.governor import retry_after
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.hosts import AsyncSleeper, CoolingDown, Host, Hosts
from sandcrawler.fetch.judgement import decoder, judged, of_code
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.target import Target
from sandcrawler.model import Capture
from sandcrawler.status import Status

HEADER_BYTES = 1 << 16  # one line; content security policies of 10 KB are common
HEADERS = 256
SMALL_BODY = 1 << 16  # a redirect's body is read, and the connection used again, if it says it is no larger


class Fetcher:
    """One worker's client: connections, names, and the state of every host. Use as an async context manager."""

    def __init__(self, config: Config, clock: Clock = time.monotonic, sleeper: AsyncSleeper = asyncio.sleep) -> None:
        self.config = config
        self.clock = clock
        limits = (config.fetch_host_gap, config.fetch_host_parallel, config.fetch_host_patience)
        self.hosts = Hosts(*limits, clock, sleeper)
        self._connector: GuardedConnector | None = None
        self._resolver: SystemResolver | None = None
        self._sessions = count()

    async def __aenter__(self) -> Self:
        self._resolver = SystemResolver()
        self._connector = connector(self.config, self._resolver)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connector and self._resolver:
            await self._connector.close()
            await self._resolver.close()

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["Session"]:
        """One document's session: its cookies end with it, the connections stay."""
        if self._connector is None:
            raise RuntimeError("a Fetcher is used as an async context manager")
        limits = self.config
        jar = aiohttp.CookieJar(unsafe=True, quote_cookie=False)  # unsafe: hosts that are addresses have cookies too
        async with aiohttp.ClientSession(
            connector=self._connector,
            connector_owner=False,
            cookie_jar=jar,
            auto_decompress=False,
            trust_env=False,
            headers={
                "User-Agent": limits.fetch_user_agent,
                "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "Accept-Language": "en,*;q=0.5",
                "Accept-Encoding": decode.ACCEPTED,
            },
            timeout=aiohttp.ClientTimeout(
                total=None,
                connect=limits.fetch_connect_seconds,
                sock_connect=limits.fetch_connect_seconds,
                sock_read=limits.fetch_read_seconds,
            ),
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
            max_headers=HEADERS,
            response_class=exchange.Response,
        ) as http:
            yield Session(self, http, jar, next(self._sessions), recorder)


class Session:
    """One document's fetches; `order` is its place among the worker's documents."""

    def __init__(
        self,
        fetcher: Fetcher,
        http: aiohttp.ClientSession,
        jar: aiohttp.CookieJar,
        order: int,
        recorder: Recorder | None,
    ) -> None:
        self._order = order
        self._recorder = recorder
        self._fetcher = fetcher
        self._http = http
        self._jar = jar

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through redirects; `deadline` on the fetcher's clock. Never raises for the web's faults."""
        config = self._fetcher.config

        async def ask(target: Target) -> Capture:
            return await self._exchange(target, deadline)

        return await follow(ask, self._cookies, url, config.fetch_redirects, config.fetch_allow_ports)

    def _cookies(self, target: Target) -> str:
        return self._jar.filter_cookies(URL(target.url, encoded=True)).output(header="", sep=";")

    async def _exchange(self, target: Target, deadline: float | None) -> Capture:
        """One request: its response, or why there is none."""
        nothing = Capture(target.url, Status.CONNECT_ERROR, (target.url,), datetime.now(UTC), target.url)
        try:
            async with self._fetcher.hosts.turn(target.host, deadline, self._order) as host:
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

    async def _request(self, target: Target, host: Host) -> Capture:
        async with self._http.get(URL(target.url, encoded=True), allow_redirects=False) as response:
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
            await _drain(response, take)
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
        body = decoder(response.content_type, encodings, self._fetcher.config.fetch_body_bytes)
        try:
            async for piece in response.content.iter_any():
                if take:
                    take.feed(piece)
                body.feed(piece)
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            raise Refused(Status.TRUNCATED_BODY, f"the body ended early: {faults.text(error)}") from error
        return body.finish()


async def _drain(response: aiohttp.ClientResponse, take: Take | None) -> None:
    """Read a redirect's small body, so that the connection can be used again; else the connection goes."""
    if response.content_length is None or response.content_length > SMALL_BODY:
        response.close()
        return
    try:
        body = await response.read()
        if take:
            take.feed(body)
    except (aiohttp.ClientError, OSError):
        response.close()


def _throttled(answer: Capture, seconds: float) -> Capture:
    message = f"HTTP {answer.status_code}: the host asked to be left alone for {seconds:.0f} s"
    return replace(answer, status=Status.HOST_BACKOFF, error_message=message, retry_at=_later(seconds))


def _later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
