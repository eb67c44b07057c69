"""Asking a source's server over HTTP: one client for all threads, and a table of what is worth asking again.

`Client.get` returns an answer with a 2xx status or raises `HttpError`, after the retries that `RETRIES` allows for the
kind of failure, each told in the log. What can never work (an address that is none, a host that does not exist, a
certificate that is not trusted) is not asked again. Back-off that concerns the whole harvest (fetch.governor) is the
caller's affair: that is why a 429's Retry-After is only followed for a few seconds here.
"""

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
import urllib3
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from sandcrawler.fetch.pacing import Pacer, Sleeper
from sandcrawler.sources.failures import Failure, HttpError, failure_of, reason_of, without_answer
from sandcrawler.wire import clean

log = structlog.get_logger()

REDIRECTS = 10
BODY_BYTES = 64 * 1024 * 1024
CONNECT_SECONDS, READ_SECONDS = 10.0, 30.0
BODY_SECONDS = 600.0
PIECE = 1 << 20
PARALLEL = 16


@dataclass(frozen=True, slots=True)
class Retry:
    """`times` more tries after pauses of base, base·factor, … seconds, none longer than `longest`.

    A Retry-After is followed up to `hint` seconds; a longer one is cut to that, or ends the retries (`patient` False).
    """

    times: int
    base: float
    factor: float
    longest: float
    hint: float
    patient: bool = True

    def pause(self, attempt: int, hint: float | None) -> float | None:
        """Seconds before retry number `attempt` (from 0), or None to give up."""
        if attempt >= self.times or (hint is not None and hint > self.hint and not self.patient):
            return None
        return min(hint, self.hint) if hint is not None else min(self.base * self.factor**attempt, self.longest)


# For a server that has never answered: more likely its address is wrong than that it is away for a moment.
STRANGER = Retry(2, 1.0, 2.0, 2.0, hint=60.0)
SLOW = Retry(5, 1.0, 2.0, 16.0, hint=60.0, patient=False)
QUICK = Retry(5, 0.5, 2.0, 4.0, hint=4.0)
RETRIES = {
    Failure.FORBIDDEN: SLOW,
    Failure.CONNECTION: SLOW,
    Failure.TIMEOUT: SLOW,
    Failure.TOO_MANY: QUICK,
    Failure.SERVER: QUICK,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said: status, headers with lower-case names, body."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON, its texts such that they can be written. HttpError where it is none."""
        try:
            return clean(json.loads(self.body))
        except (ValueError, RecursionError) as error:
            raise HttpError(Failure.PARSE, self.url, f"not JSON: {error}", self.status, self.headers) from error


@dataclass(slots=True)
class Client:
    """GET with retries. Threads may share it. `requests` counts what went over the wire, retries included.

    With `stranger`, a server that has never answered is given up after that many tries without connection.
    """

    user_agent: str
    pacer: Pacer = field(default_factory=lambda: Pacer(0))
    sleeper: Sleeper = time.sleep
    retries: Mapping[Failure, Retry] = field(default_factory=lambda: RETRIES)
    stranger: Retry | None = None
    requests: int = 0
    answered: bool = False
    _pool: urllib3.PoolManager = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.user_agent = " ".join(self.user_agent.split())
        self._pool = urllib3.PoolManager(
            maxsize=PARALLEL,
            block=True,
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
            headers={"User-Agent": self.user_agent, "Accept": "*/*"},
        )

    def get(self, url: str) -> Answer:
        """The answer to a GET, redirects followed. HttpError when there is none with a 2xx status."""
        attempt = 0
        while True:
            try:
                return self._ask(url)
            except HttpError as error:
                retry = self._retry(error.failure)
                pause = retry.pause(attempt, error.retry_after) if retry else None
                if pause is None:
                    raise
                attempt += 1
                log.warning("asking again", seconds=pause, retry=attempt, error=str(error))
                self.sleeper(pause)

    def _retry(self, failure: Failure) -> Retry | None:
        retry = self.retries.get(failure)
        unknown = not self.answered and failure in {Failure.CONNECTION, Failure.TIMEOUT}
        return self.stranger if retry and unknown and self.stranger else retry

    def _ask(self, url: str) -> Answer:
        self.pacer.wait()
        with self._lock:
            self.requests += 1
        # A Retry-After is ours to follow: urllib3 would make a refused connection of a 503 that has one.
        once = urllib3.Retry(
            REDIRECTS, connect=0, read=0, status=0, other=0, redirect=REDIRECTS, respect_retry_after_header=False
        )
        try:
            response = self._pool.request("GET", url, preload_content=False, retries=once)
            try:
                body = _body(response)
            finally:
                response.release_conn()
        except TimeoutError as error:
            raise HttpError(Failure.TIMEOUT, url, str(error)) from error
        except ValueError as error:  # of a Location that the standard library cannot take apart
            raise HttpError(Failure.NOWHERE, url, f"its redirect leads nowhere: {error}") from error
        except HTTPError as error:
            raise HttpError(without_answer(error), url, str(reason_of(error))) from error
        self.answered = True
        headers = {name.lower(): value for name, value in response.headers.items()}
        if len(body) > BODY_BYTES:
            raise HttpError(Failure.PARSE, url, f"more than {BODY_BYTES} bytes", response.status, headers)
        if not 200 <= response.status < 300:
            raise HttpError(failure_of(response.status), url, status=response.status, headers=headers)
        return Answer(url, response.status, headers, body)


def _body(response: BaseHTTPResponse) -> bytes:
    """The decoded body, a byte more than is allowed at most. TimeoutError: it came so slowly that it may never end."""
    found, end = bytearray(), time.monotonic() + BODY_SECONDS
    while len(found) <= BODY_BYTES and (piece := response.read1(PIECE, decode_content=True)):
        found += piece
        if time.monotonic() > end:
            raise TimeoutError(f"the body did not end within {BODY_SECONDS:g} s")
    return bytes(found)


def user_agent(default: str, variable: str) -> str:
    """The User-Agent of a harvester: an environment variable where it is not blank, else the default."""
    return " ".join(os.environ.get(variable, "").split()) or default
