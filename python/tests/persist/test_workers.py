"""The persist workers whole: the runtime's loop on a broker in memory, and real servers behind the sinks."""

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from sandcrawler import wire
from sandcrawler.config import Config
from sandcrawler.errors import Unavailable
from sandcrawler.memory import MemoryBroker
from sandcrawler.persist import bodies, migrations, results
from sandcrawler.persist.blobs import BlobSink, client
from sandcrawler.persist.memory import MemoryTables
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.runtime import Backoff, Batched, Limits, Message, Stop, Worker, run
from tests.persist.documents import result, sha1, tei

QUICK = Limits(backoff=Backoff(0.01, 0.05))


def drain(broker: MemoryBroker, step: Batched[Any], until: int) -> None:
    """Run a worker until the group's offset stands behind so many records."""
    stop = Stop()
    worker = Worker("persist", broker.consumer("group", ["in"]), broker.producer(), step, "dead", QUICK)
    thread = threading.Thread(target=run, args=(worker, stop))
    thread.start()
    deadline = time.monotonic() + 60
    while sum(broker.committed("group").values()) < until and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.02)
    stop.set()
    thread.join(30)
    assert sum(broker.committed("group").values()) == until


def filled(values: list[tuple[bytes, bytes | None]]) -> MemoryBroker:
    broker = MemoryBroker({"in": 1, "dead": 1})
    broker.producer().publish([Message("in", key, value) for key, value in values])
    return broker


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.stack)])
def test_one_row_that_sql_refuses_costs_only_itself(real: bool, request: pytest.FixtureRequest) -> None:
    messages = [(b"k", wire.encode(result(n))) for n in range(200)]
    if real:
        bad = result("bad")
        bad["file_meta"]["size_bytes"] = -1
        messages[77] = (b"bad", wire.encode(bad))
        config = request.getfixturevalue("stack_config")()
        migrations.make(config)
        sink: Any = PostgresSink(config)
    else:
        messages[77] = (b"bad", b"{not json")
        sink = MemoryTables()
    broker = filled([*messages, (b"k", None), (b"k", b"")])
    drain(broker, Batched(results.decode, sink.write, 100, 0.2), 202)
    dead = broker.records("dead")
    assert [(letter.key, letter.value) for letter in dead] == [messages[77]]
    if real:
        with psycopg.connect(config.postgres_url or "") as connection:
            assert connection.execute("SELECT count(*) FROM html_meta").fetchone() == (199,)
        reason = dict(dead[0].headers)["__connect.errors.exception.message"].decode()
        assert "file_meta_size_bytes_check" in reason
        sink.close()


def test_nothing_is_lost_while_the_database_comes_and_goes(stack_config: Callable[..., Config]) -> None:
    config = stack_config()
    migrations.make(config)
    sink = PostgresSink(config)
    write, calls = sink.write, iter(range(1000))

    def shaky(values: Any) -> None:
        if next(calls) % 2 == 0:
            sink.close()
            raise Unavailable("gone for a moment")
        write(values)

    broker = filled([(b"k", wire.encode(result(n % 40))) for n in range(200)])
    drain(broker, Batched(results.decode, shaky, 20, 0.2), 200)
    assert broker.records("dead") == []
    with psycopg.connect(config.postgres_url or "") as connection:
        assert connection.execute("SELECT count(*) FROM ingest_file_result").fetchone() == (40,)
    sink.close()


def test_every_oddity_of_a_body_topic_moves_the_offset(stack_config: Callable[..., Config]) -> None:
    key = sha1(1).encode()
    odd: list[tuple[bytes, bytes | None]] = [
        (key, None),
        (key, b""),
        (key, b"{not json"),
        (key, b"\xff\xfe{}"),
        (key, tei(1, key=None).value),
        (key, tei(1).value),
        (key, b"[]"),
        (key, b'{"status": "success"}'),
        (sha1(2).encode(), tei(2, tei_xml="<TEI>\ud83d</TEI>").value),
        (sha1(2).encode(), tei(2, status="empty-xml", tei_xml=None).value),
        (b"short", b'{"key": "short", "sha1hex": "short", "status": "success", "tei_xml": "<TEI/>"}'),
        (key, None),
    ]
    config = stack_config()
    broker = filled(odd)
    sink = BlobSink(config)
    drain(broker, Batched(bodies.decode_html_teixml, sink.write, 100, 0.2), len(odd))
    sink.close()
    assert [letter.value for letter in broker.records("dead")] == [odd[n][1] for n in (2, 3, 4, 6, 7, 10)]
    bucket = client(config)
    found = bucket.list_objects_v2(Bucket=config.s3_bucket)["Contents"]
    paths = {name: f"html/{sha1(name)[:2]}/{sha1(name)[2:4]}/{sha1(name)}.tei.xml" for name in (1, 2)}
    assert {item["Key"] for item in found} == set(paths.values())
    body = bucket.get_object(Bucket=config.s3_bucket, Key=paths[2])["Body"].read()
    assert body.decode() == "<TEI>\ufffd</TEI>"
