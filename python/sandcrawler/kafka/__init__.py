"""Kafka behind the runtime's two protocols, by confluent-kafka (librdkafka).

`open_consumer` and `open_producer` are all that the rest of the package sees.
"""

from collections.abc import Sequence

from sandcrawler import names
from sandcrawler.config import Config
from sandcrawler.kafka.client import Setting, brokers_of
from sandcrawler.kafka.consumer import KafkaConsumer
from sandcrawler.kafka.producer import KafkaProducer
from sandcrawler.runtime.records import Consumer, Producer

__all__ = ["open_consumer", "open_producer"]


def open_consumer(config: Config, worker: str, topics: Sequence[str], **settings: Setting) -> Consumer:
    """A member of the worker's group that reads these topics (whole names).

    `settings` are librdkafka's, over ours, with `_` for `.`: `max_poll_interval_ms=7000`. Raises ConfigurationError
    where a topic is missing or no broker is configured, Unavailable where none answers.
    """
    group = names.group(worker, config.env) + config.kafka_group_suffix
    return KafkaConsumer(brokers_of(config), group, topics, config.message_bytes, settings)


def open_producer(config: Config, **settings: Setting) -> Producer:
    """A producer for any topic; `settings` and errors as in `open_consumer`."""
    return KafkaProducer(brokers_of(config), config.message_bytes, settings)
