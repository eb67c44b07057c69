"""The real servers: what starts, stays, stops, and comes back with its data."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
import psutil
import psycopg
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic  # type: ignore[attr-defined]

from sandcrawler import stack as local
from sandcrawler.config import Config
from sandcrawler.errors import Unavailable
from sandcrawler.stack import Addresses, jars, kafka

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BODY = os.urandom(1 << 20)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not pytest's own temporary folder, which is closed to the account that PostgreSQL runs as under root."""
    with TemporaryDirectory(prefix="sandcrawler-test-") as name:
        yield Path(name) / "with a space"
        local.down(Path(name) / "with a space")


@contextmanager
def bucket(addresses: Addresses, **options: Any) -> Iterator["S3Client"]:
    keys = {"aws_access_key_id": addresses.s3_access_key, "aws_secret_access_key": addresses.s3_secret_key} | options
    client = boto3.client("s3", endpoint_url=addresses.s3_url, region_name="us-east-1", **keys)
    yield client
    client.close()


def put(addresses: Addresses) -> None:
    """One value in each server."""
    admin = AdminClient({"bootstrap.servers": addresses.kafka_brokers})
    admin.create_topics([NewTopic("kept", 1, 1, config={"max.message.bytes": str(33 << 20)})])["kept"].result(20)
    producer = Producer({"bootstrap.servers": addresses.kafka_brokers, "message.max.bytes": 33 << 20})
    producer.produce("kept", b"x" * (32 << 20))
    assert producer.flush(30) == 0
    with psycopg.connect(addresses.postgres_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'größer'::text AS word")
    with bucket(addresses) as s3:
        s3.create_bucket(Bucket="kept")
        s3.put_object(Bucket="kept", Key="html/ab/cd/x", Body=BODY)


def kept(addresses: Addresses) -> tuple[int, str, bytes]:
    """Those values again."""
    consumer = Consumer(
        {"bootstrap.servers": addresses.kafka_brokers, "group.id": "kept", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["kept"])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.error() is None
    with psycopg.connect(addresses.postgres_url) as connection:
        row = connection.execute("SELECT word FROM kept").fetchone()
    assert row is not None
    with bucket(addresses) as s3:
        return len(message.value() or b""), row[0], s3.get_object(Bucket="kept", Key="html/ab/cd/x")["Body"].read()


@pytest.mark.stack
def test_data_survive_down_and_a_crash_beside_another_stack(folder: Path, stack: Addresses) -> None:
    addresses = local.up(directory=folder)
    assert not {addresses.kafka_brokers, addresses.postgres_url, addresses.s3_url} & {
        stack.kafka_brokers,
        stack.postgres_url,
        stack.s3_url,
    }
    put(addresses)
    local.down(folder)
    assert local.up(directory=folder) == addresses
    assert kept(addresses) == (32 << 20, "größer", BODY)

    killed = [psutil.Process(row.pid or 0) for row in local.ps(directory=folder)]
    for process in killed:
        process.kill()
    psutil.wait_procs(killed, timeout=30)  # a large process takes a moment to die
    assert [row.state for row in local.ps(directory=folder)] == ["stopped"] * 3
    assert local.up(directory=folder) == addresses
    with psycopg.connect(addresses.postgres_url) as connection:
        assert connection.execute("SELECT word FROM kept").fetchone() == ("größer",)
    with bucket(addresses) as s3:
        assert s3.get_object(Bucket="kept", Key="html/ab/cd/x")["Body"].read() == BODY
    local.down(folder)
    with bucket(stack) as s3:
        s3.list_buckets()  # the neighbour did not notice


@pytest.mark.stack
def test_the_command_outlives_ctrl_c_and_cleans_up(folder: Path) -> None:
    command = [sys.executable, "-m", "sandcrawler", "up", "--dir", str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr
    for line in process.stderr:
        if "starting" in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert [row.state for row in local.ps(directory=folder)] == ["stopped"] * 3
    assert not (folder / "stack.toml").exists()


@pytest.mark.stack
def test_servers_listen_on_loopback_only(stack: Addresses) -> None:
    ours = {urlsplit(url).port for url in (f"//{stack.kafka_brokers}", stack.postgres_url, stack.s3_url)}
    listening = [(c.pid, *c.laddr) for c in psutil.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    pids = {pid for pid, _address, port in listening if port in ours}
    assert len(pids) == 3
    addresses = {str(address).removeprefix("::ffff:") for pid, address, _port in listening if pid in pids}
    assert addresses == {"127.0.0.1"}


@pytest.mark.stack
def test_the_database_and_the_bucket_ask_who_is_there(stack: Addresses) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(stack.postgres_url.replace("sandcrawler:", "sandcrawler:not-", 1), connect_timeout=5)
    with (
        bucket(stack, aws_secret_access_key="wrong") as s3,
        pytest.raises(s3.exceptions.ClientError, match="Signature"),
    ):
        s3.list_buckets()


@pytest.mark.stack
def test_topics_do_not_come_by_themselves(stack: Addresses) -> None:
    admin = AdminClient({"bootstrap.servers": stack.kafka_brokers})
    broker = admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, "1")])
    settings = next(iter(broker.values())).result(20)
    assert settings["auto.create.topics.enable"].value == "false"
    assert int(settings["message.max.bytes"].value) == kafka.LARGEST_MESSAGE


@pytest.mark.stack
def test_a_test_gets_a_database_and_a_bucket_of_its_own(stack_config: Callable[..., Config], s3: "S3Client") -> None:
    config = stack_config(env="qa")
    assert config.env == "qa"
    assert config.postgres_url
    with psycopg.connect(config.postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
    assert not s3.list_objects_v2(Bucket=config.s3_bucket).get("Contents")


def test_missing_java_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka.importlib.util, "find_spec", lambda _name: None)  # type: ignore[attr-defined]
    own = Config(postgres_url="postgresql://me@db.example/papers", s3_url="http://s3.example:1")
    with pytest.raises(Unavailable, match=r"no Java for Kafka: pip install 'sandcrawler\[stack\]'"):
        local.up(own, folder)


@pytest.mark.stack
def test_a_java_that_dies_is_quoted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "HEAP", ("-XX:NoSuchOption",))
    (jars.folder()).mkdir(parents=True, exist_ok=True)
    own = Config(postgres_url="postgresql://me@db.example/papers", s3_url="http://s3.example:1")
    with pytest.raises(Unavailable, match=r"(.|\n)*NoSuchOption"):
        local.up(own, folder)
