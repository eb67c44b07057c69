"""Links that are asked for again, through the pipeline on real servers: rows, bodies, and what the sites saw."""

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from sandcrawler.config import Config
from sandcrawler.demo.documents import Answer, answers, documents, requests
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.server import Access, running
from sandcrawler.kafka import unread
from sandcrawler.names import Table, Topic
from sandcrawler.status import Status
from tests.pipelines import empty, pipeline, settled
from tests.test_cli import sandcrawler

MakeConfig = Callable[..., Config]
WORKERS = ("ingest", "persist-results", "persist-html-teixml")
PATIENCE = 120.0
COPIES = 3
HITS = [document for document in documents("html") if document.expected.status is Status.SUCCESS]
LINKS = {document.url for document in HITS}


def validated(site: Iterable[Answer], version: str = "1") -> list[Answer]:
    """The site with an ETag for every page; the parts of pages have none."""
    return [
        answer.model_copy(update={"headers": {**answer.headers, "ETag": f'"{version}-{len(answer.body)}"'}})
        if "html" in (answer.type or "") and answer.status == 200
        else answer
        for answer in site
    ]


def changed(site: Iterable[Answer]) -> list[Answer]:
    """The same site with other bytes."""
    return [answer.marked("changed") if answer.status == 200 else answer for answer in site]


def ingested(made: Pipeline, asked: Sequence[dict[str, Any]]) -> None:
    """The requests, and their rows and bodies."""
    now = datetime.now(UTC)
    made.publish(asked)
    for _ in made.arrivals(asked, now, PATIENCE):
        pass
    settled(made.config)


def age(config: Config) -> None:
    """Let an hour pass since all results."""
    with psycopg.connect(config.postgres_url or "", autocommit=True) as database:
        for table in set(Table) - {Table.INGEST_REQUEST}:
            database.execute(f"UPDATE {table} SET updated = updated - interval '1 hour'")


def bodies(config: Config) -> int:
    """How many body messages were ever published."""
    return sum(unread(config, "nobody", Topic.HTML_TEIXML.named(config.env)).values())


def rows(config: Config) -> dict[Table, list[str]]:
    """The rows of the hits, all but when the results were made. Other links are captured anew each time."""
    ends = {document.expected.terminal or document.url for document in HITS}
    pages = [answer.body for document in HITS for answer in document.answers if answer.url in ends]
    hashes = {hashlib.sha1(body, usedforsecurity=False).hexdigest() for body in pages}
    found: dict[Table, list[str]] = {}
    with psycopg.connect(config.postgres_url or "") as database:
        for table in Table:
            every = [row for (row,) in database.execute(f"SELECT to_jsonb(t) - 'updated' FROM {table} t")]
            ours = [row for row in every if row.get("base_url") in LINKS or row.get("sha1hex") in hashes]
            found[table] = sorted(json.dumps(row, sort_keys=True) for row in ours)
    return found


