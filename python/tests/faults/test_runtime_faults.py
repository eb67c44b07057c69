"""Workers on a real broker that are killed, stopped, slowed down and rebalanced: nothing is lost."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from sandcrawler.errors import ConfigurationError
from sandcrawler.kafka import open_consumer
from sandcrawler.runtime import Batched, Concurrent, Limits, Message, Record, Stop, Worker, run
from tests.contract.brokers import PATIENCE, RealKafka, eventually, gather

pytestmark = pytest.mark.stack

PROCESS = Path(__file__).with_name("worker_process.py")


class Scene:
    """Topics with numbered records in them, and workers that read them."""

    def __init__(self, brokers: str, folder: Path) -> None:
        self.kafka = RealKafka(brokers)
        self.folder = folder
        self.source, self.out, self.dead = self.kafka.topic(4), self.kafka.topic(2), self.kafka.topic(1)
        self.processes: list[subprocess.Popen[str]] = []
        group = f"sandcrawler-dev-faults{self.kafka.config.kafka_group_suffix}"
        # It never joins, and only asks what the group has committed.
        self.witness = Consumer({"bootstrap.servers": brokers, "group.id": group, "log_level": 0})

    def feed(self, count: int, first: int = 0) -> set[bytes]:
        values = [b"%d" % number for number in range(first, first + count)]
        producer = self.kafka.producer()
        producer.publish([Message(self.source, value, value) for value in values])
        producer.close()
        return set(values)

    def start(self, kind: str, seconds: float) -> "subprocess.Popen[str]":
        """A worker in its own process."""
        config = self.kafka.config
        words = [config.kafka_brokers, config.kafka_group_suffix, kind, self.source, self.out, self.dead]
        process = subprocess.Popen(
            [sys.executable, str(PROCESS), *map(str, words), str(self.folder / "lines"), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        return process

    def worker(self, step: Concurrent[Any] | Batched[Any], **settings: Any) -> Worker:
        """A worker for a thread of this process."""
        consumer = open_consumer(
            self.kafka.config, "faults", [self.source], heartbeat_interval_ms=300, session_timeout_ms=6000, **settings
        )
        return Worker("faults", consumer, self.kafka.producer(), step, self.dead, Limits(commit_seconds=0.1))

    def committed(self) -> int:
        """Records that the group is past.

        Not by the admin's `list_consumer_group_offsets`: that ends the process where the group's coordinator has moved
        or is not there yet (librdkafka's issue 5040).
        """
        patience = time.monotonic() + PATIENCE
        while True:
            try:
                parts = self.witness.committed([TopicPartition(self.source, number) for number in range(4)], timeout=30)
            except KafkaException:  # such a coordinator
                assert time.monotonic() < patience
                time.sleep(0.2)
            else:
                return sum(max(0, part.offset) for part in parts)

    def lines(self) -> list[bytes]:
        file = self.folder / "lines"
        return file.read_bytes().splitlines() if file.exists() else []

    def published(self) -> list[bytes]:
        """Everything in the topic of the answers."""
        parts = [TopicPartition(self.out, partition) for partition in range(2)]
        ends = self.kafka.admin.list_offsets({part: OffsetSpec.latest() for part in parts})
        consumer = open_consumer(self.kafka.config, uuid.uuid4().hex, [self.out])
        values = [
            record.value or b"" for record in gather(consumer, sum(end.result(30).offset for end in ends.values()))
        ]
        consumer.close()
        return values


@pytest.fixture
def scene(stack: Any, tmp_path: Path) -> Any:
    scene = Scene(stack.kafka_brokers, tmp_path)
    yield scene
    for process in scene.processes:
        if process.poll() is None:
            process.kill()
        process.wait(30)
    scene.witness.close()


def decode(record: Record) -> bytes:
    return record.value or b""


@pytest.mark.parametrize("kind", ["batched", "concurrent"])
def test_killed_in_the_middle_and_started_again(scene: Scene, kind: str) -> None:
    chance, wanted = random.Random(63), set[bytes]()
    for _ in range(2):
        # Something is left to do, even if the one before was quicker than its killer.
        wanted |= scene.feed(600, len(wanted))
        before = scene.committed()
        process = scene.start(kind, 0.05)
        eventually(lambda before=before: scene.committed() > before)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    if kind == "batched":
        # Nothing committed is without its line, however much of the batch was written.
        assert scene.committed() <= len(set(scene.lines()))
    scene.start(kind, 0.01)
    eventually(lambda: scene.committed() == len(wanted))
    assert set(scene.lines() if kind == "batched" else scene.published()) == wanted


@pytest.mark.parametrize("kind", ["batched", "concurrent"])
def test_sigterm_finishes_what_is_in_flight_and_exits_0(scene: Scene, kind: str) -> None:
    scene.feed(4000)  # more than it can do before the signal comes
    process = scene.start(kind, 0.3)
    eventually(lambda: scene.committed() > 0)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    committed = scene.committed()
    assert committed < 4000
    effects = scene.lines() if kind == "batched" else scene.published()
    # An orderly end does nothing that the next worker would do again.
    assert len(effects) == len(set(effects)) == committed


def test_a_second_sigterm_ends_the_process_at_once(scene: Scene) -> None:
    scene.feed(20)
    process = scene.start("concurrent", 60)
    assert process.stdout is not None
    assert "working\n" in process.stdout  # after its log lines
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    # A worker that had drained would have ended with 0.
    assert process.wait(60) == 128 + signal.SIGTERM
    assert scene.committed() == 0


@pytest.mark.parametrize("kind", ["batched", "concurrent"])
def test_a_second_worker_joins_in_the_middle_and_nothing_is_lost_or_done_twice(scene: Scene, kind: str) -> None:
    wanted = scene.feed(1500)
    done: tuple[list[bytes], list[bytes]] = ([], [])
    stop = Stop()

    def step(number: int) -> Batched[bytes] | Concurrent[bytes]:
        def write(values: Sequence[bytes]) -> None:
            time.sleep(0.02)
            done[number].extend(values)

        async def work(value: bytes) -> Sequence[Message]:
            await asyncio.sleep(0.03)
            done[number].append(value)
            return ()

        return Batched(decode, write, 10, 0.05) if kind == "batched" else Concurrent(decode, work, 16)

    threads = []
    for number in (0, 1):
        made = scene.worker(step(number))
        threads.append(threading.Thread(target=run, args=[made, stop], daemon=True))
        threads[-1].start()
        eventually(lambda: len(done[0]) > 50)
    # However long the group takes to share, the second finds something to do.
    patience = time.monotonic() + 60
    while not done[1] and time.monotonic() < patience:
        wanted |= scene.feed(100, len(wanted))
        time.sleep(0.2)
    assert done[1], "the second worker got no share"
    eventually(lambda: scene.committed() == len(wanted))
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert set(done[0] + done[1]) == wanted
    assert len(done[0] + done[1]) == len(wanted)


def test_a_record_slower_than_max_poll_interval_keeps_its_partition(scene: Scene) -> None:
    scene.feed(40)
    done: list[bytes] = []
    moved: list[object] = []

    async def work(value: bytes) -> Sequence[Message]:
        await asyncio.sleep(15 if value == b"7" else 0.01)
        done.append(value)
        return ()

    made = scene.worker(Concurrent(decode, work, 4), max_poll_interval_ms=6000)
    listen = made.consumer.listen

    def watched(on_revoked: Any, on_lost: Any) -> None:
        listen(
            lambda parts: (moved.append(parts), on_revoked(parts)), lambda parts: (moved.append(parts), on_lost(parts))
        )

    made.consumer.listen = watched  # type: ignore[method-assign]
    stop = Stop()
    thread = threading.Thread(target=run, args=[made, stop], daemon=True)
    thread.start()
    eventually(lambda: len(done) == 39)
    assert scene.committed() < 40
    eventually(lambda: scene.committed() == 40)
    assert moved == []
    assert len(done) == 40
    stop.set()
    thread.join(60)


def test_an_offset_out_of_range_goes_to_the_earliest_and_is_logged(scene: Scene, capsys: Any) -> None:
    scene.feed(100)
    first = open_consumer(scene.kafka.config, "faults", [scene.source])
    gather(first, 100)
    first.commit({(scene.source, partition): 10_000 for partition in range(4)})
    first.close()
    second = open_consumer(scene.kafka.config, "faults", [scene.source])
    assert len(gather(second, 100)) == 100
    second.close()
    told = capsys.readouterr()  # where the log goes is the process's affair
    assert "out of range" in (told.out + told.err).lower()


def test_a_topic_that_vanishes_stops_the_worker(scene: Scene) -> None:
    scene.feed(10)
    made = scene.worker(Batched(decode, lambda _values: None, 10, 0.1), topic_metadata_refresh_interval_ms=500)
    errors: list[BaseException] = []

    def live() -> None:
        try:
            run(made, Stop())
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    eventually(lambda: scene.committed() == 10)
    scene.kafka.admin.delete_topics([scene.source])[scene.source].result(60)
    thread.join(60)
    assert isinstance(errors[0], ConfigurationError)
    assert "sandcrawler setup" in str(errors[0])
