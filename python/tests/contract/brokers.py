"""The two brokers as one thing that tests can ask for topics, consumers and producers."""

import time
import uuid
from collections.abc import Callable
from typing import Protocol

from confluent_kafka.admin import AdminClient, NewTopic

from sandcrawler.config import Config
from sandcrawler.kafka import open_consumer, open_producer
from sandcrawler.memory import MemoryBroker
from sandcrawler.runtime import Consumer, Producer, Record

KIB = 1 << 10
# Seconds that a broker gets on a busy machine. What comes in time waits for none of them.
PATIENCE = 60.0


class Broker(Protocol):
    """A broker under test. `topic` makes a fresh one that takes messages up to 256 KiB."""

    def topic(self, partitions: int = 1) -> str: ...
    def consumer(self, *topics: str) -> Consumer: ...
    def producer(self) -> Producer: ...


class InMemory:
    """The memory broker."""

    def __init__(self) -> None:
        self.broker = MemoryBroker({}, message_bytes=256 * KIB)

    def topic(self, partitions: int = 1) -> str:
        name = f"test-{uuid.uuid4().hex}"
        self.broker.create(name, partitions)
        return name

    def consumer(self, *topics: str) -> Consumer:
        return self.broker.consumer("contract", topics)

    def producer(self) -> Producer:
        return self.broker.producer()


class RealKafka:
    """Kafka, with a consumer group of its own."""

    def __init__(self, brokers: str) -> None:
        self.config = Config(kafka_brokers=brokers, kafka_group_suffix=f"-{uuid.uuid4().hex}")
        self.admin = AdminClient({"bootstrap.servers": brokers})

    def topic(self, partitions: int = 1) -> str:
        name = f"test-{uuid.uuid4().hex}"
        new = NewTopic(name, partitions, 1, config={"max.message.bytes": str(256 * KIB)})
        self.admin.create_topics([new])[name].result(60)
        eventually(lambda: name in self.admin.list_topics(timeout=30).topics)
        return name

    def consumer(self, *topics: str) -> Consumer:
        session: dict[str, int] = {"session_timeout_ms": 6000} if len(topics) == 1 else {}
        return open_consumer(self.config, "contract", topics, **session)

    def producer(self) -> Producer:
        return open_producer(self.config)


def gather(consumer: Consumer, count: int, seconds: float = PATIENCE) -> list[Record]:
    """Polls until `count` records came."""
    records: list[Record] = []
    end = time.monotonic() + seconds
    while len(records) < count and time.monotonic() < end:
        records += consumer.poll(100, 0.1)
    return records


def eventually(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Waits until the condition holds; fails when it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)
