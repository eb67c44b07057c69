"""A topic as it stands, whoever else reads it."""

from typing import Any

import pytest

from sandcrawler.errors import ConfigurationError
from sandcrawler.kafka import scan, unread
from sandcrawler.runtime import Message
from tests.contract.brokers import RealKafka, gather

pytestmark = pytest.mark.stack


@pytest.fixture
def kafka(stack: Any) -> RealKafka:
    return RealKafka(stack.kafka_brokers)


def publish(kafka: RealKafka, topic: str, numbers: range) -> None:
    producer = kafka.producer()
    producer.publish([Message(topic, b"%d" % number, b"value", (("h", b"1"),)) for number in numbers])
    producer.close()


def test_a_scan_gives_every_record_although_a_member_holds_the_partitions(kafka: RealKafka) -> None:
    topic = kafka.topic(partitions=4)  # one is likely to stay empty
    publish(kafka, topic, range(1200))
    member = kafka.consumer(topic)
    gather(member, 1200)
    records = list(scan(kafka.config, topic))
    assert sorted(int(record.key or b"") for record in records) == list(range(1200))
    for partition in range(4):
        offsets = [record.offset for record in records if record.partition == partition]
        assert offsets == list(range(len(offsets)))
    assert records[0].headers == (("h", b"1"),)
    member.close()


def test_a_scan_of_an_empty_or_a_missing_topic(kafka: RealKafka) -> None:
    assert list(scan(kafka.config, kafka.topic(partitions=2))) == []
    with pytest.raises(ConfigurationError, match="sandcrawler setup"):
        list(scan(kafka.config, "test-missing"))


def test_unread_is_what_the_group_has_not_committed(kafka: RealKafka) -> None:
    topic = kafka.topic(partitions=2)
    assert unread(kafka.config, "contract", topic) == {}
    publish(kafka, topic, range(100))
    ends = unread(kafka.config, "contract", topic)
    assert sum(ends.values()) == 100
    consumer = kafka.consumer(topic)
    gather(consumer, 100)
    consumer.commit({(topic, 0): ends[topic, 0], (topic, 1): ends[topic, 1] - 1})
    consumer.close()
    assert unread(kafka.config, "contract", topic) == {(topic, 1): ends[topic, 1]}
