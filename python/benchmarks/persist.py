"""How fast results become rows, and bodies objects, on the servers of the settings. Prints JSON lines.

    python benchmarks/persist.py [RESULTS] [RESOURCES]     results (default 10000), sub-resources of each (default 8)

`results` is the whole way of a persist worker: decode, rows, upsert, in batches of 500, tables empty at the start.
`executemany` puts the same rows into the same tables on the same server with one INSERT … ON CONFLICT each, as
psycopg's own batching does it; `ratio` is how many times faster the upsert is. A database and a bucket are made for it
and dropped.
"""

import hashlib
import json
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sandcrawler import config as settings
from sandcrawler import names, wire
from sandcrawler.config import Config
from sandcrawler.persist import blobs, migrations, results
from sandcrawler.persist.blobs import BlobSink
from sandcrawler.persist.bodies import Blob
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.persist.results import Arrival
from sandcrawler.persist.rows import rows
from sandcrawler.persist.tables import BY_NAME, TABLES, Row

BATCH = 500


@dataclass(frozen=True)
class Record:
    value: bytes
    key: bytes | None = None


def message(number: int, resources: int) -> bytes:
    """A result like those of real articles: an abstract, ten authors, references left out, some figures."""
    digest = hashlib.sha1(str(number).encode()).hexdigest()
    host, path = f"journal{number % 97}.example.org", f"/index.php/articles/{digest[:12]}/{number}"
    url = f"https://{host}{path}"
    surt = f"org,example,journal{number % 97}){path}"
    picture = {"timestamp": "2024-05-06T07:08:09Z", "sha1hex": digest, "sha256hex": digest + digest[:24], "size": 4321}
    picture |= {"mimetype": "image/png", "status_code": 200, "resource_type": "image"}
    return wire.encode(
        {
            "status": "success",
            "hit": True,
            "timestamp": "2024-05-06T07:08:09.123456Z",
            "hops": [f"https://doi.org/10.1234/{number}", url],
            "request": {
                "ingest_type": "html",
                "base_url": f"https://doi.org/10.1234/{number}",
                "link_source": "doi",
                "link_source_id": f"10.1234/{number}",
                "ingest_request_source": "fatcat-changelog",
                "ext_ids": {"doi": f"10.1234/{number}"},
            },
            "terminal": {
                "terminal_url": url,
                "terminal_dt": "20240506070809",
                "terminal_status_code": 200,
                "terminal_sha1hex": digest,
            },
            "cdx": {
                "surt": surt,
                "datetime": "20240506070809",
                "url": url,
                "mimetype": "text/html",
                "status_code": 200,
                "sha1hex": digest,
                "sha1b32": "A" * 32,
            },
            "file_meta": {
                "size_bytes": 40000 + number,
                "md5hex": digest[:32],
                "sha1hex": digest,
                "sha256hex": digest + digest[:24],
                "mimetype": "text/html",
            },
            "scope": "article-fulltext",
            "html_biblio": {
                "title": f"On the flight of terns, part {number}",
                "contrib_names": [f"Añna B. Author{n}" for n in range(10)],
                "doi": f"10.1234/{number}",
                "container_name": "Journal of Sea Birds",
                "release_date": "2020-01-02",
                "release_year": 2020,
                "abstract": "We watched terns and gulls over the water for many days. " * 15,
            },
            "html_body": {"status": "success", "agent": "trafilatura/2.3.1", "word_count": 4321},
            "html_resources": [
                picture | {"url": f"{url}/figure{n}.png", "surt": f"{surt}/figure{n}.png"} for n in range(resources)
            ],
        }
    )


def say(**figures: Any) -> None:
    print(json.dumps(figures), flush=True)


