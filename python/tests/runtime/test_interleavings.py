"""Random lives of workers: records come, work ends in any order, partitions move, workers are killed.

Everything runs in one thread, and the machine decides what happens next; so a failure can be replayed. Two things
hold whatever happens: the effect of every record happens at least once, and no committed offset ever passes a record
without effect.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sandcrawler.errors import InvalidMessage, SkippedMessage, Unavailable
from sandcrawler.memory import MemoryConsumer
from sandcrawler.runtime import Backoff, Limits, Message, Worker
from sandcrawler.runtime.loop import Loop
from sandcrawler.runtime.window import Slot
from tests.runtime.workers import DEAD, GROUP, IN, OUT, batched, memory

# Nothing waits, nothing floods, and nothing depends on how fast the machine is.
AT_ONCE = Limits(
    10**6, 10**6, drain_seconds=0, revoke_seconds=0, commit_seconds=0, waiting=12, backoff=Backoff(0.0, 0.0, 10.0**6)
)


@dataclass
class ByHand:
    """Hands that work when the machine says so."""

    slots: list[Slot] = field(default_factory=list)

    def submit(self, slots: Sequence[Slot]) -> None:
        self.slots.extend(slots)

    def flush(self) -> None: ...

    def close(self) -> None:
        self.slots.clear()


class Life:
    """One worker, with work and publishing by hand."""

    def __init__(self, machine: "Workers", limits: Limits = AT_ONCE) -> None:
        self.consumer: MemoryConsumer = machine.broker.consumer(GROUP, [IN])
        self.producer = machine.broker.producer()
        made = Worker("test", self.consumer, self.producer, batched(lambda _batch: None, size=4), DEAD, limits)
        self.hands, self.publisher = ByHand(), ByHand()
        self.loop = Loop(made, threading.Event(), self.hands, self.publisher)

    def turn(self) -> None:
        """Once around, without waiting for anything."""
        self.loop._bell.set()
        room = min(self.loop._worker.room - self.loop.window.in_flight, AT_ONCE.waiting - self.loop.window.waiting)
        self.loop._take(max(room, 0), 0.0)
        self.loop._settle()
        self.loop._commits.when_due()


class Workers(RuleBasedStateMachine):
    """Up to three workers of one group."""

    limits = AT_ONCE

    @initialize()
    def start(self) -> None:
        self.broker = memory(partitions=3)
        self.lives: list[Life] = []
        self.done: set[tuple[int, int]] = set()
        self.fed = 0

    @rule(count=st.integers(1, 6), kind=st.sampled_from([b"good", b"good", b"poison", None]))
    def records_come(self, count: int, kind: bytes | None) -> None:
        for _ in range(count):
            self.broker.append(Message(IN, b"%d" % self.fed, kind))
            self.fed += 1

    @precondition(lambda self: len(self.lives) < 3)
    @rule()
    def a_worker_starts(self) -> None:
        self.lives.append(Life(self, self.limits))

    @precondition(lambda self: self.lives)
    @rule(pick=st.randoms(use_true_random=False), turns=st.integers(1, 3))
    def a_worker_turns(self, pick: Random, turns: int) -> None:
        life = pick.choice(self.lives)
        for _ in range(turns):
            if life.loop._flooded:
                return self._stop(life)
            life.turn()
        return None

    @precondition(lambda self: any(life.hands.slots for life in self.lives))
    @rule(pick=st.randoms(use_true_random=False), fate=st.sampled_from(["good", "answer", "invalid", "skipped"]))
    def some_work_ends(self, pick: Random, fate: str) -> None:
        life = pick.choice([life for life in self.lives if life.hands.slots])
        slot = life.hands.slots.pop(pick.randrange(len(life.hands.slots)))
        if fate == "answer":
            slot.messages = (Message(OUT, b"%d-%d" % place(slot), b"answer"),)
        elif fate == "invalid":
            slot.error = InvalidMessage("refused")
        else:
            slot.error = SkippedMessage("nothing to do") if fate == "skipped" else None
            self.done.add(place(slot))
        slot.stage = "write"
        life.loop.give_back([slot])

    @precondition(lambda self: any(life.publisher.slots for life in self.lives))
    @rule(pick=st.randoms(use_true_random=False))
    def a_publish_is_acknowledged(self, pick: Random) -> None:
        life = pick.choice([life for life in self.lives if life.publisher.slots])
        slot = life.publisher.slots.pop(pick.randrange(len(life.publisher.slots)))
        if not slot.forgotten:
            life.producer.publish(slot.messages)
            slot.published = True
            self.done.add(place(slot))
        life.loop.give_back([slot])

    @precondition(lambda self: self.lives)
    @rule(pick=st.randoms(use_true_random=False))
    def a_worker_is_killed(self, pick: Random) -> None:
        life = self.lives.pop(pick.randrange(len(self.lives)))
        life.consumer.kill()

    @precondition(lambda self: self.lives)
    @rule(pick=st.randoms(use_true_random=False))
    def a_worker_stops(self, pick: Random) -> None:
        self._stop(pick.choice(self.lives))

    def _stop(self, life: Life) -> None:
        self.lives.remove(life)
        try:
            life.loop._drain()
        except Unavailable:
            pass  # the broker stumbled at the last commit: done again by the next worker
        finally:
            life.loop.close()

    @precondition(lambda self: self.lives)
    @rule(pick=st.randoms(use_true_random=False))
    def partitions_are_lost(self, pick: Random) -> None:
        life = pick.choice(self.lives)
        self.broker.lose(life.consumer, {(IN, pick.randrange(3))})

    @rule()
    def the_broker_stumbles(self) -> None:
        self.broker.fail_commit()

    @invariant()
    def no_commit_passes_a_record_without_effect(self) -> None:
        if not hasattr(self, "broker"):
            return
        for (_, partition), offset in self.broker.committed(GROUP).items():
            for record in self.broker.lines[(IN, partition)][:offset]:
                assert record.value is None or (partition, record.offset) in self.done

    def teardown(self) -> None:
        """One last healthy worker does what is left."""
        if not hasattr(self, "broker"):
            return
        for life in self.lives:
            life.consumer.kill()
        self.broker.forget_faults()
        self.lives = [Life(self)]
        (life,) = self.lives
        for _ in range(20 * self.fed + 20):
            life.turn()
            for slot in [*life.hands.slots]:
                slot.stage = "write"
                self.done.add(place(slot))
            life.loop.give_back(life.hands.slots[:])
            life.hands.slots.clear()
            for slot in life.publisher.slots:
                slot.published = True
                self.done.add(place(slot))
            life.loop.give_back(life.publisher.slots[:])
            life.publisher.slots.clear()
            if sum(self.broker.committed(GROUP).values()) == self.fed:
                break
        assert sum(self.broker.committed(GROUP).values()) == self.fed
        good = {(r.partition, r.offset) for r in self.broker.records(IN) if r.value is not None}
        assert good <= self.done
        self.no_commit_passes_a_record_without_effect()


def place(slot: Slot) -> tuple[int, int]:
    return slot.record.partition, slot.record.offset


TestWorkers = Workers.TestCase
TestWorkers.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


class FloodedWorkers(Workers):
    """The same where few dead letters are a flood: a worker that met one stops at its next turn."""

    limits = replace(AT_ONCE, dead_letters_in_row=2, dead_letters_of_200=5)


TestFloodedWorkers = FloodedWorkers.TestCase
TestFloodedWorkers.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
