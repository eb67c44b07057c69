"""What the sessions of all back ends have in common: how a document's bodies are held, and for how long.

A body that is asked for whole is held within the worker's budget until its document asks for something else; the parts
of a page are hashed as they come, and not held at all. A session says only how a URL is fetched (`fetch`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from sandcrawler.config import Config
from sandcrawler.fetch import budget
from sandcrawler.fetch.budget import Holding
from sandcrawler.fetch.digest import Digest
from sandcrawler.fetch.intake import Intake
from sandcrawler.model import Capture


class BodySession(ABC):
    """One document's fetches. `part`: bodies are cut after so many bytes, and that is no fault."""

    def __init__(self, config: Config, part: int | None = None) -> None:
        self._cap, self._cut = part or config.fetch_body_bytes, part is not None
        self._budget = budget.shared(config)
        self._held: list[Holding] = []

    @abstractmethod
    async def fetch(self, url: str, deadline: float | None, intake: Intake) -> Capture:
        """The URL, followed through redirects, its body taken in. Never raises for the web's faults."""

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through redirects; `deadline` on the monotonic clock.

        Who asks for another URL has done with the bodies before it: the worker's budget counts them no longer.
        """
        with self.collecting() as intake:
            return await self.fetch(url, deadline, intake)

    async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest | None]:
        """The same, its body hashed as it comes: the capture holds its beginning alone."""
        self.release()
        intake = Intake(self._cap, hashed=True)
        return await self.fetch(url, deadline, intake), intake.digest

    def release(self) -> None:
        """The bodies that were collected are needed no longer."""
        while self._held:
            self._held.pop().release()

    @contextmanager
    def collecting(self) -> Iterator[Intake]:
        """An intake for whole bodies, in place of those before; the last of them is held from its end on."""
        self.release()
        holding = Holding(self._budget)
        try:
            yield Intake(self._cap, holding, part=self._cut)
        finally:
            self._held.append(holding)
