"""Messages per second through the runtime with a step that does nothing, beside a bare confluent-kafka loop.

    python benchmarks/runtime.py [--brokers HOST:PORT] [--messages N] [--rounds N]

Every case reads the same messages from the same topic, with a consumer group of its own; cases take turns, and the best
of the rounds counts. Without --brokers only the memory broker is measured. Prints one JSON object a line:
{"case", "broker", "messages_per_second", "of_bare"}; `of_bare` is the share of the bare loop's speed.
"""

import argparse
import asyncio
import json
import logging
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from confluent_kafka import Consumer as Client
from confluent_kafka.admin import AdminClient, NewTopic
from rich.progress import track

from sandcrawler.config import Config
from sandcrawler.kafka import open_consumer, open_producer
from sandcrawler.memory import MemoryBroker
from sandcrawler.runtime import Batched, Concurrent, Consumer, Message, Producer, Record, Stop, Worker, run

VALUE = b"x" * 300
PARTITIONS = 4


def value_of(record: Record) -> bytes | None:
    return record.value


async def nothing(_value: bytes) -> Sequence[Message]:
    return ()


async def a_moment(_value: bytes) -> Sequence[Message]:
    await asyncio.sleep(0)
    return ()


STEPS: dict[str, Batched[Any] | Concurrent[Any]] = {
    "batched 500": Batched(value_of, lambda _values: None, 500, 0.5),
    "batched 5000": Batched(value_of, lambda _values: None, 5000, 0.5),
    "concurrent 64": Concurrent(value_of, nothing, 64),
    "concurrent 64, one await": Concurrent(value_of, a_moment, 64),
    "concurrent 1000": Concurrent(value_of, nothing, 1000),
}


def through_runtime(consumer: Consumer, producer: Producer, step: Batched[Any] | Concurrent[Any], count: int) -> float:
    """Seconds from the first record until all are worked on and committed."""
    stop, first, polled = Stop(), 0.0, 0
    poll = consumer.poll

    def watched(limit: int, seconds: float) -> list[Record]:
        nonlocal first, polled
        records = poll(limit, seconds)
        if records and not first:
            first = time.perf_counter()
        polled += len(records)
        if polled == count:
            stop.set()
        return records

    consumer.poll = watched  # type: ignore[method-assign]
    done = run(Worker("bench", consumer, producer, step, "dead"), stop).processed
    if done != count:
        raise RuntimeError(f"{done} of {count} records were processed")
    return time.perf_counter() - first


def bare(brokers: str, topic: str, count: int) -> float:
    """Seconds that confluent-kafka takes alone: consume, read the value, commit once at the end."""
    settings = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
    client = Client({"bootstrap.servers": brokers, "group.id": uuid.uuid4().hex, **settings})
    client.subscribe([topic])
    seen, first = 0, 0.0
    while seen < count:
        answers = client.consume(500, 0.1)
        if answers and not first:
            first = time.perf_counter()
        for answer in answers:
            answer.value()
        seen += len(answers)
    client.commit(asynchronous=False)
    taken = time.perf_counter() - first
    client.close()
    return taken


def kafka_cases(brokers: str, count: int) -> dict[str, Callable[[], float]]:
    """The cases on a real broker, over a topic that is filled here."""
    config = Config(kafka_brokers=brokers)
    topic = f"bench-{uuid.uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": brokers})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(10)
    producer = open_producer(config)
    for start in range(0, count, 10_000):
        producer.publish([Message(topic, b"%d" % number, VALUE) for number in range(start, min(count, start + 10_000))])

    def case(step: Batched[Any] | Concurrent[Any]) -> float:
        own = Config(kafka_brokers=brokers, kafka_group_suffix=f"-{uuid.uuid4().hex}")
        return through_runtime(open_consumer(own, "bench", [topic]), open_producer(config), step, count)

    cases: dict[str, Callable[[], float]] = {"bare": lambda: bare(brokers, topic, count)}
    return cases | {name: lambda step=step: case(step) for name, step in STEPS.items()}  # type: ignore[misc]


def memory_cases(count: int) -> dict[str, Callable[[], float]]:
    """The same on the broker in memory: what the loop itself costs."""
    broker = MemoryBroker({"in": PARTITIONS, "dead": 1})
    broker.producer().publish([Message("in", b"%d" % number, VALUE) for number in range(count)])

    def case(step: Batched[Any] | Concurrent[Any]) -> float:
        return through_runtime(broker.consumer(uuid.uuid4().hex, ["in"]), broker.producer(), step, count)

    return {name: lambda step=step: case(step) for name, step in STEPS.items()}  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers")
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    tables = {"memory": memory_cases(options.messages)}
    if options.brokers:
        tables["kafka"] = kafka_cases(options.brokers, options.messages)
    turns = [(broker, name) for _ in range(options.rounds) for broker, cases in tables.items() for name in cases]
    best: dict[tuple[str, str], float] = {}
    for turn in track(turns, "measuring", console=None, disable=not sys.stderr.isatty()):
        broker, name = turn
        best[turn] = max(best.get(turn, 0.0), options.messages / tables[broker][name]())
    for (broker, name), rate in best.items():
        line: dict[str, object] = {"case": name, "broker": broker, "messages_per_second": round(rate)}
        if reference := best.get((broker, "bare")):
            line["of_bare"] = round(rate / reference, 2)
        print(json.dumps(line))


if __name__ == "__main__":
    main()
