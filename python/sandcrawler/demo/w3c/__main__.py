"""`make demo-w3c`: from a source to the tables. The harvest of a small API, its index, its requests, their ingest.

    API in small ─► records, index ─► requests ─► Kafka ─► workers ─► PostgreSQL ─► join.sql with the records

Everything stays on the loopback: the API and the publications' pages are served from this folder. The stack stays up.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row
from rich.console import Console
from rich.table import Table as Grid

from sandcrawler import stack
from sandcrawler.config import Config, data_dir, load
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.run import PATIENCE_SECONDS, STRANGER, WORKERS, say
from sandcrawler.demo.server import Web, running
from sandcrawler.demo.w3c.site import API_HOST, HERE, site
from sandcrawler.errors import Unavailable
from sandcrawler.setup import setup
from sandcrawler.sources.w3c.harvest import fetch
from sandcrawler.sources.w3c.maker import requests, rows
from sandcrawler.sources.w3c.settings import Settings

WHAT = ("docid", "title", "status", "published", "stage", "result", "scope", "word_count")


def harvest(web: Web, folder: Path) -> list[dict[str, Any]]:
    """Harvest the API in small into a folder, and make its requests."""
    result = fetch(folder, prune=True, ledger=True, chosen=Settings(api=f"http://{API_HOST}:{web.port}", gap=0))
    say(f"   {json.dumps(dict(result.counts))}")
    return list(requests(folder))


def ingest(asked: Sequence[Mapping[str, Any]], config: Config, web: Web, log: Path) -> None:
    """Publish the requests and wait until all of them have their rows."""
    settings = {
        "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to,
        "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
        "SANDCRAWLER_FETCH_HOST_GAP": "0",
    }
    with Pipeline(config, settings, log) as pipeline:
        pipeline.start(*WORKERS)
        started = datetime.now(UTC)
        pipeline.publish(asked)
        for _ in pipeline.arrivals(asked, started, PATIENCE_SECONDS):
            pass


def joined(folder: Path, config: Config) -> list[dict[str, Any]]:
    """The rows of `join.sql`, the records of the folder beside them in a table of this session."""
    query = (HERE / "join.sql").read_text(encoding="utf-8")
    with psycopg.connect(config.postgres_url or "", row_factory=dict_row) as database:
        database.execute("CREATE TEMPORARY TABLE publication (docid TEXT PRIMARY KEY, record JSONB NOT NULL)")
        with database.cursor().copy("COPY publication FROM STDIN") as copy:
            for _, record in rows(folder):
                copy.write_row((record["docidentifier"][0]["content"], json.dumps(record)))
        return database.execute(query.encode()).fetchall()


def show(found: Sequence[Mapping[str, Any]]) -> None:
    """The join as a table."""
    grid = Grid(*WHAT, title="Publications, and what became of their pages")
    for row in found:
        grid.add_row(*(str(row[name] or "") for name in WHAT), style="green" if row["result"] == "success" else None)
    Console(highlight=False, width=None if sys.stdout.isatty() else 200).print(grid)


def main(directory: Path | None = None) -> int:
    """Run the demo. Exit code 1 where a page was not ingested or its title is another than its record's."""
    with ExitStack() as ending:
        say("1. The local stack: Kafka, PostgreSQL, SeaweedFS (the first time they are downloaded)")
        addresses = stack.up(load(), directory, lambda server, text: say(f"   {server:<10} {text}"))
        config = load(**asdict(addresses))
        setup(config)
        web = ending.enter_context(running(tuple(site())))
        folder = (directory or data_dir()) / "demo-w3c"
        say(f"2. The harvest of the API on 127.0.0.1:{web.port} into {folder}")
        asked = harvest(web, folder)
        say(f"3. {len(asked)} requests, one for each version; ingest by the workers")
        ingest(asked, config, web, (directory or data_dir()) / "logs" / "workers.log")
        found = joined(folder, config)
    show(found)
    say("Where to look next:")
    say(f'  sandcrawler source w3c get "W3C REC-tide-tables" --data {folder} --format yaml')
    say(f"  the query: {HERE / 'join.sql'}")
    good = [row for row in found if row["result"] == "success" and row["same_title"]]
    if len(good) != len(asked):
        say(f"{len(asked) - len(good)} of {len(asked)} pages are not what they should be.")
        say(STRANGER)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unavailable as error:
        say(f"sandcrawler: {error}")
        sys.exit(3)
