"""The whole pipeline on the real servers: what becomes of the example site, also when workers are killed."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from sandcrawler.config import Config
from sandcrawler.demo.documents import documents, requests
from sandcrawler.demo.run import ROWS, WORKERS
from sandcrawler.demo.server import running
from tests.pipelines import empty, pipeline, readme_queries, settled

MakeConfig = Callable[..., Config]
COPIES = 10
PATIENCE = 120.0


def test_the_example_site_comes_out_as_its_table_says(stack_config: MakeConfig, tmp_path: Path) -> None:
    config = stack_config(env="qa", kafka_partitions=4)
    asked = list(requests(1, "html", "xml", "pdf"))
    with running() as web, pipeline(config, web, tmp_path / "workers.log") as made:
        made.start(*WORKERS)
        made.publish(asked)
        for _ in made.arrivals(asked, datetime(2000, 1, 1, tzinfo=UTC), PATIENCE):
            pass
        state = settled(config)
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
    with psycopg.connect(config.postgres_url or "") as database:
        for query, shown in readme_queries():
            answer = [["" if cell is None else str(cell) for cell in row] for row in database.execute(query.encode())]
            assert answer == shown, query
    suffixes = {key[key.index(".") :] for key in state if "/" in key}
    assert suffixes == {".tei.xml", ".jats.xml", ".txt"}


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
            wanted = settled(quiet)
        # The same database and bucket would hide what the second run loses.
        empty(quiet)
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
            assert settled(killed) == wanted
