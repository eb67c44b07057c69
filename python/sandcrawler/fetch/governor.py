"""Back-off from one server that says "too many requests": how long everybody stays away, and when to give up."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil, inf
from typing import ClassVar

from sandcrawler.fetch.pacing import Clock, Sleeper


class Governor:
    """Back-off that all callers of one server share.

    The first refusal opens a round: a cooldown that everybody sits out. Refusals within it belong to the same round. A
    refusal after it opens the next, twice as long, up to a limit. A success closes the round and halves the penalty.
    `give_up_after` rounds without a success latch `exhausted`, which only `reset` undoes.

    Limits: argument, else the environment's PREFIX_THROTTLE_BASE, _MAX and _GIVEUP, else the class's constants.
    """

    BASE_COOLDOWN: ClassVar[float] = 60
    MAX_COOLDOWN: ClassVar[float] = 900
    GIVE_UP_AFTER: ClassVar[int] = 5
    JITTER_FRACTION: ClassVar[float] = 0.1
    ENV_PREFIX: ClassVar[str] = "SANDCRAWLER"
    # What counts as a refusal: HTTP status codes, or classes of errors.
    THROTTLE_ERRORS: ClassVar[frozenset[int | type[BaseException]]] = frozenset()

    def __init__(  # noqa: PLR0913  (each is a knob that tests or operators turn)
        self,
        base: float | None = None,
        maximum: float | None = None,
        give_up_after: int | None = None,
        *,
        clock: Clock = time.monotonic,
        sleeper: Sleeper = time.sleep,
        jitter: Callable[[float], float] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._given = (base, maximum, give_up_after)
        self._clock = clock
        self._sleeper = sleeper
        self._jitter = jitter or (lambda seconds: random.random() * seconds * self.JITTER_FRACTION)
        self._environ = environ
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget everything, in place, and read the limits again."""
        base, maximum, give_up_after = self._given
        with self._lock:
            self._base = base if base is not None else self._setting("BASE", self.BASE_COOLDOWN)
            self._maximum = maximum if maximum is not None else self._setting("MAX", self.MAX_COOLDOWN)
            self._give_up_after = (
                give_up_after if give_up_after is not None else self._setting("GIVEUP", self.GIVE_UP_AFTER)
            )
            self._until: float | None = None
            self._penalty: float | None = None
            self.throttle_rounds = 0
            self.throttle_count = 0
            self.exhausted = False
            self.give_up_rounds: int | None = None

    @classmethod
    def throttles(cls, problem: int | BaseException) -> bool:
        """Whether a status code or an error is a refusal of this kind of server."""
        if isinstance(problem, int):
            return problem in cls.THROTTLE_ERRORS
        return any(isinstance(kind, type) and isinstance(problem, kind) for kind in cls.THROTTLE_ERRORS)

    def throttled(self, retry_after: float | None = None) -> bool:
        """The server refused; `retry_after` is what it asked for, in seconds. Returns `exhausted`."""
        with self._lock:
            now = self._clock()
            hint = min(retry_after, self._maximum) if retry_after is not None else 0
            self.throttle_count += 1
            if self._until is None or now >= self._until:
                self.throttle_rounds += 1
                ladder = min(self._penalty * 2, self._maximum) if self._penalty else self._base
                self._penalty = max(ladder, hint)
                self._until = now + self._penalty
            else:
                self._until = max(self._until, now + hint)
            if not self.exhausted and self.throttle_rounds >= self._give_up_after:
                self.exhausted, self.give_up_rounds = True, self.throttle_rounds
            return self.exhausted

    def succeeded(self) -> None:
        """The server answered: the cooldown is over, and the next penalty is half as long."""
        with self._lock:
            self.throttle_rounds = 0
            self._until = None
            halved = max(self._penalty / 2, self._base) if self._penalty and self._penalty > self._base else None
            self._penalty = halved

    def remaining(self) -> float:
        """Seconds until the cooldown ends; 0 without one."""
        with self._lock:
            return max(0.0, self._until - self._clock()) if self._until is not None else 0.0

    def pauses(self) -> Iterator[float]:
        """What to sleep, one pause after another: a second one only if the cooldown was extended meanwhile."""
        waited_for = -inf
        while True:
            with self._lock:
                until = self._until
                remaining = until - self._clock() if until is not None and not self.exhausted else 0.0
            if until is None or remaining <= 0 or until <= waited_for:
                return
            waited_for = until
            yield remaining + self._jitter(remaining)

    def wait(self) -> float:
        """Sit out the cooldown in this thread: the seconds slept. Does not wait once exhausted."""
        total = 0.0
        for pause in self.pauses():
            self._sleeper(pause)
            total += pause
        return total

    def _setting(self, name: str, default: float) -> float:
        text = self._environ.get(f"{self.ENV_PREFIX}_THROTTLE_{name}", "").strip()
        return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else default


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """A Retry-After header in seconds from now: digits or an HTTP date (RFC 9110); None for junk or no header."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:18])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return float(ceil(max((moment - (now or datetime.now(UTC))).total_seconds(), 0)))