@contextmanager
def own_database(config: Config) -> Iterator[Config]:
    """The settings with a database of this run's own."""
    name = f"bench_{uuid.uuid4().hex[:12]}"
    url = config.postgres_url or ""
    parts = conninfo_to_dict(url)
    own = (
        f"{url.partition('?')[0].rpartition('/')[0]}/{name}" if parts.get("dbname") else make_conninfo(url, dbname=name)
    )
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            made = config.model_copy(update={"postgres_url": own})
            migrations.make(made)
            yield made
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def upserts(config: Config, records: Sequence[Record]) -> tuple[float, float]:
    """Seconds of decoding, seconds of writing."""
    sink = PostgresSink(config)
    sink.write([results.decode(records[0])])
    decoding = writing = 0.0
    for batch in batches(records):
        start = time.perf_counter()
        arrivals = [results.decode(record) for record in batch]
        middle = time.perf_counter()
        sink.write(arrivals)
        decoding, writing = decoding + middle - start, writing + time.perf_counter() - middle
    sink.close()
    return decoding, writing


def one_by_one(config: Config, arrivals: Sequence[Arrival]) -> float:
    """Seconds of writing the same rows with executemany."""
    statements = {}
    for table in TABLES:
        columns = [sql.Identifier(column) for column in table.columns]
        statements[table.name] = sql.SQL(
            "INSERT INTO {table} AS held ({columns}) VALUES ({values}) ON CONFLICT ({key}) DO UPDATE SET {set}"
            " WHERE excluded.{moment} > held.{moment}"
        ).format(
            table=sql.Identifier(table.name),
            columns=sql.SQL(", ").join(columns),
            values=sql.SQL(", ").join(sql.Placeholder(column) for column in table.columns),
            key=sql.SQL(", ").join(map(sql.Identifier, table.key)),
            set=sql.SQL(", ").join(sql.SQL("{0} = excluded.{0}").format(column) for column in columns),
            moment=sql.Identifier(table.moment),
        )
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        start = time.perf_counter()
        for batch in batches(arrivals):
            made: dict[names.Table, list[Row]] = defaultdict(list)
            for arrival in batch:
                for name, row in rows(arrival)[0]:
                    made[name].append({column: row.get(column) for column in BY_NAME[name].columns})
            with connection.transaction(), connection.cursor() as cursor:
                for name, of_table in made.items():
                    cursor.executemany(statements[name], of_table)
        return time.perf_counter() - start


def puts(config: Config, size: int, number: int) -> float:
    """Seconds of writing so many bodies of so many bytes."""
    sink = BlobSink(config)
    made = [
        Blob(f"html/bench/{n}.tei.xml", (b"<p>terns %08d</p>" % n) * (size // 20), "application/xml")
        for n in range(number)
    ]
    sink.write(made[:16])
    start = time.perf_counter()
    for batch in batches(made):
        sink.write(batch)
    taken = time.perf_counter() - start
    sink.close()
    return taken


def main(number: int = 10_000, resources: int = 8) -> None:
    config = settings.load()
    records = [Record(message(n, resources)) for n in range(number)]
    with own_database(config) as own:
        decoding, writing = upserts(own, records)
    with own_database(config) as own:
        plain = one_by_one(own, [results.decode(record) for record in records])
    say(
        bench="results",
        results=number,
        bytes_each=len(records[0].value),
        decode_per_s=round(number / decoding),
        write_per_s=round(number / writing),
        results_per_s=round(number / (decoding + writing)),
        rows_per_s=round(5 * number / (decoding + writing)),
    )
    say(bench="executemany", write_per_s=round(number / plain), ratio=round(plain / writing, 2))
    bucket = config.model_copy(update={"s3_bucket": f"bench-{uuid.uuid4().hex[:12]}"})
    blobs.make(bucket)
    try:
        for size, count in ((20_000, 2000), (200_000, 500)):
            taken = puts(bucket, size, count)
            say(
                bench="bodies",
                bytes_each=size,
                bodies_per_s=round(count / taken),
                mb_per_s=round(size * count / taken / 1e6, 1),
            )
    finally:
        client = blobs.client(bucket)
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket.s3_bucket):
            for item in page.get("Contents", []):
                client.delete_object(Bucket=bucket.s3_bucket, Key=item["Key"])
        client.delete_bucket(Bucket=bucket.s3_bucket)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
