"""What holds after a flood of dead letters: nothing is lost, nothing is kept twice, and every restart gets further."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from sandcrawler.errors import InvalidMessage, TooManyDeadLetters
from sandcrawler.memory import MemoryBroker
from sandcrawler.runtime import Batched, Concurrent, Message, hands
from tests.runtime.workers import (
    DEAD,
    IN,
    OUT,
    QUICK,
    Running,
    batched,
    committed,
    decode,
    eventually,
    feed,
    memory,
    worker,
)

POISON, GOOD, REFUSED, SLOW = b"poison", b"good", b"refused", b"slow"


def numbered(kinds: Sequence[bytes]) -> list[bytes]:
    return [kind + b" %d" % number for number, kind in enumerate(kinds)]


def refuse(value: bytes) -> None:
    if value.startswith(REFUSED):
        raise InvalidMessage("no such column")


def concurrent(done: list[bytes]) -> Concurrent[Any]:
    async def work(value: bytes) -> list[Message]:
        await asyncio.sleep(0.05 if value.startswith(SLOW) else 0)
        refuse(value)
        done.append(value)
        return [Message(OUT, value, value)]

    return Concurrent(decode, work, 16)


def in_batches(done: list[bytes]) -> Batched[Any]:
    def write(batch: Sequence[bytes]) -> None:
        for value in batch:
            refuse(value)
        done.extend(batch)

    return batched(write, size=7)


STEPS = {"concurrent": concurrent, "batched": in_batches}


def run_until_done(broker: MemoryBroker, kind: str, total: int, limits: Any = QUICK) -> list[bytes]:
    """Starts workers, one after another, as a supervisor does after exit code 4; the good values, as they were done."""
    done: list[bytes] = []
    for _ in range(total):
        before = committed(broker)
        it = Running(worker(broker, STEPS[kind](done), limits))
        eventually(lambda it=it: it.error or committed(broker) == total)  # type: ignore[misc]
        # The last commit of a flooded worker comes before its error: what it ended with is known when it has ended.
        it.stop.set()
        it.join()
        assert it.error is None or isinstance(it.error, TooManyDeadLetters)
        if committed(broker) == total:
            return done
        assert committed(broker) > before, "a restart gets further"
    raise AssertionError("never done")


MIXES = {
    "good ones behind, in the same poll": [POISON] * 25 + [GOOD] * 30,
    "good ones among many": [POISON] * 30 + [GOOD] + [POISON, POISON, POISON, GOOD] * 100,
    "good ones before": [SLOW] * 10 + [POISON] * 30,
    "nothing but poison": [POISON] * 90,
    "nothing but refusals": [REFUSED] * 90,
    "refusals that come late": [SLOW, *[REFUSED] * 30, SLOW] * 3,
    "both": [REFUSED, POISON, GOOD] * 60 + [POISON] * 30 + [REFUSED] * 30,
}


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("mix", MIXES)
def test_restarts_get_through_any_flood(mix: str, partitions: int, kind: str) -> None:
    broker, values = memory(partitions), numbered(MIXES[mix])
    feed(broker, values)
    done = run_until_done(broker, kind, len(values))
    bad = sorted(value for value in values if value.startswith((POISON, REFUSED)))
    assert sorted(letter.value or b"" for letter in broker.records(DEAD)) == bad, "each once, none left out"
    assert set(done) == set(values) - set(bad)


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("seed", range(12))
def test_restarts_get_through_random_floods(seed: int, kind: str) -> None:
    chance = Random(seed)
    broker = memory(partitions=chance.choice([1, 2]))
    values = numbered(chance.choices([POISON, GOOD, REFUSED, SLOW], [4, 4, 3, 1], k=150))
    feed(broker, values)
    limits = replace(QUICK, dead_letters_in_row=4, dead_letters_of_200=10)
    done = run_until_done(broker, kind, len(values), limits)
    bad = sorted(value for value in values if value.startswith((POISON, REFUSED)))
    assert sorted(letter.value or b"" for letter in broker.records(DEAD)) == bad
    assert set(done) == set(values) - set(bad)


def test_work_in_flight_is_finished_when_its_partition_moves_after_a_flood() -> None:
    broker, release = memory(partitions=1), threading.Event()

    async def work(value: bytes) -> list[Message]:
        await asyncio.to_thread(release.wait, 60)
        return [Message(OUT, value, value)]

    feed(broker, numbered([GOOD] + [POISON] * 40))
    made = worker(broker, Concurrent(decode, work, 64))
    it = Running(made)
    eventually(lambda: len(broker.records(DEAD)) == 20)
    broker.revoke(made.consumer, {(IN, 0)})  # type: ignore[arg-type]
    release.set()
    it.join()
    assert isinstance(it.error, TooManyDeadLetters)
    assert committed(broker) == 21


def test_work_that_outlasts_the_drain_holds_the_commit_back_and_the_worker_ends_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hands, "CLOSING_SECONDS", 0.1)
    broker, release = memory(partitions=1), threading.Event()

    async def work(value: bytes) -> list[Message]:
        await asyncio.to_thread(release.wait, 60)
        return [Message(OUT, value, value)]

    feed(broker, numbered([GOOD] + [POISON] * 40))
    it = Running(worker(broker, Concurrent(decode, work, 64), replace(QUICK, drain_seconds=0.3)))
    it.join()
    release.set()
    assert isinstance(it.error, TooManyDeadLetters)
    assert committed(broker) == 0
    done = run_until_done(broker, "concurrent", 41)
    assert done == [b"good 0"]
    assert len(set(broker.latest(DEAD))) == 40
