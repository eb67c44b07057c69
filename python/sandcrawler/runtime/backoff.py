"""How long to wait before another try, and when to give up. The only schedule of the runtime.

stamina would do for plain functions; here the wait must end early when the worker closes, and tests must own the
clock.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sandcrawler.errors import Unavailable

T = TypeVar("T")


@dataclass(frozen=True)
class Backoff:
    """Waits that double from `first` to `longest`, each with jitter down to its half, `total` seconds in all."""

    first: float = 0.5
    longest: float = 20.0
    total: float = 120.0

    def waits(self, clock: Callable[[], float] = time.monotonic) -> Iterator[float]:
        """The waits in seconds; ends when the time is used up, tries included."""
        end = clock() + self.total
        wait = self.first
        while (left := end - clock()) > 0:
            yield min(wait * random.uniform(0.5, 1.0), left)
            wait = min(wait * 2, self.longest)


def retry(
    call: Callable[[], T],
    waits: Iterator[float],
    pause: Callable[[float], bool],
    note: Callable[[Unavailable], None],
) -> T:
    """The answer of `call`, tried again while it raises Unavailable.

    `pause(seconds)` says True when waiting makes no sense any more, as `threading.Event.wait` does.
    """
    while True:
        try:
            return call()
        except Unavailable as error:
            wait = next(waits, None)
            if wait is None or pause(wait):
                raise
            note(error)
