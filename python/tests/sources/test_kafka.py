"""Makers into a real broker, and the worker of release updates in the real loop on it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from sandcrawler.config import Config
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.kafka import open_producer, scan
from sandcrawler.names import REQUEST_TOPICS, ForeignTopic, Topic, request_key
from sandcrawler.runtime import Message, Record
from sandcrawler.setup import setup
from tests.contract.brokers import eventually
from tests.pipelines import forget_topics
from tests.sources.documents import CROSSREF, DOAJ, FATCAT
from tests.sources.repository import Repository, serving

MakeConfig = Callable[..., Config]
pytestmark = pytest.mark.stack
HOSTS = 7


@pytest.fixture
def config(stack_config: MakeConfig) -> Config:
    config = stack_config(env="qa", kafka_partitions=4)
    forget_topics(config)
    setup(config)
    return config


@pytest.fixture
def pipeline(config: Config, tmp_path: Path) -> Pipeline:
    return Pipeline(config, {"SANDCRAWLER_KAFKA_GROUP_SUFFIX": config.kafka_group_suffix}, tmp_path / "workers.log")


def source(pipeline: Pipeline, *words: str) -> tuple[int, list[dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, "-m", "sandcrawler", "source", *words], env=pipeline.environment, check=False,
        stdout=subprocess.PIPE, timeout=120,
    )  # fmt: skip
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def kept(config: Config, topic: Topic) -> list[Record]:
    return list(scan(config, topic.named(config.env)))


def lined(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def articles(count: int) -> list[dict[str, Any]]:
    """Articles on a few hosts, one with a word that is not ASCII."""
    link = {"type": "fulltext", "content_type": "text/html"}
    return [
        {"id": f"é{n}", "bibjson": {"link": [{**link, "url": f"https://j{n % HOSTS}.example.org/{n}"}]}}
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("name", "records"),
    [("doaj", articles(1_300)), ("doaj", [DOAJ]), ("crossref", [CROSSREF]), ("fatcat", [FATCAT])],
    ids=["more than a batch", "doaj", "crossref", "fatcat"],
)
def test_what_is_published_is_what_is_printed(
    name: str, records: list[dict[str, Any]], config: Config, pipeline: Pipeline, tmp_path: Path
) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text(lined(records) + "not json\n" + lined(records[:1]))
    code, printed = source(pipeline, name, "requests", str(dump))
    assert code == 1
    code, counts = source(pipeline, name, "requests", str(dump), "--publish", "--queue", "daily")
    assert code == 1
    duplicates = len(printed) // len(records)
    assert counts == [
        {
            "published": len(printed), "rows": len(records) + 2, "duplicates": duplicates, "without_links": 0,
            "left_out": 1,
        }
    ]  # fmt: skip
    found = kept(config, REQUEST_TOPICS["daily"])
    order = lambda one: json.dumps(one, sort_keys=True)  # noqa: E731
    assert sorted((json.loads(each.value or b"") for each in found), key=order) == sorted(printed, key=order)
    assert kept(config, REQUEST_TOPICS["bulk"]) == []
    places: dict[bytes | None, set[int]] = {}
    for each in found:
        assert each.key == request_key(json.loads(each.value or b"")["base_url"])
        places.setdefault(each.key, set()).add(each.partition)
    assert all(len(partitions) == 1 for partitions in places.values()), "one host's requests meet in one partition"


def test_a_harvest_goes_straight_into_kafka(config: Config, pipeline: Pipeline, tmp_path: Path) -> None:
    with serving(Repository(count=10)) as url:
        code, counts = source(pipeline, "oai", "requests", url, "--publish", "--state", str(tmp_path / "state"))
    assert (code, counts[0]["published"]) == (0, 10)
    found = kept(config, REQUEST_TOPICS["bulk"])
    assert {json.loads(each.value or b"")["link_source_id"] for each in found} == {f"oai:x:{n}" for n in range(10)}
    assert {each.key for each in found} == {b"repository.example.edu"}


def test_the_worker_of_release_updates(config: Config, pipeline: Pipeline) -> None:
    """Releases in, requests out; what is no release is a dead letter; what needs nothing moves the offset only."""
    topic = ForeignTopic.FATCAT_RELEASES.named(config.env)
    admin = AdminClient({"bootstrap.servers": config.kafka_brokers})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result()
    eventually(lambda: topic in admin.list_topics(timeout=30).topics)
    releases = [FATCAT | {"ident": f"release{n}", "ext_ids": {"doi": f"10.1234/terns.{n}"}} for n in range(40)]
    bad: list[bytes] = [b"{not json", b"[1]", b'{"work_id": "w"}', b'{"ident": "x", "n": 1e999}']
    quiet = [FATCAT | {"state": "deleted"}, FATCAT | {"release_type": "stub"}]
    values: list[bytes | None] = [json.dumps(one).encode() for one in (*releases, *quiet)]
    for place, one in enumerate((*bad, None, b"")):
        values.insert(place * 7, one)
    try:
        producer = open_producer(config)
        producer.publish([Message(topic, str(n).encode(), value) for n, value in enumerate(values)])
        producer.close()
        pipeline.start("fatcat-releases")
        patience = time.monotonic() + 90
        while len(kept(config, Topic.REQUESTS_DAILY)) < 2 * len(releases) and time.monotonic() < patience:
            time.sleep(0.5)
        assert pipeline.stop() == [0]
        requests = [json.loads(each.value or b"") for each in kept(config, Topic.REQUESTS_DAILY)]
        assert {(one["fatcat"]["release_ident"], one["ingest_type"]) for one in requests} == {
            (f"release{n}", kind) for n in range(len(releases)) for kind in ("html", "pdf")
        }
        assert len(requests) == 2 * len(releases)
        assert {one["ingest_request_source"] for one in requests} == {"fatcat-changelog"}
        dead = kept(config, Topic.DEAD_LETTERS)
        assert sorted(each.value or b"" for each in dead) == sorted(bad)
        assert all(dict(each.headers)["__connect.errors.topic"] == topic.encode() for each in dead)
    finally:
        admin.delete_topics([topic])[topic].result()
