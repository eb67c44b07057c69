"""Threads that work while the loop polls. Slots go in by `submit` and come back through `give_back`, each once.

`Batches` runs a function over many slots at a time: writing and publishing both. `Coroutines` runs `work` for many
slots side by side. Neither raises: what went wrong stands in `slot.error`, and the loop judges it.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from sandcrawler.errors import Unavailable
from sandcrawler.runtime.effects import Patience
from sandcrawler.runtime.steps import Concurrent
from sandcrawler.runtime.window import Slot

GiveBack = Callable[[Sequence[Slot]], None]
# Seconds that a closing thread gets before it is left behind; it dies with the process.
CLOSING_SECONDS = 5.0


class Hands(Protocol):
    """Where slots are worked on."""

    def submit(self, slots: Sequence[Slot]) -> None:
        """Takes slots to work on; returns at once."""

    def flush(self) -> None:
        """What waits for company starts now."""

    def close(self) -> None:
        """Stops, and abandons what is not finished."""


class Batches:
    """One thread, one batch at a time: up to `size` slots, begun `seconds` after the first of them came."""

    def __init__(
        self, name: str, handle: Callable[[Sequence[Slot]], None], size: int, seconds: float, give_back: GiveBack
    ) -> None:
        self._closing = threading.Event()
        self._handle = handle
        self._size = size
        self._seconds = seconds
        self._give_back = give_back
        self._waiting: deque[Slot] = deque()
        self._due = 0.0
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, slots: Sequence[Slot]) -> None:
        """See `Hands.submit`."""
        with self._change:
            if not self._waiting:
                self._due = time.monotonic() + self._seconds
            self._waiting.extend(slots)
            self._change.notify()

    def flush(self) -> None:
        """See `Hands.flush`."""
        with self._change:
            self._due = 0.0
            self._change.notify()

    def close(self) -> None:
        """See `Hands.close`."""
        self._closing.set()
        with self._change:
            self._change.notify()
        self._thread.join(CLOSING_SECONDS)

    def _run(self) -> None:
        while batch := self._next():
            alive = [slot for slot in batch if not slot.forgotten]
            try:
                if alive:
                    self._handle(alive)
            except BaseException as error:  # noqa: BLE001  (the loop raises it)
                for slot in alive:
                    slot.error = error
            self._give_back(batch)

    def _next(self) -> list[Slot]:
        """The next batch; empty when closing."""
        with self._change:
            while not self._closing.is_set():
                left = self._due - time.monotonic() if self._waiting else None
                if len(self._waiting) >= self._size or (left is not None and left <= 0):
                    batch = [self._waiting.popleft() for _ in range(min(self._size, len(self._waiting)))]
                    if self._due:
                        self._due = time.monotonic() + self._seconds
                    return batch
                self._change.wait(left)
        return []


class Coroutines:
    """One thread with an asyncio loop, where at most `window` slots are worked on at a time.

    The window is made of tasks that each take slot after slot: cheaper than a task for each slot.
    """

    def __init__(self, name: str, step: Concurrent[Any], patience: Patience, give_back: GiveBack) -> None:
        self._step = step
        self._patience = patience
        self._give_back = give_back
        self._waiting: deque[Slot] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=[started], name=name, daemon=True)
        self._thread.start()
        started.result()

    def submit(self, slots: Sequence[Slot]) -> None:
        """See `Hands.submit`."""
        self._waiting.extend(slots)
        self._loop.call_soon_threadsafe(self._wake)

    def flush(self) -> None:
        """Nothing waits for company here."""

    def close(self) -> None:
        """See `Hands.close`. Work in flight is cancelled, then the session is left."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(CLOSING_SECONDS)

    def _run(self, started: "Future[None]") -> None:
        try:
            asyncio.run(self._live(started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    async def _live(self, started: "Future[None]") -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        async with self._step.session():
            started.set_result(None)
            await self._closing.wait()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _wake(self) -> None:
        """Enough workers for what waits: the idle first, then new ones up to the window."""
        wanted = len(self._waiting)
        while wanted and self._idle:
            self._idle.pop().set_result(None)
            wanted -= 1
        for _ in range(min(wanted, self._step.window - len(self._tasks))):
            self._tasks.add(self._loop.create_task(self._worker()))

    async def _worker(self) -> None:
        while True:
            while self._waiting:
                slot = self._waiting.popleft()
                if not slot.forgotten:
                    await self._one(slot)
                self._give_back((slot,))
            rest = self._loop.create_future()
            self._idle.append(rest)
            await rest

    async def _one(self, slot: Slot) -> None:
        """Works on one slot, again while that is Unavailable."""
        waits = None
        while True:
            try:
                slot.messages = tuple(await self._step.work(slot.value))
            except Unavailable as error:
                waits = waits or self._patience.backoff.waits()
                wait = next(waits, None)
                if wait is None or slot.forgotten:
                    slot.error = error
                    return
                self._patience.note(error)
                await asyncio.sleep(wait)
            except asyncio.CancelledError as error:
                if self._closing.is_set():
                    raise
                slot.error = error
                return
            except BaseException as error:  # noqa: BLE001  (the loop raises it)
                slot.error = error
                return
            else:
                return
