"""How many bytes of bodies a worker's documents hold together.

A body is needed whole for extraction, and 64 documents of 128 MiB would be 8 GiB. So a body that grows past
`FREE_BYTES` first takes from the worker's budget the most that it can become, in one piece: whoever has begun can
finish, and nobody waits while holding. It gives back what it did not need at its end, and the rest when its document
asks for something else. A worker's bodies are within its budget and its window times `FREE_BYTES`.

All back ends of a worker share its budget. Nobody waits, for this or anything else that documents hold, with bytes in
hand: what was held is given back first, else two documents could wait for each other for ever.
"""

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

from sandcrawler.config import Config
from sandcrawler.fetch.allowance import uncounted

FREE_BYTES = 4 << 20


class Budget:
    """So many bytes for all; who comes first is served first. More than there is at all means: everything."""

    def __init__(self, size: int) -> None:
        self.size = self.free = size
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, size: int) -> int:
        """Wait for this many bytes; how many were taken. The wait is nobody's own time."""
        size = min(size, self.size)
        if not self._waiting and size <= self.free:
            self.free -= size
            return size
        place = size, asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            with uncounted():
                await place[1]
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
            elif not place[1].cancelled():  # served in the very moment of being cancelled
                self.free += size
            self._serve()
            raise
        return size

    def give(self, size: int) -> None:
        """These bytes are held no longer."""
        self.free += size
        self._serve()

    def _serve(self) -> None:
        while self._waiting and (self._waiting[0][1].cancelled() or self._waiting[0][0] <= self.free):
            size, turn = self._waiting.popleft()
            if not turn.cancelled():
                self.free -= size
                turn.set_result(None)


_BUDGETS = WeakKeyDictionary[asyncio.AbstractEventLoop, Budget]()


def shared(config: Config) -> Budget:
    """The budget of the running loop, that is, of the worker."""
    return _BUDGETS.setdefault(asyncio.get_running_loop(), Budget(config.fetch_bytes_in_flight))


class Holding:
    """What one document holds: one body at a time."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._held = budget, 0

    async def grow(self, size: int, most: int) -> None:
        """The body has this size now, and at most `most` in the end."""
        if size > FREE_BYTES and not self._held:
            self._held = await self._budget.take(most)

    def keep(self, size: int) -> None:
        """The body is whole, and has this size."""
        self._give(max(0, self._held - size))

    def release(self) -> None:
        """The document needs the body no longer."""
        self._give(self._held)

    def _give(self, size: int) -> None:
        if size:
            self._held -= size
            self._budget.give(size)
