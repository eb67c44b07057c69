"""What the runtime relies on, asked of both brokers."""

import random
import threading
import time
from typing import Any

import pytest

from sandcrawler.errors import ConfigurationError
from sandcrawler.runtime import Consumer, Message, MessageTooLarge, Partition, Record
from tests.contract.brokers import KIB, PATIENCE, Broker, InMemory, RealKafka, eventually, gather


@pytest.fixture(params=["memory", pytest.param("kafka", marks=pytest.mark.stack)])
def broker(request: pytest.FixtureRequest) -> Broker:
    if request.param == "memory":
        return InMemory()
    return RealKafka(request.getfixturevalue("stack").kafka_brokers)


def publish(broker: Broker, *messages: Message) -> None:
    producer = broker.producer()
    producer.publish(messages)
    producer.close()


def numbered(topic: str, count: int, start: int = 0) -> list[Message]:
    return [Message(topic, str(i).encode(), b"value %d" % i) for i in range(start, start + count)]


def keys(records: list[Record]) -> list[int]:
    return sorted(int(record.key or b"-1") for record in records)


def pump(stop: threading.Event, *consumers: Consumer) -> None:
    """Keeps members alive while another one is looked at."""
    while not stop.is_set():
        for consumer in consumers:
            consumer.poll(0, 0.01)


def test_a_record_is_the_message_that_was_published(broker: Broker) -> None:
    topic = broker.topic()
    message = Message(topic, b"k\xff", b"v\x00", (("a", b"1"), ("a", b"\xfe"), ("b", b"")))
    publish(broker, message, Message(topic, b"k", None), Message(topic, None, b""))
    consumer = broker.consumer(topic)
    first, tombstone, empty = gather(consumer, 3)
    assert (first.topic, first.partition, first.offset) == (topic, 0, 0)
    assert (first.key, first.value, first.headers) == (message.key, message.value, message.headers)
    assert first.timestamp is not None
    assert first.timestamp > 1_600_000_000
    assert (tombstone.key, tombstone.value, tombstone.headers) == (b"k", None, ())
    assert (empty.key, empty.value) == (None, b"")
    consumer.close()


def test_records_of_a_key_keep_their_order(broker: Broker) -> None:
    topic = broker.topic(partitions=4)
    publish(broker, *(Message(topic, b"key %d" % (i % 7), b"%d" % i) for i in range(210)))
    consumer = broker.consumer(topic)
    records = gather(consumer, 210)
    assert len(records) == 210
    for key in {record.key for record in records}:
        mine = [record for record in records if record.key == key]
        assert len({record.partition for record in mine}) == 1
        assert [int(record.value or b"") for record in mine] == sorted(int(record.value or b"") for record in mine)
    assert len({record.partition for record in records}) > 1
    consumer.close()


def test_a_poll_gives_at_most_its_limit_and_loses_nothing(broker: Broker) -> None:
    topic = broker.topic()
    publish(broker, *numbered(topic, 20))
    consumer = broker.consumer(topic)
    records: list[Record] = []
    eventually(lambda: records.extend(consumer.poll(3, 0.1)) or records)
    assert len(records) <= 3
    records += gather(consumer, 20 - len(records))
    assert [record.offset for record in records] == list(range(20))
    consumer.close()


def test_a_limit_of_zero_gives_nothing_and_loses_nothing(broker: Broker) -> None:
    topic = broker.topic()
    publish(broker, *numbered(topic, 3000))
    consumer = broker.consumer(topic)
    records = gather(consumer, 1)
    for _ in range(100):
        assert consumer.poll(0, 0.01) == []
    publish(broker, *numbered(topic, 50, start=3000))
    assert consumer.poll(0, 0.01) == []
    records += gather(consumer, 3050 - len(records))
    assert [record.offset for record in records] == list(range(3050))
    consumer.close()