def test_asked_for_again(stack_config: MakeConfig, tmp_path: Path) -> None:
    config, asked, seen = stack_config(env="qa", kafka_partitions=4), list(requests()), list[Access]()
    with (
        running(validated(answers()), log=seen.append) as web,
        pipeline(config, web, tmp_path / "workers.log") as made,
    ):
        made.start(*WORKERS)
        ingested(made, asked)
        once = rows(config)
        assert bodies(config) == len(HITS)
        assert {table: len(found) for table, found in once.items() if table.endswith("_meta")} == {
            Table.FILE_META: len(HITS),
            Table.HTML_META: len(HITS),
            Table.XML_META: 0,
            Table.PDF_META: 0,
        }

        age(config)
        seen.clear()
        ingested(made, asked)
        assert rows(config) == once, "no row is new, none says less"
        assert bodies(config) == len(HITS)
        assert len({access.url for access in seen if access.status == 304}) == len(HITS)
        parts = {a.url for hit in HITS for a in hit.answers if a.status == 200 and "html" not in (a.type or "")}
        assert parts
        assert not parts & {access.url for access in seen}, "no part of a known page is asked for"
        assert "fetched in full" not in (tmp_path / "workers.log").read_text()

        seen.clear()
        ingested(made, asked)  # so soon that it might be the same request again
        assert 304 not in {access.status for access in seen}
        assert bodies(config) == 2 * len(HITS)

        age(config)
        seen.clear()
        ingested(made, [{**one, "force_recrawl": True} for one in asked])
        assert 304 not in {access.status for access in seen}
        assert bodies(config) == 3 * len(HITS)
        assert made.stop() == [0] * len(WORKERS), "workers end well when they are asked to"

    age(config)
    before = rows(config)
    with running(changed(validated(answers(), "2"))) as web:
        again = {**made.environment, "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to}
        with Pipeline(config, again, tmp_path / "more.log") as more:
            more.start(*WORKERS)
            ingested(more, asked)
    assert bodies(config) == 4 * len(HITS)
    for table in (Table.FILE_META, Table.HTML_META):
        assert rows(config)[table] == before[table], "what is known of the old bytes stays"
    with psycopg.connect(config.postgres_url or "") as database:
        count = database.execute("SELECT count(*) FROM html_meta WHERE status = 'success'").fetchone()
    assert count == (2 * len(HITS),)


def test_the_same_bytes_and_no_validators(stack_config: MakeConfig, tmp_path: Path) -> None:
    config, asked = stack_config(env="qa", kafka_partitions=4), list(requests())
    with running() as web, pipeline(config, web, tmp_path / "workers.log") as made:
        made.start(*WORKERS)
        ingested(made, asked)
        age(config)
        ingested(made, asked)
    assert bodies(config) == len(HITS)


def test_without_a_database_all_is_fetched_and_one_warning_says_so(stack_config: MakeConfig, tmp_path: Path) -> None:
    config, asked, seen = stack_config(env="qa", kafka_partitions=4), list(requests()), list[Access]()
    with (
        running(validated(answers()), log=seen.append) as web,
        pipeline(config, web, tmp_path / "workers.log") as made,
    ):
        made.start("persist-results", "persist-html-teixml")
        made.environment["SANDCRAWLER_POSTGRES_URL"] = "postgresql://nobody@127.0.0.1:1/none"
        made.start("ingest")
        for times in (1, 2):
            ingested(made, asked)
            assert bodies(config) == times * len(HITS)
            age(config)
    assert 304 not in {access.status for access in seen}
    assert (tmp_path / "workers.log").read_text().count("fetched in full") == 1


def test_kills_on_the_second_time_lose_nothing_and_change_nothing(stack_config: MakeConfig, tmp_path: Path) -> None:
    """Half of the documents are known and unchanged, half have changed; the end state is that of a quiet run."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")  # shown when the test fails
    asked = list(requests(COPIES))
    workers = ("ingest", *WORKERS)
    base = stack_config(env="qa", kafka_partitions=4)
    states = []
    for kills in (False, True):
        config = base.model_copy(update={"env": "prod" if kills else "qa"})
        site = validated(answers())
        with running(site, distinct=True) as web, pipeline(config, web, tmp_path / f"first{kills}.log") as made:
            made.start(*workers)
            ingested(made, asked)
            age(config)
            made.stop()
        half = {document.expected.terminal or document.url for document in HITS[::2]}
        later = [answer if answer.url in half else one for answer, one in zip(site, changed(site), strict=True)]
        later = [one if one.url in half else validated([one], "2")[0] for one in later]
        with running(later, distinct=True) as web:
            again = {**made.environment, "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to}
            with Pipeline(config, again, tmp_path / f"second{kills}.log") as made:
                now, moments = datetime.now(UTC), random.Random(seed)
                made.start(*workers)
                made.publish(asked)
                for name in sorted(set(workers), key=lambda _: moments.random()) if kills else ():
                    time.sleep(moments.uniform(0.3, 1.5))
                    made.kill(name)
                    made.start(name)
                for _ in made.arrivals(asked, now, PATIENCE):
                    pass
                states.append(settled(config))
        empty(config)
    assert states[0] == states[1]


def test_the_command_asks_on_condition_where_it_is_told_to(stack_config: MakeConfig, tmp_path: Path) -> None:
    config, seen, link = stack_config(env="qa", kafka_partitions=4), list[Access](), HITS[0].url
    with (
        running(validated(answers()), log=seen.append) as web,
        pipeline(config, web, tmp_path / "workers.log") as made,
    ):
        made.start(*WORKERS)
        ingested(made, [{"ingest_type": "html", "base_url": link}])
        age(config)
        told = {}
        for name, words, setting in (
            ("plain", (), {}),
            ("always", (), {"SANDCRAWLER_INGEST_KNOWN": "always"}),
            ("force", ("--force",), {"SANDCRAWLER_INGEST_KNOWN": "always"}),
        ):
            seen.clear()
            body = tmp_path / name
            done = sandcrawler("ingest", link, "--body-out", str(body), *words, **{**made.environment, **setting})
            result = json.loads(done.stdout)
            told[name] = (result["hit"], 304 in {access.status for access in seen}, body.exists())
            assert result["html_resources"] or not result.get("html_resources_missing")
    assert told == {
        "plain": (True, False, True),
        "always": (True, True, False),
        "force": (True, False, True),
    }
