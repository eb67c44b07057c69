"""An archive's own services (its index, its replay, Save Page Now): asked one request at a time, as guarded as the web.

Connections pass the address guard, every answer is bounded in bytes and in time. Turns are paced as for any host, and
all fetchers of a worker share them: however many back ends lead to an archive, it sees one client. Redirects are never
followed here: what an archive says with one is for its back end to judge. A passing fault (no connection, HTTP 500,
502, 504) is tried again a few times; what must not happen twice (POST) is not.
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary

import aiohttp
import stamina
import structlog
from stamina.instrumentation import RetryDetails, set_on_retry_hooks
from yarl import URL

from sandcrawler.config import Config
from sandcrawler.fetch import faults
from sandcrawler.fetch.allowance import allowed
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.client import client
from sandcrawler.fetch.connect import GuardedConnector, SystemResolver, connector
from sandcrawler.fetch.digest import Digest
from sandcrawler.fetch.exchange import headers, incoming
from sandcrawler.fetch.governor import retry_after
from sandcrawler.fetch.hosts import CoolingDown, Hosts
from sandcrawler.fetch.intake import Intake
from sandcrawler.fetch.target import ANY_PORT, Target, read

ATTEMPTS = 3
PASSING_CODES = frozenset({500, 502, 504})
# What an archive names a captured response's own header, and how it marks a response as captured.
ORIGINAL = "x-archive-orig-"
MARKS = ("memento-datetime", "x-archive-src")
# Codings that are recognised by their first bytes: an archive may have undone what the original header says.
CERTAIN = frozenset({"gzip", "x-gzip", "zstd"})


log = structlog.get_logger()


class Unanswered(Exception):
    """The service gave no answer; the text says why, `retry_at` when to ask again, where that is known."""

    def __init__(self, message: str, retry_at: datetime | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class Passing(Unanswered):
    """Asking again in a moment may help."""


@dataclass(frozen=True, slots=True)
class Question:
    """One request; `form` is posted as an HTML form where it is given."""

    url: str
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """`body`: codings undone, or its beginning where it was hashed (`digest`); `sha1` is of the bytes as they came.

    `fault`: why the body is not whole.
    """

    code: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    sha1: bytes = b""
    digest: Digest | None = None
    fault: Refused | None = None

    def header(self, name: str) -> str:
        """The first header of this name (lower case), else an empty string."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def archived(self) -> bool:
        """Whether this is a captured response, and not the archive speaking for itself."""
        return any(self.header(name) for name in MARKS)


_HOSTS = WeakKeyDictionary[asyncio.AbstractEventLoop, Hosts]()


def shared_hosts(config: Config) -> Hosts:
    """The archives' turns, of which there is one set for each running loop, that is, for each worker."""
    limits = (config.fetch_wayback_gap, config.fetch_wayback_parallel, config.fetch_host_patience)
    return _HOSTS.setdefault(asyncio.get_running_loop(), Hosts(*limits, time.monotonic, asyncio.sleep))


class Service:
    """One worker's client of an archive. Use as an async context manager."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._hosts: Hosts | None = None
        self._connector: GuardedConnector | None = None
        self._resolver: SystemResolver | None = None
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        set_on_retry_hooks([_told])
        self._hosts = shared_hosts(self._config)
        self._resolver = SystemResolver()
        self._connector = connector(self._config, self._resolver)
        self._http = client(self._config, self._connector, aiohttp.DummyCookieJar(), None)  # type: ignore[arg-type]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http and self._connector and self._resolver:
            await self._http.close()
            await self._connector.close()
            await self._resolver.close()

    async def addresses(self, host: str) -> list[str]:
        """What a name is from here. OSError (TimeoutError is one): nothing."""
        if self._resolver is None:
            raise RuntimeError("a Service is used as an async context manager")
        async with asyncio.timeout(self._config.fetch_connect_seconds):
            return [each["host"] for each in await self._resolver.resolve(host)]

    async def ask(self, question: Question, intake: Intake, deadline: float | None = None) -> Answer:
        """The answer, whatever its HTTP status. Unanswered; Refused where the URL cannot be asked at all."""
        target = read(question.url, more_ports=ANY_PORT)  # the operator names the archive, and its port
        attempts = 1 if question.form is not None else ATTEMPTS
        async for attempt in stamina.retry_context(on=Passing, attempts=attempts, timeout=None, wait_initial=1):
            with attempt:
                return await self._once(target, question, intake, deadline)
        raise AssertionError("stamina tries at least once")

    async def _once(self, target: Target, question: Question, intake: Intake, deadline: float | None) -> Answer:
        if self._hosts is None:
            raise RuntimeError("a Service is used as an async context manager")
        intake.release()
        try:
            async with self._hosts.turn(target.host, deadline) as host:
                try:
                    async with allowed(self._config.fetch_wayback_seconds):
                        answer = await self._exchange(target, question, intake)
                except faults.CAUGHT as error:
                    if isinstance(error, faults.SILENCE):
                        host.missed()
                    raise Passing(faults.reason(error, target)) from error
                wait = retry_after(answer.header("retry-after"))
                # A refusal (403) is about one URL here: an archive says so of what it must not show.
                if not answer.archived and answer.code != 403 and host.heard(answer.code, wait):
                    later = datetime.now(UTC) + timedelta(seconds=host.governor.remaining())
                    raise Unanswered(f"HTTP {answer.code}: {target.host} asked to be left alone for now", later)
        except CoolingDown as cooling:
            raise Unanswered(str(cooling), datetime.now(UTC) + timedelta(seconds=cooling.seconds)) from cooling
        if answer.code in PASSING_CODES and not answer.archived:
            raise Passing(f"HTTP {answer.code} from {target.host}")
        return answer

    async def _exchange(self, target: Target, question: Question, intake: Intake) -> Answer:
        if self._http is None:
            raise RuntimeError("a Service is used as an async context manager")
        method = "GET" if question.form is None else "POST"
        url = URL(target.url, encoded=True)
        async with self._http.request(
            method, url, data=question.form, headers=question.headers, allow_redirects=False
        ) as response:
            return await _read(response, Answer(response.status, headers(response)), intake)


@dataclass
class _Wire:
    """A `Take` that hashes the bytes as they come."""

    sha1: "hashlib._Hash" = field(default_factory=partial(hashlib.sha1, usedforsecurity=False))

    def feed(self, piece: bytes) -> None:
        self.sha1.update(piece)

    def end(self, truncated: str | None = None) -> None:
        """Nothing is left to do."""


def _told(details: RetryDetails) -> None:
    log.info("the archive is asked again", reason=str(details.caused_by), seconds=round(details.wait_for, 1))


async def _read(response: aiohttp.ClientResponse, head: Answer, intake: Intake) -> Answer:
    """The answer with its body. What is wrong with the body is told, and not raised: the head may still be wanted."""
    original = [word for word in (head.header(f"{ORIGINAL}content-encoding").strip().lower(),) if word in CERTAIN]
    wire = intake.take = _Wire()
    body, fault = b"", None
    coming = incoming(response)
    try:
        body = await intake.body(replace(coming, encodings=coming.encodings or original))
    except Refused as refused:
        fault = refused
    return replace(head, body=body, sha1=wire.sha1.digest(), digest=intake.digest, fault=fault)
