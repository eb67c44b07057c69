"""What every back end offers: a fetcher shared by a worker's documents, and a session for each document.

A back end answers in `Capture`s. The web's faults (no such host, 404, broken body, forbidden address) are statuses of
a capture, never exceptions. A `deadline` is a moment on the monotonic clock, in seconds; None means no limit.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sandcrawler.model import Capture
from sandcrawler.status import Status


class Session(Protocol):
    """One document's fetches: cookies live as long as it does, and no longer."""

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through HTTP redirects."""
        ...


class Fetcher(Protocol):
    """One per worker, used as an async context manager."""

    def session(self) -> AbstractAsyncContextManager[Session]:
        """A session for one document."""
        ...


class Refused(Exception):
    """The answer is known without asking, or before the answer is whole: `status` and the text say why."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
