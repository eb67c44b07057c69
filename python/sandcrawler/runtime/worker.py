"""What a worker is, as a value: `sandcrawler.workers` writes them down, `loop` runs them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandcrawler.runtime.backoff import Backoff
from sandcrawler.runtime.records import Consumer, Producer
from sandcrawler.runtime.steps import Batched, Concurrent


@dataclass(frozen=True)
class Limits:
    """The bounds of a worker. Times in seconds.

    `waiting` and `bytes_in_flight` (of the records' values) bound what is polled and not committed: neighbours may
    overtake a slow record by as much.
    `revoke_seconds` is what in-flight work gets when partitions are taken away: 0.2 of max.poll.interval.
    """

    dead_letters_in_row: int = 20
    dead_letters_of_200: int = 100
    drain_seconds: float = 30.0
    revoke_seconds: float = 60.0
    commit_seconds: float = 0.5
    waiting: int = 20_000
    bytes_in_flight: int = 256 << 20
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(frozen=True)
class Worker:
    """A source, a step, where dead letters go (the topic's whole name), and bounds: all that the loop needs to know."""

    name: str
    consumer: Consumer
    producer: Producer
    step: Concurrent[Any] | Batched[Any]
    dead_letters: str
    limits: Limits = field(default_factory=Limits)

    @property
    def room(self) -> int:
        """Records in flight at most. Batched: one batch is written while the next gathers."""
        return self.step.window if isinstance(self.step, Concurrent) else 2 * self.step.size

    @property
    def stage(self) -> str:
        """What the step does, in `deadletters.STAGES`."""
        return "work" if isinstance(self.step, Concurrent) else "write"

    def culprit(self, stage: str) -> Callable[..., object]:
        """The function that a stage of this worker calls."""
        return self.producer.publish if stage == "publish" else getattr(self.step, stage)
