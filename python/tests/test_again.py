"""Dead letters sent back, and requests asked again, on the real servers."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest

from sandcrawler import again
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.kafka import open_consumer, open_producer, scan
from sandcrawler.names import REPLAYED, Topic
from sandcrawler.runtime import Message, Record
from sandcrawler.setup import setup
from sandcrawler.status import Status
from sandcrawler.wire import loads
from tests.pipelines import forget_topics

MakeConfig = Callable[..., Config]


@pytest.fixture
def config(stack_config: MakeConfig) -> Config:
    made = stack_config(env="qa", kafka_partitions=2)
    forget_topics(made)
    setup(made)
    return made


def received(config: Config, topic: Topic, count: int) -> list[bytes | None]:
    """The topic's values from its beginning, once it has so many."""
    consumer = open_consumer(config, f"test-{topic}", [topic.named(config.env)])
    values: list[bytes | None] = []
    patience = time.monotonic() + 120
    while len(values) < count and time.monotonic() < patience:
        values += [record.value for record in consumer.poll(100, 0.2)]
    consumer.close()
    return values


def test_dead_letters_are_listed_and_go_back_where_they_came_from(config: Config) -> None:
    origin = Topic.REQUESTS_BULK.named(config.env)
    headers = (
        ("__connect.errors.topic", origin.encode()),
        ("__connect.errors.partition", b"1"),
        ("__connect.errors.offset", b"41"),
        ("__connect.errors.connector.name", b"ingest"),
        ("__connect.errors.exception.message", b"not JSON"),
    )
    producer = open_producer(config)
    producer.publish([Message(Topic.DEAD_LETTERS.named(config.env), b"key", b"{\xff", headers)])
    producer.close()
    (letter,) = again.dead_letters(config)
    assert (letter.topic, letter.partition, letter.offset) == (origin, 1, 41)
    assert (letter.worker, letter.error, letter.key, letter.value) == ("ingest", "not JSON", b"key", b"{\xff")
    assert again.replay(config) == 1
    assert received(config, Topic.REQUESTS_BULK, 1) == [b"{\xff"]
    (sent,) = scan(config, Topic.REQUESTS_BULK.named(config.env))
    assert sent.headers == ((REPLAYED, b"1"),), "so that nothing half done before is taken for done"
    assert again.replay(config) == 0, "what was sent back is not sent again"


@pytest.mark.parametrize("text", [b"", b"-1", b"x", b"\xff", "\u0661\u00b2".encode(), b"9" * 5000])
def test_a_letter_with_strange_headers_is_listed_all_the_same(text: bytes) -> None:
    headers = (("__connect.errors.offset", text), ("__connect.errors.partition", b"3"))
    letter = again._letter(Record("dead-letters", 0, 0, None, None, headers))
    assert (letter.topic, letter.partition, letter.offset) == ("", 3, -1)


@contextmanager
def member(config: Config, worker: str, killed: bool) -> Iterator[None]:
    """Another process that holds all partitions of the dead letters; killed at once, or at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", MEMBER, config.kafka_brokers or "", config.kafka_group_suffix, worker],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b"held\n" in process.stdout  # after its log lines
    if killed:
        process.kill()
    yield
    process.kill()
    process.wait()


MEMBER = """
import sys, time
from sandcrawler.config import Config
from sandcrawler.kafka import open_consumer
config = Config(env="qa", kafka_brokers=sys.argv[1], kafka_group_suffix=sys.argv[2])
consumer = open_consumer(config, sys.argv[3], ["sandcrawler-qa.dead-letters"])
while not consumer.poll(1, 0.1):
    pass
print("held", flush=True)
while True:
    consumer.poll(0, 0.1)
    time.sleep(0.1)
"""


def publish_letters(config: Config, count: int) -> None:
    headers = (("__connect.errors.topic", Topic.REQUESTS_BULK.named(config.env).encode()),)
    producer = open_producer(config)
    producer.publish([Message(Topic.DEAD_LETTERS.named(config.env), b"%d" % n, b"{", headers) for n in range(count)])
    producer.close()


@pytest.mark.parametrize("worker", ["dead-letters-list", "dead-letters-replay", "scan"])
def test_letters_are_listed_although_another_holds_them(config: Config, worker: str) -> None:
    publish_letters(config, 40)
    with member(config, worker, killed=True):
        assert len(list(again.dead_letters(config))) == 40


def test_letters_of_a_replay_that_was_killed_are_sent_back_by_the_next(config: Config) -> None:
    publish_letters(config, 40)
    with member(config, again.REPLAY, killed=True):
        assert again.replay(config) == 40
    assert again.replay(config) == 0


def test_a_replay_that_cannot_get_the_letters_says_so(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "OTHERS_SECONDS", 4.0)
    publish_letters(config, 5)
    with member(config, again.REPLAY, killed=False), pytest.raises(Unavailable, match=r"another.*replay"):
        again.replay(config)


def test_requests_that_ended_with_a_status_are_asked_again(config: Config) -> None:
    with psycopg.connect(config.postgres_url or "") as database:
        rows = [("html", "https://a.example.org/1", "timeout"), ("html", "https://a.example.org/2", "success")]
        for kind, url, status in rows:
            database.execute(
                "INSERT INTO ingest_file_result (ingest_type, base_url, updated, hit, status)"
                " VALUES (%s, %s, now() - interval '2 days', false, %s)",
                (kind, url, status),
            )
        database.execute(
            "INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, ingest_request_source,"
            " created, request) VALUES ('doi', '10.5555/1', 'html', 'https://a.example.org/1', 'me', now(),"
            ' \'{"ingest_type": "html", "base_url": "https://a.example.org/1", "rel": "publisher"}\')'
        )
    assert again.requeue(config, Status.TIMEOUT, timedelta(days=3), "daily") == 0, "not old enough"
    (request,) = again.failed(config, Status.TIMEOUT, timedelta(days=1))
    assert request == {"ingest_type": "html", "base_url": "https://a.example.org/1", "rel": "publisher"}
    assert again.requeue(config, Status.TIMEOUT, timedelta(days=1), "daily") == 1
    (value,) = received(config, Topic.REQUESTS_DAILY, 1)
    assert loads(value) == {"ingest_type": "html", "base_url": "https://a.example.org/1", "rel": "publisher"}


@pytest.mark.parametrize("text", ["", "7", "d7", "7y", "-1d", "1.5h"])
def test_an_age_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ConfigurationError):
        again.age(text)


def test_ages() -> None:
    assert again.age("90m") == timedelta(minutes=90)
    assert again.age(" 7d ") == timedelta(days=7)
