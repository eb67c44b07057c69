"""What a client says about its brokers, brought down to what people can read.

librdkafka tells each failed connection twice, as a log line and as an error, some thirty times a second while brokers
are down. Here one client says the same at most every `EVERY_SECONDS`, and says once that the brokers are down and once
that they are back; in between only news is said.
"""

import time
from collections.abc import Callable
from typing import Any

import structlog
from confluent_kafka import KafkaError

log = structlog.get_logger()

# Seconds until a client says again what it has said.
EVERY_SECONDS = 10.0

# What a broker's absence sounds like: librdkafka's facilities, and errors.
ABSENCE = {"FAIL", "ERROR", "REQTMOUT"}
ABSENT = {
    KafkaError._TRANSPORT,  # noqa: SLF001  (that is how the library spells its local codes)
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError._TIMED_OUT,  # noqa: SLF001
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
}


class Notes:
    """What one client has said. `log` is librdkafka's logger, `error` its error callback."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.down_since: float | None = None
        self._log = log.bind(client=name)
        self._clock = clock
        self._said: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def log(self, level: int, text: str, *args: Any) -> None:
        """A line of librdkafka's: facility, client and words."""
        facility = str(args[0]) if args else ""
        if self.down_since is None or facility not in ABSENCE:
            self._say(level, facility, text % args if args else text)

    def error(self, error: KafkaError) -> None:
        """An error that belongs to no request. Most are passing states that librdkafka sees to itself."""
        if error.code() == KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001
            if self.down_since is None:
                self.down_since = self._clock()
                self._log.warning("Kafka's brokers are down", error=error.str())
        elif self.down_since is None or error.code() not in ABSENT:
            self._say(10 if error.retriable() else 30, error.name(), error.str())

    def answered(self) -> None:
        """A broker has answered."""
        if self.down_since is not None:
            self._log.warning("Kafka's brokers are back", seconds=round(self._clock() - self.down_since, 1))
            self.down_since = None

    def _say(self, level: int, event: str, words: str) -> None:
        now = self._clock()
        if now - self._said.get(event, float("-inf")) < EVERY_SECONDS:
            self._unsaid[event] = self._unsaid.get(event, 0) + 1
            return
        self._said[event] = now
        more = {"unsaid": unsaid} if (unsaid := self._unsaid.pop(event, 0)) else {}
        self._log.log(level, "kafka", event_code=event, words=words, **more)
