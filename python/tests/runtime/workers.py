"""Small workers on the memory broker, run in a thread, for tests that look on from outside."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.memory import MemoryBroker
from sandcrawler.runtime import Backoff, Batched, Concurrent, Counts, Limits, Message, Record, Stop, Worker, run

IN, OUT, DEAD, GROUP = "in", "out", "dead", "group"
# Quick tries, and time enough for them however busy the machine is.
PATIENT = Backoff(first=0.01, longest=0.04, total=60.0)
QUICK = Limits(drain_seconds=30, revoke_seconds=30, commit_seconds=0.0, backoff=PATIENT)
# For servers that do not come back: given up after about a tenth of a second.
IMPATIENT = replace(QUICK, backoff=replace(PATIENT, total=0.1))


def memory(partitions: int = 3) -> MemoryBroker:
    return MemoryBroker({IN: partitions, OUT: partitions, DEAD: 1}, message_bytes=10_000)


def feed(broker: MemoryBroker, values: Sequence[bytes | None]) -> None:
    for number, value in enumerate(values):
        broker.append(Message(IN, b"%d" % number, value))


def decode(record: Record) -> bytes:
    """Values that say themselves what is wrong with them."""
    if record.value is None:
        raise SkippedMessage("tombstone")
    if record.value.startswith(b"poison"):
        raise InvalidMessage(f"not JSON: {record.value!r}")
    return record.value


def batched(write: Callable[[Sequence[Any]], None], size: int = 10, seconds: float = 0.01) -> Batched[Any]:
    return Batched(decode, write, size, seconds)


async def echo(value: bytes) -> list[Message]:
    return [Message(OUT, value, value)]


def worker(broker: MemoryBroker, step: Batched[Any] | Concurrent[Any], limits: Limits = QUICK) -> Worker:
    return Worker("test", broker.consumer(GROUP, [IN]), broker.producer(), step, DEAD, limits)


class Running:
    """A worker in a thread."""

    def __init__(self, made: Worker) -> None:
        self.stop = Stop()
        self.counts: Counts | None = None
        self.error: BaseException | None = None
        self._worker = made
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.counts = run(self._worker, self.stop)
        except BaseException as error:  # noqa: BLE001  (the test looks at it)
            self.error = error

    def join(self, seconds: float = 60) -> None:
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the worker did not end in time"

    def end(self) -> Counts:
        """Stops it; raises what it raised."""
        self.stop.set()
        self.join()
        if self.error is not None:
            raise self.error
        assert self.counts is not None
        return self.counts


@contextmanager
def running(made: Worker) -> Iterator[Running]:
    it = Running(made)
    yield it
    it.stop.set()
    it.join()


def committed(broker: MemoryBroker) -> int:
    """Records that the group is past."""
    return sum(broker.committed(GROUP).values())


def all_polled(made: Worker) -> bool:
    """Whether the worker has partitions, and has polled everything in them."""
    lag = made.consumer.lag()
    return bool(lag) and not any(lag.values())


def eventually(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.005)