@pytest.mark.stack
def test_partitions_that_were_paused_lose_nothing(stack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandcrawler.kafka.consumer.LOOK_EVERY", 0.0)
    monkeypatch.setattr("sandcrawler.kafka.consumer.AHEAD", 5)
    broker = RealKafka(stack.kafka_brokers)
    topic = broker.topic(partitions=3)
    publish(broker, *numbered(topic, 3000))
    consumer = broker.consumer(topic)
    records = gather(consumer, 1)
    for _ in range(5):
        for _ in range(20):
            assert consumer.poll(0, 0.01) == []
        records += consumer.poll(100, 5)
    records += gather(consumer, 3000 - len(records))
    assert keys(records) == list(range(3000))
    consumer.close()


def test_what_was_not_committed_comes_again(broker: Broker) -> None:
    topic = broker.topic()
    publish(broker, *numbered(topic, 10))
    first = broker.consumer(topic)
    assert len(gather(first, 10)) == 10
    first.commit({(topic, 0): 4})
    first.close()
    second = broker.consumer(topic)
    assert [record.offset for record in gather(second, 6)] == [4, 5, 6, 7, 8, 9]
    second.close()


def test_a_second_member_takes_its_share_after_the_first_let_go(broker: Broker) -> None:
    topic = broker.topic(partitions=4)
    publish(broker, *numbered(topic, 40))
    first, revoked = broker.consumer(topic), []
    seen: dict[Partition, int] = {}

    def on_revoked(partitions: object) -> None:
        revoked.append(partitions)
        first.commit({part: seen[part] for part in partitions})  # type: ignore[attr-defined]

    first.listen(on_revoked, pytest.fail)
    for record in gather(first, 40):
        seen[(record.topic, record.partition)] = record.offset + 1
    assert revoked == []
    second = broker.consumer(topic)
    stop = threading.Event()
    thread = threading.Thread(target=pump, args=[stop, second])
    thread.start()
    try:
        eventually(lambda: first.poll(100, 0.05) or len(revoked) > 0)
    finally:
        stop.set()
        thread.join()
    assert len(revoked[0]) == 2
    publish(broker, *numbered(topic, 40, start=40))
    later: list[Record] = []
    other: list[Record] = []
    end = time.monotonic() + PATIENCE
    while len(later + other) < 40 and time.monotonic() < end:
        later += first.poll(100, 0.05)
        other += second.poll(100, 0.05)
    later += first.poll(100, 0.5)
    other += second.poll(100, 0.5)
    # What was committed while being revoked does not come again, and nothing comes to both.
    assert keys(later + other) == list(range(40, 80))
    assert {record.partition for record in other} == {part for _, part in revoked[0]}
    first.close()
    second.close()


def test_a_commit_for_a_partition_of_another_is_ignored(broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    publish(broker, *numbered(topic, 20))
    first = broker.consumer(topic)
    count = len(gather(first, 20))
    assert count == 20
    first.close()
    second = broker.consumer(topic)
    third = broker.consumer(topic)
    stop = threading.Event()
    thread = threading.Thread(target=pump, args=[stop, third])
    thread.start()
    try:
        mine: set[int] = set()
        eventually(lambda: mine.update(part for _, part in _held(second)) or len(_held(second)) == 1)
        (held,) = _held(second)
        other = (topic, 1 - held[1])
        second.commit({other: 20})
    finally:
        stop.set()
        thread.join()
    second.close()
    third.close()
    fourth = broker.consumer(topic)
    assert keys(gather(fourth, 20)) == list(range(20))
    fourth.close()


def _held(consumer: Consumer) -> set[Partition]:
    consumer.poll(0, 0.05)
    return set(consumer.lag())


def test_closing_lets_go_and_says_so(broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    publish(broker, *numbered(topic, 10))
    first, revoked = broker.consumer(topic), []
    first.listen(revoked.append, pytest.fail)
    gather(first, 10)
    first.close()
    assert revoked == [{(topic, 0), (topic, 1)}]
    second = broker.consumer(topic)
    assert len(gather(second, 10)) == 10
    second.close()


def test_lag_is_what_is_left_to_poll(broker: Broker) -> None:
    topic = broker.topic()
    publish(broker, *numbered(topic, 10))
    consumer = broker.consumer(topic)
    taken: list[Record] = []
    eventually(lambda: taken.extend(consumer.poll(4, 0.1)) or taken)
    assert consumer.lag() == {(topic, 0): 10 - len(taken)}
    consumer.poll(0, 0.05)
    assert consumer.lag() == {(topic, 0): 10 - len(taken)}
    consumer.close()


def test_one_message_too_large_is_named_and_the_others_arrive(broker: Broker) -> None:
    topic = broker.topic()
    producer = broker.producer()
    # Random, so that no compression makes it small.
    huge = Message(topic, b"huge", random.Random(7).randbytes(300 * KIB))
    with pytest.raises(MessageTooLarge) as caught:
        producer.publish([*numbered(topic, 5), huge, *numbered(topic, 5, start=5)])
    assert caught.value.messages == (huge,)
    assert "huge" in str(caught.value)
    producer.publish([Message(topic, b"10", b"after")])
    producer.close()
    consumer = broker.consumer(topic)
    assert set(keys(gather(consumer, 11))) == set(range(11))
    consumer.close()


def test_a_missing_topic_is_said_at_once(broker: Broker) -> None:
    with pytest.raises(ConfigurationError, match=r"no topic test-missing.*sandcrawler setup"):
        broker.consumer("test-missing")
    producer = broker.producer()
    with pytest.raises(ConfigurationError, match=r"no topic test-missing.*sandcrawler setup"):
        producer.publish([Message("test-missing", b"k", b"v")])
    producer.close()


def test_several_threads_may_publish(broker: Broker) -> None:
    topic = broker.topic()
    producer = broker.producer()
    threads = [
        threading.Thread(target=producer.publish, args=[numbered(topic, 25, start=25 * number)]) for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    consumer = broker.consumer(topic)
    assert keys(gather(consumer, 100)) == list(range(100))
    consumer.close()
    producer.close()
