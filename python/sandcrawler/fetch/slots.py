"""A semaphore whose queue is ordered: the document that came first is served first, with all its parts.

In plain arrival order, documents of one host that are in flight together would take turns, all of them would need as
long as all together, and all would meet their time limit with half their parts. In this order one after another is
finished.
"""

import asyncio
import heapq
from itertools import count


class Slots:
    """`free` places; who has to wait is served by the lowest `order`, then by arrival."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._arrivals = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    async def acquire(self, order: int = 0) -> None:
        """Wait for a place."""
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (order, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given the place and cancelled at the same moment
                self.release()
            raise

    def release(self) -> None:
        """Give the place to the next in order, or back."""
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
