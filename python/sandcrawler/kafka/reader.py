"""Reading a topic as it stands, up to its present end, and what a group has not read of it yet.

Neither joins a group, so neither waits for a member nor takes a partition from one.
"""

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from sandcrawler.errors import Unavailable
from sandcrawler.kafka.client import check, common, missing, raised
from sandcrawler.kafka.consumer import record_of
from sandcrawler.kafka.notes import Notes
from sandcrawler.runtime.records import Partition, Record

# Seconds that a broker gets for one answer, and without any record or end of a partition.
ANSWER_SECONDS = 10.0
SILENCE_SECONDS = 30.0
BATCH = 500


def scan(brokers: str, group: str, topic: str, message_bytes: int) -> Iterator[Record]:
    """Every record of the topic up to its end of now, in order within each partition. Commits nothing.

    `group` is only a name that librdkafka asks for. Raises Unavailable, and ConfigurationError for a missing topic.
    """
    client = _client(brokers, group, message_bytes)
    try:
        check(client, brokers, [topic])
        ends = {part: marks for part, marks in _marks(client, topic).items() if marks[0] < marks[1]}
        client.assign([TopicPartition(*part, low) for part, (low, _) in ends.items()])
        patience = time.monotonic() + SILENCE_SECONDS
        while ends:
            answers = client.consume(BATCH, 0.2)
            for answer in answers:
                part = (str(answer.topic()), int(answer.partition() or 0))
                error, offset = answer.error(), answer.offset() or 0
                if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                    raise raised(error, topic)
                if part in ends and error is None and offset < ends[part][1]:
                    yield record_of(answer)
                if part in ends and (error is not None or offset + 1 >= ends[part][1]):
                    del ends[part]
            if answers:
                patience = time.monotonic() + SILENCE_SECONDS
            elif time.monotonic() > patience:
                raise Unavailable(f"Kafka: no answer for {SILENCE_SECONDS:.0f} s while {topic} was read")
    finally:
        client.close()


def unread(brokers: str, group: str, topic: str, message_bytes: int) -> dict[Partition, int]:
    """The ends of those partitions of which the group has not committed all. Errors as in `scan`."""
    client = _client(brokers, group, message_bytes)
    try:
        check(client, brokers, [topic])
        marks = _marks(client, topic)
        stored = client.committed([TopicPartition(*part) for part in marks], timeout=ANSWER_SECONDS)
        # Without a commit the offset is negative; what retention has deleted counts as read.
        read = {(part.topic, part.partition): part.offset for part in stored}
        return {part: high for part, (low, high) in marks.items() if max(low, read.get(part, low)) < high}
    except KafkaException as error:
        raise raised(error.args[0], topic) from error
    finally:
        client.close()


def _client(brokers: str, group: str, message_bytes: int) -> Consumer:
    notes = Notes(group)
    return Consumer(
        {
            **common(brokers, message_bytes, notes),
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
        }
    )


def _marks(client: Consumer, topic: str) -> dict[Partition, tuple[int, int]]:
    """The first offset and the end of each partition."""
    try:
        found = client.list_topics(topic, timeout=ANSWER_SECONDS).topics.get(topic)
        if found is None or found.error is not None:
            raise missing(topic)
        marks = {}
        for number in found.partitions:
            answer = client.get_watermark_offsets(TopicPartition(topic, number), timeout=ANSWER_SECONDS)
            if answer is None:
                raise Unavailable(f"Kafka: no answer about {topic}, partition {number}")
            marks[(topic, number)] = answer
    except KafkaException as error:
        raise raised(error.args[0], topic) from error
    else:
        return marks
