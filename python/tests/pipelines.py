"""A pipeline of its own for a test: fresh topics, database and bucket; and what is in the end state to compare."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from confluent_kafka.admin import AdminClient

from sandcrawler.config import Config
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.server import Web
from sandcrawler.names import Folder, Table, Topic, blob_key
from sandcrawler.persist.blobs import client
from sandcrawler.setup import setup

# Columns that say when, not what.
TIMES = {"updated", "created", "datetime", "terminal_dt"}
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z")

Snapshot = dict[str, Any]


@contextmanager
def pipeline(config: Config, web: Web, log: Path) -> Iterator[Pipeline]:
    """A pipeline without workers, on empty topics, that fetches from this web as fast as it can."""
    forget_topics(config)
    setup(config)
    settings = {
        "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to,
        "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
        "SANDCRAWLER_FETCH_HOST_GAP": "0",
        "SANDCRAWLER_FETCH_HOST_PARALLEL": "8",
        "SANDCRAWLER_KAFKA_GROUP_SUFFIX": config.kafka_group_suffix,
    }
    with Pipeline(config, settings, log) as made:
        yield made


def forget_topics(config: Config) -> None:
    """Delete this environment's topics, and wait until they are gone."""
    admin = AdminClient({"bootstrap.servers": config.kafka_brokers})
    named = {topic.named(config.env) for topic in Topic}
    there = named & set(admin.list_topics(timeout=30).topics)
    for done in admin.delete_topics(sorted(there)).values() if there else ():
        done.result()
    while named & set(admin.list_topics(timeout=30).topics):
        time.sleep(0.1)


def snapshot(config: Config) -> Snapshot:
    """All rows and objects, but for the moments of capture: two captures of the same bytes count as one."""
    state: Snapshot = {}
    with psycopg.connect(config.postgres_url or "") as database:
        for table in Table:
            cursor = database.execute(f"SELECT * FROM {table}")
            names = [column.name for column in cursor.description or ()]
            state[table] = {
                repr([(n, timeless(value)) for n, value in zip(names, row, strict=True) if n not in TIMES])
                for row in cursor
            }
    s3 = client(config)
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=config.s3_bucket):
        for found in page.get("Contents", ()):
            state[found["Key"]] = s3.get_object(Bucket=config.s3_bucket, Key=found["Key"])["Body"].read()
    return state


def timeless(value: Any) -> str:
    """A value's text without ISO timestamps (the resources' moments of capture)."""
    return TIMESTAMP.sub("T", repr(value))


def settled(config: Config, seconds: float = 120.0) -> Snapshot:
    """The end state, once every has_teixml row has its object."""
    patience = time.monotonic() + seconds
    while True:
        state = snapshot(config)
        with psycopg.connect(config.postgres_url or "") as database:
            hashes = database.execute("SELECT sha1hex FROM html_meta WHERE has_teixml").fetchall()
        missing = [sha1hex for (sha1hex,) in hashes if blob_key(Folder.HTML, sha1hex, ".tei.xml") not in state]
        if not missing:
            return state
        if time.monotonic() > patience:
            raise TimeoutError(f"bodies that are not in the bucket: {missing}")
        time.sleep(0.2)


def empty(config: Config) -> None:
    """Delete all rows and objects."""
    with psycopg.connect(config.postgres_url or "", autocommit=True) as database:
        database.execute(f"TRUNCATE {', '.join(Table)}")
    s3 = client(config)
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=config.s3_bucket):
        for found in page.get("Contents", ()):
            s3.delete_object(Bucket=config.s3_bucket, Key=found["Key"])


def readme_queries() -> list[tuple[str, list[list[str]]]]:
    """The README's queries, each with the rows that it shows, cells as text."""
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    return [
        (query, [[cell.strip() for cell in line.split(" | ")] for line in shown.splitlines()[2:-1]])
        for query, shown in re.findall(r"```sql\n(.*?)```\n```\n(.*?)```", readme, re.DOTALL)
    ]
