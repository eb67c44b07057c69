"""Dead letters sent back, and requests asked again, on the real servers."""

import time
from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest

from sandcrawler import again
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.kafka import open_consumer, open_producer
from sandcrawler.names import Topic
from sandcrawler.runtime import Message
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
    patience = time.monotonic() + 30
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
    assert again.replay(config) == 0, "what was sent back is not sent again"


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
