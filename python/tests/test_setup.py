"""Topics, tables and bucket: made once, checked always, and every fault named with what to do."""

import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import psycopg
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from sandcrawler import setup, topics
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.names import Topic
from sandcrawler.persist import blobs, migrations
from sandcrawler.persist.tables import TABLES
from tests.contract.brokers import eventually

Make = Callable[..., Config]


@pytest.fixture
def own_topics(monkeypatch: pytest.MonkeyPatch, stack_config: Make) -> Iterator[AdminClient]:
    """Topics under a name of this test's own, gone afterwards."""
    mark = uuid.uuid4().hex[:8]
    monkeypatch.setattr(Topic, "named", lambda topic, env: f"test-{mark}-{env}.{topic.value}")
    admin = AdminClient({"bootstrap.servers": stack_config().kafka_brokers})
    yield admin
    there = [name for name in admin.list_topics(timeout=30).topics if name.startswith(f"test-{mark}-")]
    for gone in admin.delete_topics(there).values() if there else ():
        gone.result(60)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port on which nobody listens, nor can as long as the test runs."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


def test_everything_is_made_once(own_topics: AdminClient, stack_config: Make) -> None:
    config = stack_config(kafka_partitions=2, s3_bucket=f"test-{uuid.uuid4().hex}")
    with pytest.raises(ConfigurationError) as missing:
        setup.check(config)
    lines = str(missing.value).splitlines()
    assert len(lines) == len(Topic) + len(list(migrations.folder().glob("*.sql"))) + 1
    assert all("missing: sandcrawler setup" in line for line in lines)

    first = setup.setup(config)
    assert all(action.made for action in first)
    assert {action.part for action in first} == {"topic", "migration", "bucket"}
    setup.check(config)
    again = setup.setup(config)
    assert [(action.part, action.name) for action in again] == [(action.part, action.name) for action in first]
    assert not any(action.made for action in again)

    with psycopg.connect(config.postgres_url or "") as connection:
        assert all(connection.execute(f"SELECT count(*) FROM {table.name}").fetchone() == (0,) for table in TABLES)
    blobs.client(config).delete_bucket(Bucket=config.s3_bucket)


class Late(AdminClient):
    """A broker that hears of new topics late."""

    unheard: ClassVar[dict[str, int]] = {}

    def create_topics(self, new_topics: list[NewTopic], **more: Any) -> Any:
        for new in new_topics:
            self.unheard.setdefault(new.topic, 3)
        return super().create_topics(new_topics, **more)

    def list_topics(self, *given: Any, **more: Any) -> Any:
        told = super().list_topics(*given, **more)
        for name, looks in self.unheard.items():
            self.unheard[name] = looks - 1
            if looks > 0:
                told.topics.pop(name, None)
        return told


def test_topics_that_the_broker_shows_late_are_waited_for(
    own_topics: AdminClient, stack_config: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "AdminClient", Late)
    assert all(action.made for action in setup.setup(stack_config(kafka_partitions=1), ["topic"]))
    Late.unheard = dict.fromkeys(Late.unheard, 10**6)
    monkeypatch.setattr(topics, "SECONDS", 1.0)
    with pytest.raises(Unavailable, match="shows none"):
        topics.make(stack_config(kafka_partitions=1))


def test_several_at_once(own_topics: AdminClient, stack_config: Make) -> None:
    config = stack_config(kafka_partitions=1)
    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append([action.made for action in setup.setup(config)])
        except Exception as error:  # noqa: BLE001  (looked at below)
            outcomes.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome for outcome in outcomes if not isinstance(outcome, list)] == []


def test_a_topic_with_other_settings_is_named_and_not_used(own_topics: AdminClient, stack_config: Make) -> None:
    config = stack_config(kafka_partitions=3)
    name = Topic.HTML_TEIXML.named(config.env)
    wrong = {"cleanup.policy": "delete", "max.message.bytes": "1000000", "compression.type": "zstd"}
    own_topics.create_topics([NewTopic(name, 1, 1, config=wrong)])[name].result(60)
    eventually(lambda: name in own_topics.list_topics(timeout=30).topics)
    with pytest.raises(ConfigurationError) as error:
        setup.setup(config, ["topic"])
    lines = str(error.value).splitlines()
    assert len(lines) == 3
    assert all(f"topic {name}: " in line and config.kafka_brokers in line for line in lines if "partitions" not in line)
    text = str(error.value)
    assert "partitions is 1, should be 3 or more" in text
    assert "cleanup.policy is delete, should be compact: kafka-configs.sh" in text
    assert "max.message.bytes is 1000000, should be 34603008" in text
    assert "compression.type" not in text


def test_more_partitions_than_asked_for_are_fine(own_topics: AdminClient, stack_config: Make) -> None:
    setup.setup(stack_config(kafka_partitions=3), ["topic"])
    setup.check(stack_config(kafka_partitions=2), ["topic"])


def test_more_replicas_than_brokers_are_the_operators_fault(own_topics: AdminClient, stack_config: Make) -> None:
    with pytest.raises(ConfigurationError, match="SANDCRAWLER_KAFKA_REPLICATION"):
        setup.setup(stack_config(kafka_replication=3), ["topic"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("ALTER TABLE html_meta DROP COLUMN scope", "html_meta, column scope is missing, should be text"),
        ("ALTER TABLE cdx ALTER warc_offset TYPE INT", "cdx, column warc_offset is int4, should be int8"),
        ("DROP TABLE pdf_meta", "pdf_meta, column sha1hex is missing"),
        ("DELETE FROM _yoyo_migration", "migration 0001-tables is missing: sandcrawler setup"),
    ],
)
def test_a_table_that_was_changed_is_named(stack_config: Make, change: str, says: str) -> None:
    config = stack_config()
    setup.setup(config, ["migration"])
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        connection.execute(change.encode())
    with pytest.raises(ConfigurationError, match=says):
        setup.check(config, ["migration"])


def test_tables_of_someone_else_are_not_touched(stack_config: Make) -> None:
    config = stack_config()
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        connection.execute("CREATE TABLE cdx (theirs INT)")
    with pytest.raises(ConfigurationError, match="cdx"):
        setup.setup(config, ["migration"])
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        assert connection.execute("SELECT to_regclass('html_meta')").fetchone() == (None,)


@pytest.mark.parametrize(
    ("part", "setting", "url"),
    [
        ("topic", "kafka_brokers", "127.0.0.1:{}"),
        ("migration", "postgres_url", "postgresql://me@127.0.0.1:{}/db"),
        ("bucket", "s3_url", "http://127.0.0.1:{}"),
    ],
)
def test_a_server_that_is_not_there(
    part: setup.Part, setting: str, url: str, unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "SECONDS", 1.0)
    monkeypatch.setattr(blobs, "ATTEMPTS", 1)
    config = Config(**{setting: url.format(unused_port)})
    for function in (setup.setup, setup.check):
        with pytest.raises(Unavailable, match=f"127.0.0.1:{unused_port}.*sandcrawler ps"):
            function(config, [part])
    with pytest.raises(ConfigurationError, match=f"SANDCRAWLER_{setting.upper()} is not set.*sandcrawler up"):
        setup.check(Config(), [part])
