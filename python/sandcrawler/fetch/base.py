"""What every back end offers: a fetcher shared by a worker's documents, and a session for each document.

A back end answers in `Capture`s. The web's faults (no such host, 404, broken body, forbidden address) are statuses of
a capture, never exceptions. A `deadline` is a moment on the monotonic clock, in seconds; None means no limit.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from sandcrawler.fetch.digest import Digest
from sandcrawler.model import Capture
from sandcrawler.status import Status


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the head of its answer, as bytes. `when`: the moment the head was there, aware, UTC.

    `address`: the peer's IP address. `request`, `response`: first line and headers up to the blank line, in order.
    """

    url: str
    when: datetime
    address: str | None
    request: bytes
    response: bytes


class Take(Protocol):
    """One answer's body as it is being recorded."""

    def feed(self, piece: bytes) -> None:
        """The next bytes from the wire: transfer codings undone, content codings untouched."""
        ...

    def end(self, truncated: str | None = None) -> None:
        """No more follows; `truncated` says why the body is not whole, in WARC's words."""
        ...


class Recorder(Protocol):
    """Is told of every exchange of a session that got an answer."""

    def begin(self, exchange: Exchange) -> Take:
        """An answer's head is there."""
        ...


class Session(Protocol):
    """One document's fetches: cookies live as long as it does, and no longer."""

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through HTTP redirects."""
        ...

    async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest | None]:
        """The same, its body not held: the capture has its beginning alone. The digest is the terminal response's."""
        ...

    def release(self) -> None:
        """The bodies that were given out are needed no longer."""
        ...


class Fetcher(Protocol):
    """One per worker, used as an async context manager."""

    def session(self, recorder: Recorder | None = None) -> AbstractAsyncContextManager[Session]:
        """A session for one document, its exchanges told to `recorder`."""
        ...


class Opening(Fetcher, Protocol):
    """A fetcher with its life: open within `async with`. ConfigurationError: it cannot be opened."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Refused(Exception):
    """The answer is known without asking, or before the answer is whole: `status` and the text say why."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
