"""Politeness towards one server: a gap between the starts of requests.

Plain bookkeeping under a lock that is never held while somebody sleeps; clock and sleeper are given. Tasks and threads
share one object: `wait` sleeps in a thread, `reserve` says how long to sleep, for callers that sleep in their own way.
"""

import threading
import time
from collections.abc import Callable
from math import inf

Clock = Callable[[], float]
Sleeper = Callable[[float], object]


class Pacer:
    """At most one start per `gap` seconds, however many callers. Time that passes unused banks no starts.

    mode "slot": each caller gets the next free slot of one timeline. mode "fixed": everyone sleeps the whole gap.
    """

    def __init__(
        self, gap: float, mode: str = "slot", clock: Clock = time.monotonic, sleeper: Sleeper = time.sleep
    ) -> None:
        self.gap = gap
        self._fixed = mode == "fixed"
        self._clock = clock
        self._sleeper = sleeper
        self._lock = threading.Lock()
        self.reset()

    @property
    def gap(self) -> float:
        """Seconds between starts, never below 0. A new value holds for reservations after it."""
        return self._gap

    @gap.setter
    def gap(self, seconds: float) -> None:
        self._gap = max(0.0, float(seconds))

    def reset(self) -> None:
        """Forget the timeline and the counters."""
        with self._lock:
            self._next = -inf
            self.requests = 0
            self.slept = 0.0

    def reserve(self, within: float = inf) -> float | None:
        """Take the next slot: the seconds until it, or None (nothing taken) where it is not `within` so many."""
        with self._lock:
            now = self._clock()
            slot = now + self._gap if self._fixed else max(self._next, now)
            if slot - now > within:
                return None
            self._next = slot + self._gap
            self.requests += 1
        return self._gap if self._fixed else max(0.0, slot - self._clock())

    def wait(self) -> float:
        """Take the next slot and sleep until it: the seconds slept."""
        delay = self.reserve() or 0.0
        if delay > 0:
            self._sleeper(delay)
            self.note(delay)
        return delay

    def started(self) -> None:
        """Say that a start happens now: where sleeping took longer than asked, the gap counts from here."""
        with self._lock:
            self._next = max(self._next, self._clock() + self._gap)

    def note(self, seconds: float) -> None:
        """Count seconds that a caller of `reserve` slept."""
        with self._lock:
            self.slept += seconds
