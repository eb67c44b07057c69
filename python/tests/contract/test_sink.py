"""What every sink promises, held against the sinks in memory and the real ones (persist/base.py)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from sandcrawler.names import Table
from sandcrawler.persist import blobs, migrations, results
from sandcrawler.persist.blobs import BlobSink
from sandcrawler.persist.bodies import Blob, decode_html_teixml
from sandcrawler.persist.memory import MemoryBlobs, MemoryTables
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.persist.tables import BY_NAME
from tests.persist.documents import record, result, sha1, tei

Rows = list[dict[str, Any]]


@dataclass
class Tables:
    """A sink of results, and a way to read what it holds."""

    sink: MemoryTables | PostgresSink
    rows: Callable[[Table], Rows]

    def write(self, *values: dict[str, Any]) -> None:
        self.sink.write([results.decode(record(value)) for value in values])


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.stack)])
def tables(request: pytest.FixtureRequest) -> Iterator[Tables]:
    if request.param == "memory":
        sink = MemoryTables()
        yield Tables(sink, sink.rows)
        return
    config = request.getfixturevalue("stack_config")()
    migrations.make(config)
    real = PostgresSink(config)

    def rows(name: Table) -> Rows:
        with psycopg.connect(config.postgres_url, row_factory=dict_row) as connection:
            columns = sql.SQL(", ").join(map(sql.Identifier, BY_NAME[name].columns))
            key = sql.SQL(", ").join(
                sql.SQL('{} COLLATE "C"').format(sql.Identifier(part)) for part in BY_NAME[name].key
            )
            query = sql.SQL("SELECT {} FROM {} ORDER BY {}").format(columns, sql.Identifier(name), key)
            return connection.execute(query).fetchall()

    yield Tables(real, rows)
    real.close()


def everything(tables: Tables) -> dict[Table, Rows]:
    return {name: tables.rows(name) for name in Table}


def test_nothing_is_nothing(tables: Tables) -> None:
    tables.write()
    assert not any(everything(tables).values())


def test_every_column_comes_back(tables: Tables) -> None:
    value = result(1)
    tables.write(value, result(2, ingest_type="xml"), result(3, ingest_type="pdf"))
    assert {name: len(rows) for name, rows in everything(tables).items()} == {
        Table.INGEST_REQUEST: 3,
        Table.INGEST_FILE_RESULT: 3,
        Table.FILE_META: 3,
        Table.CDX: 3,
        Table.HTML_META: 1,
        Table.XML_META: 1,
        Table.PDF_META: 1,
    }
    html = tables.rows(Table.HTML_META)[0]
    assert html["biblio"] == value["html_biblio"]
    assert html["resources"] == value["html_resources"]
    assert html["resources_missing"] == value["html_resources_missing"]
    assert (html["has_teixml"], html["has_thumbnail"], html["word_count"]) == (True, False, 3210)
    assert tables.rows(Table.INGEST_REQUEST)[0]["request"] == value["request"]


def test_writing_again_changes_nothing(tables: Tables) -> None:
    values = [result(n) for n in range(20)]
    tables.write(*values)
    once = everything(tables)
    tables.write(*values)
    tables.write(*values[5:9])
    assert everything(tables) == once


def test_of_one_key_in_a_batch_the_last_stays(tables: Tables) -> None:
    miss = {"cdx": None, "file_meta": None, "terminal": None}
    tables.write(
        result(1, status="timeout", hit=False, **miss),
        result(2, status="no-capture", hit=False, **miss),
        result(1),
        result(1, ingest_type="xml", status="wrong-mimetype", hit=False, **miss),
    )
    rows = tables.rows(Table.INGEST_FILE_RESULT)
    assert [(row["ingest_type"], row["base_url"][-2:], row["status"], row["hit"]) for row in rows] == [
        ("html", "/1", "success", True),
        ("html", "/2", "no-capture", False),
        ("xml", "/1", "wrong-mimetype", False),
    ]
    assert rows[0]["terminal_sha1hex"] == sha1(1)


@pytest.mark.parametrize("in_one_batch", [True, False])
@pytest.mark.parametrize("late", [True, False])
def test_the_newest_result_stays_in_whatever_order_they_come(tables: Tables, in_one_batch: bool, late: bool) -> None:
    old = result(1, timestamp="2024-01-01T00:00:00Z", status="wrong-scope", hit=False, scope="stub")
    new = result(1, timestamp="2024-01-02T00:00:00Z")
    order = [new, old] if late else [old, new]
    if in_one_batch:
        tables.write(*order)
    else:
        for value in order:
            tables.write(value)
    assert tables.rows(Table.HTML_META)[0]["scope"] == "article-fulltext"
    assert tables.rows(Table.INGEST_FILE_RESULT)[0]["status"] == "success"
    # When the link was first asked for does not move.
    assert tables.rows(Table.INGEST_REQUEST)[0]["created"].isoformat()[:10] == "2024-01-01"


@pytest.mark.parametrize("in_one_batch", [True, False])
def test_at_the_same_moment_the_later_record_stays(tables: Tables, in_one_batch: bool) -> None:
    first, second = result(1, scope="unknown", status="unknown-scope", hit=False), result(1)
    for batch in [[first, second]] if in_one_batch else [[first], [second]]:
        tables.write(*batch)
    assert tables.rows(Table.HTML_META)[0]["scope"] == "article-fulltext"


def test_a_newer_miss_takes_the_place_of_a_hit_but_not_its_document(tables: Tables) -> None:
    tables.write(result(1))
    miss = {"status": "timeout", "hit": False, "cdx": None, "file_meta": None, "terminal": None}
    tables.write(result(1, timestamp="2025-01-01T00:00:00Z", **miss))
    row = tables.rows(Table.INGEST_FILE_RESULT)[0]
    assert (row["status"], row["terminal_url"], row["terminal_sha1hex"]) == ("timeout", None, None)
    assert len(tables.rows(Table.HTML_META)) == len(tables.rows(Table.FILE_META)) == len(tables.rows(Table.CDX)) == 1


def noise(length: int) -> str:
    """Text that does not compress: an index takes a compressible key that is far too long."""
    return "".join(sha1(n) for n in range(length // 40 + 1))[:length]


def test_over_long_urls_are_counted_and_never_break_a_batch(tables: Tables) -> None:
    long = "https://journal.example.org/?state=" + noise(3000)
    moved = result(2)
    moved["terminal"]["terminal_url"] = moved["cdx"]["url"] = long
    moved["cdx"]["surt"] = "org,example,journal)/?state=" + noise(2600)
    asked = result(3, request={**result(3)["request"], "base_url": long})
    edge = result(4, request={**result(4)["request"], "base_url": long[:1500], "link_source_id": noise(500)})
    edge["terminal"]["terminal_url"] = edge["cdx"]["url"] = long[:2048]
    edge["cdx"]["surt"] = noise(2560)
    tables.write(result(1), moved, asked, edge)
    rows = tables.rows(Table.INGEST_FILE_RESULT)
    assert [row["base_url"] for row in rows] == [
        long[:1500],
        *(f"https://journal.example.org/articles/{name}" for name in (1, 2)),
    ]
    assert [row["terminal_url"] for row in rows][::2] == [long[:2048], None]
    assert len(tables.rows(Table.HTML_META)) == 4
    assert len(tables.rows(Table.CDX)) == 3
    assert tables.sink.skipped == {"skip-huge-url": 2, "skip-huge-url-of-cdx": 1}


@dataclass
class Objects:
    """A sink of bodies, and a way to read what it holds."""

    sink: MemoryBlobs | BlobSink
    held: Callable[[], dict[str, Blob]]


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.stack)])
def objects(request: pytest.FixtureRequest) -> Iterator[Objects]:
    if request.param == "memory":
        sink = MemoryBlobs()
        yield Objects(sink, lambda: sink.held)
        return
    config = request.getfixturevalue("stack_config")()
    client = blobs.client(config)

    def held() -> dict[str, Blob]:
        found = client.list_objects_v2(Bucket=config.s3_bucket).get("Contents", [])
        gets = {item["Key"]: client.get_object(Bucket=config.s3_bucket, Key=item["Key"]) for item in found}
        return {key: Blob(key, got["Body"].read(), got["ContentType"]) for key, got in gets.items()}

    real = BlobSink(config)
    yield Objects(real, held)
    real.close()


def written(objects: Objects, values: Sequence[Blob]) -> dict[str, Blob]:
    objects.sink.write(values)
    return objects.held()


def test_bodies_come_back_byte_for_byte(objects: Objects) -> None:
    made = [decode_html_teixml(tei(name, tei_xml=f"<TEI>Año {name}\r\n</TEI>")) for name in range(40)]
    assert written(objects, made) == {blob.key: blob for blob in made}
    assert written(objects, made) == {blob.key: blob for blob in made}


def test_of_one_body_in_a_batch_the_last_stays(objects: Objects) -> None:
    made = [decode_html_teixml(tei(1, tei_xml=f"<TEI>{n}</TEI>")) for n in range(30)]
    assert written(objects, made) == {made[0].key: made[-1]}


def test_no_bodies(objects: Objects) -> None:
    assert written(objects, []) == {}
