"""Limits on a document's time whose clock stands while it waits for what its neighbours hold.

A document that queues for memory or for an extraction child does nothing. Were that time its own, a few pages that
hang would turn all others into time-outs. So `uncounted` puts off every limit of `allowed` that the waiting is in.
How long it may wait is bounded by the others: each of them has its own limits, and a worker's window is finite.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


class Allowance:
    """One limit; several tasks of its document may wait at a time, and their time is left out once."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit, self._when = limit, limit.when()
        self._waits, self._since, self._waited = 0, 0.0, 0.0
        self.over = False

    @property
    def waited(self) -> float:
        """Seconds that did not count until now."""
        return self._waited + (_now() - self._since if self._waits else 0.0)

    def stop(self) -> None:
        if not self._waits:
            self._since = _now()
            self._reschedule(None)
        self._waits += 1

    def go(self) -> None:
        self._waits -= 1
        if not self._waits:
            self._waited += _now() - self._since
            self._reschedule(None if self._when is None else self._when + self._waited)

    def _reschedule(self, when: float | None) -> None:
        if not self.over and not self._limit.expired():
            self._limit.reschedule(when)


_open: ContextVar[tuple[Allowance, ...]] = ContextVar("allowances", default=())


@asynccontextmanager
async def allowed(seconds: float | None) -> AsyncIterator[None]:
    """`asyncio.timeout`, for time that counts: TimeoutError after so many seconds of it; None for no limit."""
    async with asyncio.timeout(seconds) as limit:
        allowance = Allowance(limit)
        token = _open.set((*_open.get(), allowance))
        try:
            yield
        finally:
            allowance.over = True
            _open.reset(token)


@contextmanager
def uncounted() -> Iterator[None]:
    """Waiting that is nobody's own time."""
    limits = _open.get()
    for limit in limits:
        limit.stop()
    try:
        yield
    finally:
        for limit in limits:
            limit.go()


def waited() -> float:
    """Seconds that this document has waited until now; a moment agreed on earlier is put off by what was added."""
    limits = _open.get()
    return limits[0].waited if limits else 0.0


def _now() -> float:
    return asyncio.get_running_loop().time()
