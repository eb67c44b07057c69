"""The topics of `kafka/topics.toml` as values; making those that are missing, naming those that differ."""

import time
import tomllib
from collections.abc import Iterator, Mapping, Set
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic  # type: ignore[attr-defined]  # not in its __all__

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.names import Topic, shared

# For one answer of the broker, and between two looks for what it has made.
SECONDS, LOOK_EVERY = 15.0, 0.1

OPERATOR_CODES = frozenset(
    {
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.INVALID_PARTITIONS,
        KafkaError.INVALID_CONFIG,
        KafkaError.POLICY_VIOLATION,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    }
)


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic as it should be. `partitions`: at least so many; None means the setting kafka_partitions."""

    topic: Topic
    settings: Mapping[str, str]
    partitions: int | None = None


def specs() -> tuple[TopicSpec, ...]:
    """Every topic of kafka/topics.toml, in its order."""
    table = tomllib.loads(shared("kafka/topics.toml").read_text("utf-8"))
    return tuple(TopicSpec(Topic(name), spec["settings"], spec.get("partitions")) for name, spec in table.items())


def make(config: Config) -> dict[str, bool]:
    """Every topic's whole name, and whether it was made now."""
    with _asking(config) as admin:
        there = admin.list_topics(timeout=SECONDS).topics
        missing = [spec for spec in specs() if spec.topic.named(config.env) not in there]
        if missing:
            waiting = admin.create_topics([_new(spec, config) for spec in missing], operation_timeout=SECONDS)
            for made in waiting.values():
                _await_creation(made)
            _await_sight(admin, {spec.topic.named(config.env) for spec in missing}, config)
        absent = {spec.topic for spec in missing}
        return {spec.topic.named(config.env): spec.topic in absent for spec in specs()}


def differences(config: Config) -> list[str]:
    """What is not as it should be, a line each: topic, setting, what it is, what it should be, the command."""
    with _asking(config) as admin:
        there = admin.list_topics(timeout=SECONDS).topics
        named = {spec.topic.named(config.env): spec for spec in specs()}
        lines = [f"topic {name} is missing: sandcrawler setup" for name in named if name not in there]
        present = [name for name in named if name in there]
        for name in present:
            is_, least = len(there[name].partitions), named[name].partitions or config.kafka_partitions
            if is_ < least:
                lines.append(
                    f"topic {name}: partitions is {is_}, should be {least} or more: lower SANDCRAWLER_KAFKA_PARTITIONS,"
                    f" or kafka-topics.sh --bootstrap-server {config.kafka_brokers} --alter --topic {name}"
                    f" --partitions {least}"
                )
        resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in present]
        for resource, answer in admin.describe_configs(resources).items() if resources else ():
            settings = answer.result(SECONDS)
            for setting, wanted in named[resource.name].settings.items():
                is_value = settings[setting].value if setting in settings else None
                if is_value != wanted:
                    lines.append(_difference(config, resource.name, setting, is_value, wanted))
        return lines


@contextmanager
def _asking(config: Config) -> Iterator[AdminClient]:
    """An admin client; while it is asked, errors of the broker become ours."""
    if not config.kafka_brokers:
        raise ConfigurationError("SANDCRAWLER_KAFKA_BROKERS is not set: name brokers, or start one: sandcrawler up")
    # Without log_level the library itself writes a line to stderr for every refused connection.
    admin = AdminClient({"bootstrap.servers": config.kafka_brokers, "socket.timeout.ms": 10_000, "log_level": 0})
    try:
        yield admin
    except KafkaException as error:
        fault = error.args[0]
        where = f"Kafka at {config.kafka_brokers}: {fault.str()}"
        if fault.code() in OPERATOR_CODES:
            advice = "check SANDCRAWLER_KAFKA_REPLICATION, SANDCRAWLER_KAFKA_PARTITIONS and the permissions"
            raise ConfigurationError(f"{where}: {advice}") from error
        raise Unavailable(f"{where}: is it running (`sandcrawler ps`, `sandcrawler up`)?") from error


def _difference(config: Config, name: str, setting: str, is_value: Any, wanted: str) -> str:
    return (
        f"topic {name}: {setting} is {is_value}, should be {wanted}: kafka-configs.sh --bootstrap-server"
        f" {config.kafka_brokers} --alter --entity-type topics --entity-name {name} --add-config {setting}={wanted}"
    )


def _new(spec: TopicSpec, config: Config) -> NewTopic:
    return NewTopic(
        spec.topic.named(config.env),
        num_partitions=spec.partitions or config.kafka_partitions,
        replication_factor=config.kafka_replication,
        config=dict(spec.settings),
    )


def _await_sight(admin: AdminClient, names: Set[str], config: Config) -> None:
    """Until these topics are seen: a busy broker hears of what the controller has made a moment later."""
    patience = time.monotonic() + SECONDS
    while unseen := names - admin.list_topics(timeout=SECONDS).topics.keys():
        if time.monotonic() > patience:
            raise Unavailable(f"Kafka at {config.kafka_brokers} has made {', '.join(sorted(unseen))}, but shows none")
        time.sleep(LOOK_EVERY)


def _await_creation(made: "Future[None]") -> None:
    try:
        made.result(SECONDS)
    except KafkaException as error:
        # Another process was faster; the check that follows compares what it made.
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
