"""The whole pipeline on the real servers: what becomes of the example site, also when workers are killed."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from sandcrawler.config import Config
from sandcrawler.demo.documents import documents, requests
from sandcrawler.demo.run import ROWS, WORKERS
from sandcrawler.demo.server import running
from sandcrawler.names import Folder, blob_key
from tests.pipelines import Snapshot, pipeline, snapshot

MakeConfig = Callable[..., Config]
COPIES = 10
PATIENCE = 60.0


def wait_for_bodies(config: Config, seconds: float = 30.0) -> Snapshot:
    """The end state, once every has_teixml row has its object."""
    patience = time.monotonic() + seconds
    while True:
        state = snapshot(config)
        with psycopg.connect(config.postgres_url or "") as database:
            hashes = database.execute("SELECT sha1hex FROM html_meta WHERE has_teixml").fetchall()
        missing = [sha1hex for (sha1hex,) in hashes if blob_key(Folder.HTML, sha1hex, ".tei.xml") not in state]
        if not missing:
            return state
        assert time.monotonic() < patience, f"bodies that are not in the bucket: {missing}"
        time.sleep(0.2)


def test_the_example_site_comes_out_as_its_table_says(stack_config: MakeConfig, tmp_path: Path) -> None:
    config = stack_config(env="qa", kafka_partitions=4)
    asked = list(requests(1, "html", "xml", "pdf"))
    with running() as web, pipeline(config, web, tmp_path / "workers.log") as made:
        made.start(*WORKERS)
        made.publish(asked)
        for _ in made.arrivals(asked, datetime(2000, 1, 1, tzinfo=UTC), PATIENCE):
            pass
        state = wait_for_bodies(config)
        assert made.stop() == [0] * len(WORKERS), "workers end well when they are asked to"
    with psycopg.connect(config.postgres_url or "", row_factory=dict_row) as database:
        rows = database.execute(ROWS, ([one["base_url"] for one in asked],)).fetchall()
    got = {(row["ingest_type"], row["base_url"]): row for row in rows}
    for document in documents("html", "xml", "pdf"):
        row, expected = got[document.ingest_type, document.url], document.expected
        assert row["status"] == expected.status, document.name
        if expected.status in {"success", "wrong-scope"} and document.ingest_type == "html":
            assert (row["scope"], row["missing"]) == (expected.scope, expected.missing), document.name
            assert expected.title in (None, row["title"]), document.name
    suffixes = {key[key.index(".") :] for key in state if "/" in key}
    assert suffixes == {".tei.xml", ".jats.xml", ".txt"}


@pytest.mark.timeout(280)
def test_killed_workers_lose_nothing_and_change_nothing(stack_config: MakeConfig, tmp_path: Path) -> None:
    """One worker of each kind is killed at a random moment and started again; the end state is that of a quiet run."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")  # shown when the test fails
    asked = list(requests(COPIES))
    workers = ("ingest", "ingest", "persist-results", "persist-html-teixml")
    with running(distinct=True) as web:
        quiet = stack_config(env="qa", kafka_partitions=4)
        with pipeline(quiet, web, tmp_path / "quiet.log") as made:
            began = time.monotonic()
            made.start(*workers)
            made.publish(asked)
            for _ in made.arrivals(asked, datetime(2000, 1, 1, tzinfo=UTC), PATIENCE):
                pass
            seconds = time.monotonic() - began
            wanted = wait_for_bodies(quiet)
        # The same database and bucket would hide what the second run loses.
        with psycopg.connect(quiet.postgres_url or "", autocommit=True) as database:
            database.execute(
                "TRUNCATE ingest_request, ingest_file_result, file_meta, cdx, html_meta, xml_meta, pdf_meta"
            )
        empty_bucket(quiet)
        killed = quiet.model_copy(update={"env": "prod"})
        with pipeline(killed, web, tmp_path / "killed.log") as made:
            made.start(*workers)
            made.publish(asked)
            moments = random.Random(seed)
            for name in sorted(set(workers), key=lambda _: moments.random()):
                time.sleep(moments.uniform(0.1, 0.5) * seconds / 3)
                made.kill(name)
                made.start(name)
            for _ in made.arrivals(asked, datetime(2000, 1, 1, tzinfo=UTC), PATIENCE):
                pass
            assert wait_for_bodies(killed) == wanted


def empty_bucket(config: Config) -> None:
    from sandcrawler.persist.blobs import client  # noqa: PLC0415

    s3 = client(config)
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=config.s3_bucket):
        for found in page.get("Contents", ()):
            s3.delete_object(Bucket=config.s3_bucket, Key=found["Key"])
