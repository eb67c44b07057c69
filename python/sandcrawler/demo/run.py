"""`sandcrawler demo`: the whole pipeline, for real, on the local stack, and its outcome as a table.

    stack up ─► setup ─► site ─► workers ─► requests into Kafka ─► wait for the rows and bodies ─► table

The workers are the same processes that an operator runs. The stack stays up afterwards, so that what the demo made
can be looked at; everything else ends with the demo.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from sandcrawler import stack
from sandcrawler.config import Config, data_dir, load
from sandcrawler.demo.documents import documents, requests
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.server import running
from sandcrawler.errors import Unavailable
from sandcrawler.model import IngestType
from sandcrawler.names import Folder, Topic, blob_key
from sandcrawler.persist.blobs import client
from sandcrawler.setup import setup
from sandcrawler.stack.base import Report

console = Console(stderr=True, highlight=False)

WORKERS = ("ingest", "persist-results", "persist-html-teixml", "persist-xml-doc", "persist-pdf-text")
TYPES: tuple[IngestType, ...] = ("html", "xml", "pdf")
# How long nothing may arrive before the demo gives up: one request's own limit, and some.
PATIENCE_SECONDS = 330.0

ROWS = """
SELECT r.base_url, r.ingest_type, r.status, r.hit, r.terminal_sha1hex, h.scope, h.has_teixml,
       coalesce(h.word_count, x.word_count, p.word_count) AS words,
       coalesce(h.biblio ->> 'title', x.biblio ->> 'title', p.metadata ->> 'title') AS title,
       jsonb_array_length(h.resources) AS resources,
       coalesce(jsonb_array_length(h.resources_missing), 0) AS missing
