"""Kafka behind the runtime's two protocols, by confluent-kafka (librdkafka).

`open_consumer` and `open_producer` are what workers see; `scan` and `unread` look at a topic without joining a group.
"""

from collections.abc import Iterator, Sequence

from sandcrawler import names
from sandcrawler.config import Config
from sandcrawler.kafka import reader
from sandcrawler.kafka.client import Setting, brokers_of
from sandcrawler.kafka.consumer import KafkaConsumer
from sandcrawler.kafka.producer import KafkaProducer
from sandcrawler.runtime.records import Consumer, Partition, Producer, Record

__all__ = ["open_consumer", "open_producer", "scan", "unread"]


def open_consumer(config: Config, worker: str, topics: Sequence[str], **settings: Setting) -> Consumer:
    """A member of the worker's group that reads these topics (whole names).

    `settings` are librdkafka's, over ours, with `_` for `.`: `max_poll_interval_ms=7000`. Raises ConfigurationError
    where a topic is missing or no broker is configured, Unavailable where none answers.
    """
    return KafkaConsumer(brokers_of(config), _group(config, worker), topics, config.message_bytes, settings)


def open_producer(config: Config, **settings: Setting) -> Producer:
    """A producer for any topic; `settings` and errors as in `open_consumer`."""
    return KafkaProducer(brokers_of(config), config.message_bytes, settings)


def scan(config: Config, topic: str) -> Iterator[Record]:
    """Every record of the topic (whole name) up to its present end. Errors as in `open_consumer`."""
    return reader.scan(brokers_of(config), _group(config, "scan"), topic, config.message_bytes)


def unread(config: Config, worker: str, topic: str) -> dict[Partition, int]:
    """The present ends of the topic's partitions that the worker's group has not read to their end."""
    return reader.unread(brokers_of(config), _group(config, worker), topic, config.message_bytes)


def _group(config: Config, worker: str) -> str:
    return names.group(worker, config.env) + config.kafka_group_suffix
