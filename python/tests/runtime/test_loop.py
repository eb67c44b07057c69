"""The loop's promises, on the memory broker with real threads."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from sandcrawler.errors import InvalidMessage, SandcrawlerError, SkippedMessage, TooManyDeadLetters, Unavailable
from sandcrawler.runtime import Batched, Concurrent, Limits, Message, Record, Worker
from tests.runtime.workers import (
    DEAD,
    GROUP,
    IMPATIENT,
    IN,
    OUT,
    QUICK,
    Running,
    all_polled,
    batched,
    committed,
    decode,
    echo,
    eventually,
    feed,
    memory,
    running,
    worker,
)


def values(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


class Sink:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []

    def __call__(self, batch: Sequence[bytes]) -> None:
        self.batches.append(list(batch))

    @property
    def written(self) -> list[bytes]:
        return [value for batch in self.batches for value in batch]


# ── the plain way ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_concurrent_publishes_every_answer_then_commits() -> None:
    broker = memory()
    feed(broker, values(200))
    with running(worker(broker, Concurrent(decode, echo, 16))) as it:
        eventually(lambda: committed(broker) == 200)
        counts = it.end()
    assert sorted(broker.latest(OUT).values()) == sorted(values(200))
    assert (counts.processed, counts.published, counts.dead_letters, counts.in_flight) == (200, 200, 0, 0)


def test_batches_are_bounded_by_size_and_keep_the_order_of_each_partition() -> None:
    broker, sink = memory(partitions=1), Sink()
    feed(broker, values(95))
    with running(worker(broker, batched(sink, size=10))):
        eventually(lambda: committed(broker) == 95)
    assert sink.written == values(95)
    assert max(map(len, sink.batches)) == 10


def test_a_small_batch_is_written_when_it_is_old_enough() -> None:
    broker, sink = memory(), Sink()
    feed(broker, values(3))
    start = time.monotonic()
    with running(worker(broker, batched(sink, size=1000, seconds=0.2))):
        eventually(lambda: committed(broker) == 3)
        assert time.monotonic() - start > 0.15
    assert len(sink.batches) == 1


def test_no_more_than_the_window_is_in_flight() -> None:
    broker, flying, most = memory(), 0, 0

    async def work(value: bytes) -> Sequence[Message]:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.002)
        flying -= 1
        return ()

    feed(broker, values(200))
    with running(worker(broker, Concurrent(decode, work, 7))):
        eventually(lambda: committed(broker) == 200)
    assert most == 7


def test_the_session_is_open_while_there_is_work_and_closed_in_the_same_loop() -> None:
    broker, story = memory(), []

    @asynccontextmanager
    async def session() -> AsyncIterator[None]:
        story.append(("open", asyncio.get_running_loop()))
        yield
        story.append(("closed", asyncio.get_running_loop()))

    async def work(value: bytes) -> Sequence[Message]:
        story.append(("work", asyncio.get_running_loop()))
        return ()

    feed(broker, values(1))
    with running(worker(broker, Concurrent(decode, work, 4, session))):
        eventually(lambda: committed(broker) == 1)
    assert [name for name, _ in story] == ["open", "work", "closed"]
    assert len({loop for _, loop in story}) == 1


def test_a_session_that_cannot_be_opened_ends_the_worker() -> None:
    broker = memory()

    @asynccontextmanager
    async def session() -> AsyncIterator[None]:
        raise OSError("no sockets left")
        yield

    it = Running(worker(broker, Concurrent(decode, echo, 4, session)))
    it.join()
    assert isinstance(it.error, OSError)
    assert broker.owners(GROUP) == {}


# ── slow work ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_slow_record_stops_neither_its_neighbours_nor_the_polling() -> None:
    broker, release = memory(partitions=1), threading.Event()
    made = worker(broker, Concurrent(decode, _held_up(b"5", release), 8))
    polls = _count_polls(made)
    feed(broker, values(50))
    with running(made):
        # All others pass while one is held up …
        eventually(lambda: len(broker.records(OUT)) == 49)
        before = len(polls)
        eventually(lambda: len(polls) > before + 10)
        # … but no offset passes it.
        assert committed(broker) == 5
        release.set()
        eventually(lambda: committed(broker) == 50)


def test_a_slow_record_is_overtaken_by_a_bounded_number() -> None:
    broker, release = memory(partitions=1), threading.Event()
    made = worker(broker, Concurrent(decode, _held_up(b"5", release), 8), replace(QUICK, waiting=30))
    feed(broker, values(100))
    with running(made):
        eventually(lambda: (len(broker.records(OUT)), committed(broker)) == (34, 5))
        time.sleep(0.05)
        assert (len(broker.records(OUT)), committed(broker)) == (34, 5)
        release.set()
        eventually(lambda: committed(broker) == 100)


def _held_up(slow: bytes, release: threading.Event) -> Any:
    async def work(value: bytes) -> Sequence[Message]:
        if value == slow:
            await asyncio.to_thread(release.wait, 60)
        return [Message(OUT, value, value)]

    return work


def _count_polls(made: Worker) -> list[float]:
    polls: list[float] = []
    poll = made.consumer.poll

    def counted(limit: int, seconds: float) -> list[Record]:
        polls.append(time.monotonic())
        return poll(limit, seconds)

    made.consumer.poll = counted  # type: ignore[method-assign]
    return polls


def test_a_slow_batch_does_not_stop_the_polling() -> None:
    broker, release = memory(), threading.Event()
    made = worker(broker, batched(lambda _batch: release.wait(60) and None))
    polls = _count_polls(made)
    feed(broker, values(100))
    with running(made):
        eventually(lambda: len(polls) > 30)
        assert committed(broker) == 0
        release.set()
        eventually(lambda: committed(broker) == 100)


def test_large_records_fill_the_window_before_their_number_does() -> None:
    broker, release, sink = memory(partitions=1), threading.Event(), Sink()

    def write(batch: Sequence[bytes]) -> None:
        release.wait(60)
        sink(batch)

    made = worker(broker, batched(write, size=100, seconds=0.0), replace(QUICK, bytes_in_flight=30_000))
    feed(broker, [b"x" * 10_000] * 3)
    with running(made):
        eventually(lambda: all_polled(made))
        # One poll may overshoot; this one has just filled the window.
        feed(broker, [b"x" * 10_000] * 17)
        time.sleep(0.1)
        assert made.consumer.lag() == {(IN, 0): 17}
        release.set()
        eventually(lambda: committed(broker) == 20)
    assert len(sink.written) == 20


# ── the message's fault ──────────────────────────────────────────────────────────────────────────────────────────────


def test_poison_becomes_a_dead_letter_with_its_bytes_and_origin() -> None:
    broker, sink = memory(partitions=1), Sink()
    broker.append(Message(IN, b"k\xff", b"poison \xff\xfe", (("trace", b"7"), ("__connect.errors.topic", b"old"))))
    feed(broker, values(3))
    with running(worker(broker, batched(sink))) as it:
        eventually(lambda: committed(broker) == 4)
        assert it.end().dead_letters == 1
    (letter,) = broker.records(DEAD)
    assert (letter.key, letter.value) == (b"k\xff", b"poison \xff\xfe")
    headers = dict(letter.headers)
    assert len(headers) == len(letter.headers)
    assert headers.pop("__connect.errors.task.id").isdigit()
    assert headers.pop("__connect.errors.class.name").endswith(b"decode")
    assert headers == {
        "trace": b"7",
        "__connect.errors.topic": b"in",
        "__connect.errors.partition": b"0",
        "__connect.errors.offset": b"0",
        "__connect.errors.connector.name": b"test",
        "__connect.errors.stage": b"VALUE_CONVERTER",
        "__connect.errors.exception.class.name": b"sandcrawler.errors.InvalidMessage",
        "__connect.errors.exception.message": b"not JSON: b'poison \\xff\\xfe'",
    }
    assert sink.written == values(3)


def test_tombstones_are_counted_by_reason_and_passed() -> None:
    broker, sink = memory(), Sink()
    feed(broker, [None, b"1", None, b"2"])
    with running(worker(broker, batched(sink))) as it:
        eventually(lambda: committed(broker) == 4)
        counts = it.end()
    assert (counts.processed, counts.skipped, counts.dead_letters) == (2, {"tombstone": 2}, 0)
    assert broker.records(DEAD) == []


@pytest.mark.parametrize("culprits", [{0}, {6}, {12}, {3, 4}, {0, 12}, set(range(5))])
def test_a_culprit_in_a_batch_is_found_and_the_rest_is_written_once(culprits: set[int]) -> None:
    broker, sink = memory(partitions=1), Sink()

    def write(batch: Sequence[bytes]) -> None:
        if any(int(value) in culprits for value in batch):
            raise InvalidMessage("no such column")
        sink(batch)

    feed(broker, values(13))
    with running(worker(broker, batched(write, size=13, seconds=0.2))):
        eventually(lambda: committed(broker) == 13)
    assert sink.written == [value for value in values(13) if int(value) not in culprits]
    letters = broker.records(DEAD)
    assert [int(letter.value or b"") for letter in letters] == sorted(culprits)
    assert {dict(letter.headers)["__connect.errors.stage"] for letter in letters} == {b"TASK_PUT"}


def test_work_may_refuse_and_skip_too() -> None:
    broker = memory()

    async def work(value: bytes) -> Sequence[Message]:
        if value == b"1":
            raise InvalidMessage("unknown ingest type")
        if value == b"2":
            raise SkippedMessage("seen")
        return await echo(value)

    feed(broker, values(4))
    with running(worker(broker, Concurrent(decode, work, 4))) as it:
        eventually(lambda: committed(broker) == 4)
        counts = it.end()
    assert (counts.processed, counts.skipped, counts.dead_letters) == (2, {"seen": 1}, 1)
    assert dict(broker.records(DEAD)[0].headers)["__connect.errors.stage"] == b"TRANSFORMATION"


def test_an_answer_too_large_makes_a_dead_letter_and_harms_no_other() -> None:
    broker = memory()

    async def work(value: bytes) -> Sequence[Message]:
        return [Message(OUT, value, value * (10_000 if value == b"3" else 1)), Message(OUT, b"also " + value, value)]

    feed(broker, values(8))
    with running(worker(broker, Concurrent(decode, work, 8))) as it:
        eventually(lambda: committed(broker) == 8)
        counts = it.end()
    assert (counts.processed, counts.dead_letters) == (7, 1)
    assert set(broker.latest(OUT)) >= set(values(8)) - {b"3"}
    (letter,) = broker.records(DEAD)
    assert letter.value == b"3"
    assert dict(letter.headers)["__connect.errors.stage"] == b"KAFKA_PRODUCE"


# ── floods ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_flood_in_a_row_stops_the_worker_and_loses_nothing() -> None:
    broker, sink = memory(partitions=1), Sink()
    poison = [b"poison %d" % number for number in range(60)]
    feed(broker, [*values(5), *poison])
    it = Running(worker(broker, batched(sink, size=100), replace(QUICK, dead_letters_in_row=20)))
    it.join()
    assert isinstance(it.error, TooManyDeadLetters)
    letters = [record.value for record in broker.records(DEAD)]
    # As many as the limit says, each one kept or still to come.
    assert letters == poison[:20]
    assert committed(broker) <= 25
    again = Running(worker(broker, batched(sink, size=100), replace(QUICK, dead_letters_in_row=1000)))
    eventually(lambda: committed(broker) == 65)
    again.end()
    assert set(broker.latest(DEAD).values()) == set(poison)
    assert set(sink.written) == set(values(5))


def test_half_of_200_is_a_flood_too() -> None:
    broker, sink = memory(partitions=1), Sink()
    feed(broker, [b"poison" if number % 2 else b"%d" % number for number in range(1000)])
    it = Running(worker(broker, batched(sink, size=50)))
    it.join()
    assert isinstance(it.error, TooManyDeadLetters)
    assert len(broker.records(DEAD)) == 100


def test_a_third_is_no_flood_however_the_batches_fall() -> None:
    broker, sink = memory(partitions=1), Sink()
    feed(broker, [b"poison" if number % 3 == 0 else b"%d" % number for number in range(900)])
    with running(worker(broker, batched(sink, size=500))) as it:
        eventually(lambda: committed(broker) == 900)
        assert it.end().dead_letters == 300


def test_refusals_of_write_flood_too() -> None:
    broker = memory(partitions=1)

    def write(_batch: Sequence[bytes]) -> None:
        raise InvalidMessage("no such table")

    feed(broker, values(100))
    it = Running(worker(broker, batched(write, size=64)))
    it.join()
    assert isinstance(it.error, TooManyDeadLetters)
    assert [letter.value for letter in broker.records(DEAD)] == values(20)
    assert committed(broker) <= 20


# ── the world's fault ────────────────────────────────────────────────────────────────────────────────────────────────


class Flaky:
    """A server that is away for a number of calls."""

    def __init__(self, away: int) -> None:
        self.away = away
        self.sink = Sink()

    def __call__(self, batch: Sequence[bytes]) -> None:
        self.away -= 1
        if self.away >= 0:
            raise Unavailable("the database is restarting")
        self.sink(batch)


def test_write_is_tried_again() -> None:
    broker, flaky = memory(), Flaky(3)
    feed(broker, values(10))
    with running(worker(broker, batched(flaky, size=10, seconds=0.05))) as it:
        eventually(lambda: committed(broker) == 10)
        assert it.end().retried == 3
    assert sorted(flaky.sink.written) == values(10)


def test_work_is_tried_again_while_its_neighbours_go_on() -> None:
    broker, tries = memory(partitions=1), 0

    async def work(value: bytes) -> Sequence[Message]:
        nonlocal tries
        if value == b"0":
            tries += 1
            if tries <= 3:
                raise Unavailable("the archive is busy")
        return await echo(value)

    feed(broker, values(30))
    with running(worker(broker, Concurrent(decode, work, 4))) as it:
        eventually(lambda: committed(broker) == 30)
        assert it.end().retried == 3
    assert len(broker.latest(OUT)) == 30


def test_publish_is_tried_again_and_nothing_is_committed_before() -> None:
    broker = memory()
    broker.fail_publish(3)
    feed(broker, values(10))
    with running(worker(broker, Concurrent(decode, echo, 4))) as it:
        eventually(lambda: committed(broker) == 10)
        assert it.end().retried >= 3
    assert len(broker.latest(OUT)) == 10


@pytest.mark.parametrize("step", ["write", "work", "publish", "dead letter"])
def test_a_server_that_stays_away_stops_the_worker_with_nothing_committed(step: str) -> None:
    broker = memory(partitions=1)

    async def away(value: bytes) -> Sequence[Message]:
        raise Unavailable("the archive is down")

    steps: dict[str, Any] = {
        "write": batched(Flaky(10_000)),
        "work": Concurrent(decode, away, 4),
        "publish": Concurrent(decode, echo, 4),
        "dead letter": batched(Sink()),
    }
    if step in {"publish", "dead letter"}:
        broker.fail_publish(10_000)
    feed(broker, [b"poison", *values(5)] if step == "dead letter" else values(5))
    it = Running(worker(broker, steps[step], IMPATIENT))
    it.join()
    assert isinstance(it.error, Unavailable)
    assert committed(broker) == 0
    assert broker.owners(GROUP) == {}


def test_a_bug_stops_the_worker_and_commits_nothing_unfinished() -> None:
    broker = memory(partitions=1)

    async def work(value: bytes) -> Sequence[Message]:
        if value == b"7":
            raise ZeroDivisionError
        return await echo(value)

    feed(broker, values(20))
    it = Running(worker(broker, Concurrent(decode, work, 1)))
    it.join()
    assert isinstance(it.error, ZeroDivisionError)
    assert committed(broker) <= 7


def test_a_bug_in_decode_or_write_stops_the_worker() -> None:
    def broken(_anything: Any) -> Any:
        raise KeyError("title")

    for step in (batched(broken), Batched(broken, Sink(), 10, 0.01)):
        broker = memory()
        feed(broker, values(5))
        it = Running(worker(broker, step))
        it.join()
        assert isinstance(it.error, KeyError)
        assert committed(broker) == 0


def test_a_dead_letter_that_cannot_be_published_stops_the_worker() -> None:
    broker = memory(partitions=1)
    feed(broker, [b"poison" + b"x" * 9_994])
    broker.message_bytes = 5_000
    it = Running(worker(broker, batched(Sink())))
    it.join()
    assert isinstance(it.error, SandcrawlerError)
    assert "dead letter" in str(it.error)
    assert committed(broker) == 0


def test_a_commit_is_tried_again() -> None:
    broker, sink = memory(), Sink()
    broker.fail_commit(3)
    feed(broker, values(10))
    with running(worker(broker, batched(sink))) as it:
        eventually(lambda: committed(broker) == 10)
        assert it.end().retried == 3
    assert len(sink.written) == 10


def test_a_broker_that_takes_no_commit_stops_the_worker() -> None:
    broker = memory()
    broker.fail_commit(10_000)
    feed(broker, values(10))
    it = Running(worker(broker, batched(Sink()), IMPATIENT))
    it.join()
    assert isinstance(it.error, Unavailable)


# ── stopping and rebalancing ─────────────────────────────────────────────────────────────────────────────────────────


def test_stopping_finishes_what_is_in_flight() -> None:
    broker, begun, release = memory(), [], threading.Event()

    async def work(value: bytes) -> Sequence[Message]:
        begun.append(value)
        await asyncio.to_thread(release.wait, 60)
        return await echo(value)

    feed(broker, values(100))
    it = Running(worker(broker, Concurrent(decode, work, 10)))
    eventually(lambda: len(begun) == 10)
    it.stop.set()
    release.set()
    counts = it.end()
    assert counts.processed == committed(broker) == len(broker.latest(OUT)) == 10


def test_stopping_writes_the_batch_that_is_gathering() -> None:
    broker, sink = memory(), Sink()
    feed(broker, values(5))
    made = worker(broker, batched(sink, size=100, seconds=600))
    it = Running(made)
    eventually(lambda: all_polled(made))
    it.end()
    assert committed(broker) == len(sink.written) == 5


@pytest.mark.parametrize("kind", ["concurrent", "batched"])
def test_stopping_is_bounded_and_commits_only_what_was_finished(kind: str) -> None:
    broker, release = memory(partitions=1), threading.Event()
    steps: dict[str, Any] = {
        "concurrent": Concurrent(decode, _held_up(b"3", release), 10),
        "batched": Batched(decode, lambda batch: release.wait(60) and None if b"3" in batch else None, 1, 0.0),
    }
    feed(broker, values(10))
    it = Running(worker(broker, steps[kind], replace(QUICK, drain_seconds=0.3)))
    eventually(lambda: committed(broker) == 3)
    start = time.monotonic()
    it.end()
    # Long before the work would end; a thread that closes gets five seconds.
    assert 0.25 < time.monotonic() - start < 30
    assert committed(broker) == 3
    release.set()


def test_partitions_move_without_loss_and_without_a_second_time() -> None:
    broker, sinks = memory(partitions=4), (Sink(), Sink())
    feed(broker, values(400))

    def slowly(sink: Sink) -> Any:
        return lambda batch: (time.sleep(0.002), sink(batch))[1]

    first = Running(worker(broker, batched(slowly(sinks[0]))))
    eventually(lambda: committed(broker) > 20)
    second = Running(worker(broker, batched(slowly(sinks[1]))))
    eventually(lambda: len(broker.owners(GROUP)) == 4 and len(set(broker.owners(GROUP).values())) == 2)
    # The first may have done all of them by now: the second gets its share of these.
    feed(broker, values(400))
    eventually(lambda: committed(broker) == 800)
    first.end()
    second.end()
    # An orderly move does nothing twice.
    assert sorted(sinks[0].written + sinks[1].written) == sorted(values(400) * 2)
    assert sinks[1].written


def test_work_in_flight_is_finished_before_its_partition_moves() -> None:
    broker, release = memory(partitions=2), threading.Event()
    feed(broker, values(2))
    first = Running(worker(broker, Concurrent(decode, _held_up(b"0", release), 8)))
    eventually(lambda: len(broker.records(OUT)) == 1)
    second = broker.consumer(GROUP, [IN])
    eventually(lambda: second.poll(0, 0.01) == [] and len(broker.owners(GROUP)) == 2)
    release.set()
    eventually(lambda: second.poll(10, 0.01) or len(set(broker.owners(GROUP).values())) == 2)
    eventually(lambda: committed(broker) == 2)
    first.end()
    assert len(broker.records(OUT)) == 2


@pytest.mark.parametrize("how", ["revoked", "lost"])
def test_what_ends_after_its_partition_is_gone_is_neither_published_nor_committed(how: str) -> None:
    broker, release = memory(partitions=1), threading.Event()
    feed(broker, values(1))
    made = worker(broker, Concurrent(decode, _held_up(b"0", release), 8), replace(QUICK, revoke_seconds=0.1))
    first = Running(made)
    eventually(lambda: all_polled(made))
    if how == "lost":
        broker.lose(made.consumer, {(IN, 0)})  # type: ignore[arg-type]
    else:
        broker.revoke(made.consumer, {(IN, 0)})  # type: ignore[arg-type]
    # The partition is gone, and the worker has been told.
    eventually(lambda: broker.owners(GROUP) == {} and not made.consumer.lost)  # type: ignore[attr-defined]
    release.set()
    counts = first.end()
    assert broker.records(OUT) == []
    assert committed(broker) == 0
    assert counts.processed == 0


def test_a_bug_during_a_rebalance_is_raised() -> None:
    broker, release = memory(partitions=2), threading.Event()

    async def work(value: bytes) -> Sequence[Message]:
        await asyncio.to_thread(release.wait, 60)
        raise ZeroDivisionError

    feed(broker, values(8))
    made = worker(broker, Concurrent(decode, work, 8))
    first = Running(made)
    eventually(lambda: all_polled(made))
    second = broker.consumer(GROUP, [IN])
    second.poll(0, 0.1)
    release.set()
    first.join()
    assert isinstance(first.error, ZeroDivisionError)
    assert committed(broker) == 0


def test_commits_are_paced() -> None:
    broker, commits = memory(partitions=1), []
    made = worker(broker, batched(Sink(), size=1, seconds=0), replace(QUICK, commit_seconds=0.2))
    commit = made.consumer.commit
    made.consumer.commit = lambda offsets: (commits.append(offsets), commit(offsets))[1]  # type: ignore[method-assign]
    start = time.monotonic()
    with running(made) as it:
        for value in values(30):
            broker.append(Message(IN, value, value))
            time.sleep(0.01)
        eventually(lambda: all_polled(made))
        it.end()
    assert committed(broker) == 30
    assert len(commits) <= (time.monotonic() - start) / 0.2 + 3


def test_limits_have_the_defaults_of_the_design() -> None:
    limits = Limits()
    assert (limits.dead_letters_in_row, limits.dead_letters_of_200, limits.drain_seconds) == (20, 100, 30)