FROM ingest_file_result r
LEFT JOIN html_meta h ON h.sha1hex = r.terminal_sha1hex AND r.ingest_type = 'html'
LEFT JOIN xml_meta x ON x.sha1hex = r.terminal_sha1hex AND r.ingest_type = 'xml'
LEFT JOIN pdf_meta p ON p.sha1hex = r.terminal_sha1hex AND r.ingest_type = 'pdf'
WHERE r.base_url = ANY(%s)
"""

STRANGER = "Does another worker run on this stack? It may have taken the requests, and does not know the demo's hosts."


def run(
    urls: Sequence[str], kind: str, directory: Path | None, progress: Callable[[], AbstractContextManager[Report]]
) -> int:
    """Run the demo on the example site, or on these URLs. Exit code 1 where the example came out otherwise."""
    asked = [{"ingest_type": kind, "base_url": url} for url in urls] or list(requests(1, *TYPES))
    with ExitStack() as ending:
        say("The local stack: Kafka, PostgreSQL, SeaweedFS (the first time they are downloaded)")
        with progress() as report:
            addresses = stack.up(load(), directory, report)
        config = load(**asdict(addresses))
        say("Topics, tables, bucket")
        setup(config)
        settings: dict[str, str] = {}
        if not urls:
            web = ending.enter_context(running())
            say(f"The example site: {len(web.hosts)} hosts on 127.0.0.1:{web.port}")
            settings = {
                "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to,
                "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
                "SANDCRAWLER_FETCH_HOST_GAP": "0",
            }
        log = (directory or data_dir()) / "logs" / "workers.log"
        say(f"Workers: {', '.join(WORKERS)} (their log: {log})")
        pipeline = ending.enter_context(Pipeline(config, settings, log))
        pipeline.start(*WORKERS)
        started = datetime.now(UTC)
        say(f"{len(asked)} requests into {Topic.REQUESTS_DAILY.named(config.env)}")
        pipeline.publish(asked)
        try:
            rows = wait(asked, started, pipeline)
        except KeyboardInterrupt:
            say("Requests that are not answered yet stay in the topic; the next ingest worker answers them.")
            raise
    show(rows, asked, config)
    return 0 if urls else check(rows)


def say(text: str) -> None:
    """A line for people."""
    console.print(text, markup=False, soft_wrap=True)


def wait(asked: Sequence[Mapping[str, Any]], started: datetime, pipeline: Pipeline) -> list[dict[str, Any]]:
    """Wait until every request has its row, and every body its object; the rows."""
    columns = (TextColumn("   results"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("results", total=len(asked))
        for arrived in pipeline.arrivals(asked, started, PATIENCE_SECONDS):
            progress.update(task, completed=arrived)
    wanted = {(one["ingest_type"], one["base_url"]) for one in asked}
    with psycopg.connect(pipeline.config.postgres_url or "", row_factory=dict_row) as database:
        found = database.execute(ROWS, ([link for _, link in wanted],)).fetchall()
    rows = [row for row in found if (row["ingest_type"], row["base_url"]) in wanted]
    await_bodies([row["terminal_sha1hex"] for row in rows if row["has_teixml"]], pipeline.config)
    return rows


def await_bodies(hashes: Iterable[str], config: Config) -> None:
    """Wait until the bucket holds the TEI of each of these documents."""
    bucket, patience = client(config), time.monotonic() + 60
    for sha1hex in hashes:
        key = blob_key(Folder.HTML, sha1hex, ".tei.xml")
        while not bucket.list_objects_v2(Bucket=config.s3_bucket, Prefix=key).get("KeyCount"):
            if time.monotonic() > patience:
                raise Unavailable(f"{key} did not reach the bucket {config.s3_bucket}: is persist-html-teixml running?")
            time.sleep(0.1)


def show(rows: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]], config: Config) -> None:
    """The outcome, a line for each link, and where to look next. A narrow terminal gets fewer columns."""
    screen = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    wide = screen.width >= 132
    columns = {"status": 19, "scope": 16, "words": 5} | ({"parts": 13} if wide else {})
    rest = screen.width - sum(columns.values()) - 2 * (len(columns) + 1 + wide)
    columns = {"link": min(54, rest) if wide else rest} | columns
    columns |= {"title": rest - columns["link"]} if wide else {}
    grid = Grid(title="What became of the links", title_justify="left", box=None, padding=(0, 1))
    for name, width in columns.items():
        grid.add_column(name, width=width, no_wrap=True, justify="right" if name == "words" else "left")
    order = {(one["ingest_type"], one["base_url"]): number for number, one in enumerate(asked)}
    for row in sorted(rows, key=lambda row: order[row["ingest_type"], row["base_url"]]):
        lost = f" ({row['missing']} missing)" if row["missing"] else ""
        parts = "" if row["resources"] is None else f"{row['resources']}{lost}"
        link = row["base_url"].partition("://")[2] or row["base_url"]
        cells = [link, row["status"], row["scope"] or "", str(row["words"] or "")]
        grid.add_row(*cells, *([parts, row["title"] or ""] if wide else []), style="green" if row["hit"] else None)
    screen.print(grid)
    hit = next((row for row in rows if row["has_teixml"]), None)
    command = "sandcrawler" if shutil.which("sandcrawler") else os.path.relpath(sys.argv[0])
    say(f"Where to look next (the servers go on until `{command} down`):")
    say(f'  {command} sql "TABLE ingest_file_result"')
    if hit:
        say(f"  {command} show {hit['base_url']}")
        say(f"  bucket {config.s3_bucket}: {blob_key(Folder.HTML, hit['terminal_sha1hex'], '.tei.xml')}")


def check(rows: Sequence[Mapping[str, Any]]) -> int:
    """Whether the example site came out as its table says."""
    got = {(row["ingest_type"], row["base_url"]): row for row in rows}
    wrong = 0
    for document in documents(*TYPES):
        row, expected = got[document.ingest_type, document.url], document.expected
        if row["status"] != expected.status:
            wrong += 1
            say(f"{document.url}: {row['status']}, expected {expected.status}")
    if wrong:
        say(STRANGER)
    return 1 if wrong else 0
