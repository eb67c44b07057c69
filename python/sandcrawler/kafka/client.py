"""What consumer and producer share: settings, the check that a broker answers, and errors turned into ours.

"The broker is down" is only an event to librdkafka, which reconnects for ever; here it is Unavailable after a bound.
"""

from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.kafka.notes import Notes

Setting = str | int | float | bool

# Seconds that a broker gets to answer when a client opens.
OPEN_SECONDS = 10.0

MISSING = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}  # noqa: SLF001
FORBIDDEN = {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED}


def brokers_of(config: Config) -> str:
    """The configured brokers."""
    if config.kafka_brokers is None:
        raise ConfigurationError(
            "no Kafka broker is known: start the local stack with `sandcrawler up`, or set SANDCRAWLER_KAFKA_BROKERS"
        )
    return config.kafka_brokers


def common(brokers: str, message_bytes: int, notes: Notes) -> dict[str, object]:
    """Settings of every client. No topic is created on the way: that is for `sandcrawler setup`."""
    return {
        "bootstrap.servers": brokers,
        "allow.auto.create.topics": False,
        # As much as the dead-letters topic takes; the broker has the last word on the others.
        "message.max.bytes": message_bytes + (2 << 20),
        "reconnect.backoff.max.ms": 2_000,
        "socket.keepalive.enable": True,
        # librdkafka's own words from warnings up: offsets out of range, among others, are said only there.
        "log_level": 4,
        "logger": notes,
        "error_cb": notes.error,
    }


def spelled(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Settings given as keywords, as librdkafka spells them."""
    return {name.replace("_", "."): value for name, value in settings.items()}


def check(client: Consumer | Producer, brokers: str, topics: Sequence[str] = (), seconds: float = OPEN_SECONDS) -> None:
    """The broker answers, and the topics are there."""
    try:
        found = client.list_topics(timeout=seconds).topics
    except KafkaException as error:
        raise Unavailable(f"no Kafka broker answers at {brokers}: {error.args[0].str()}") from error
    for topic in topics:
        if topic not in found or found[topic].error is not None:
            raise missing(topic)


def missing(topic: str | None) -> ConfigurationError:
    """The error of a topic that is not there."""
    return ConfigurationError(f"Kafka has no topic {topic}: run `sandcrawler setup`")


def raised(error: KafkaError, topic: str | None) -> Exception:
    """A broker's error as one of ours."""
    if error.code() in MISSING:
        return missing(topic)
    if error.code() in FORBIDDEN:
        return ConfigurationError(f"Kafka does not allow this user to use {topic}: {error.str()}")
    return Unavailable(f"Kafka: {error.str()} ({error.name()})")
