"""A result's rows tell it again, whole: nothing that it said is lost, or it is not told at all."""

import base64
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic_core import from_json

from sandcrawler.names import Table
from sandcrawler.persist import results
from sandcrawler.persist.retold import retold, timestamp
from sandcrawler.persist.rows import rows
from sandcrawler.persist.tables import BY_NAME, Row
from sandcrawler.status import JUDGED, Status
from sandcrawler.wire import jsonable
from tests.persist.documents import raw, result, sha1

# What belongs to the request and the way to the document, not to what is known of it.
OWN = {"request", "hops", "extract_next_hop"}
TYPES = ("html", "xml", "pdf")


def of(value: dict[str, Any]) -> dict[Table, Row]:
    """The rows of a result as they come out of the tables."""
    made, _ = rows(results.decode(raw(value)))
    return {
        name: {
            column: from_json(row[column]) if kind == "jsonb" and row.get(column) else row.get(column)
            for column, kind in BY_NAME[name].columns.items()
        }
        for name, row in made
    }


def full(ingest_type: str, **changes: Any) -> dict[str, Any]:
    """A hit that says all that one can say."""
    value = result(1, ingest_type, platform="ojs3", **changes)
    value["cdx"] |= {
        "sha1b32": base64.b32encode(bytes.fromhex(sha1(1))).decode(),
        "warc_path": "warc/ab/cd/x.warc.gz",
        "warc_offset": 812,
        "warc_csize": 4002,
        "etag": 'W/"1-2"',
        "last_modified": "Tue, 01 Oct 2024 10:00:00 GMT",
    }
    if ingest_type == "html":
        value["html_resources_filtered"] = 7
    return value


@pytest.mark.parametrize("ingest_type", TYPES)
def test_nothing_is_lost(ingest_type: str) -> None:
    value = full(ingest_type)
    told = retold(of(value))
    assert told is not None
    assert jsonable(told) == {name: part for name, part in value.items() if name not in OWN}


@pytest.mark.parametrize("ingest_type", TYPES)
def test_told_again_it_makes_the_same_rows(ingest_type: str) -> None:
    value = full(ingest_type)
    told = retold(of(value))
    assert told is not None
    assert of({**jsonable(told), "request": value["request"]}) == of(value)


@pytest.mark.parametrize(
    "missing", ["platform", "html_resources", "html_resources_missing", "html_resources_filtered", "html_biblio"]
)
def test_what_a_result_did_not_say_it_does_not_say_now(missing: str) -> None:
    value = full("html")
    del value[missing]
    told = retold(of(value))
    assert told is not None
    assert jsonable(told) == {name: part for name, part in value.items() if name not in OWN}


@pytest.mark.parametrize("ingest_type", TYPES)
@pytest.mark.parametrize("status", [status for status in Status if status is not Status.SUCCESS])
def test_only_hits_are_told(ingest_type: str, status: Status) -> None:
    made = of(full(ingest_type, status=status.value))
    assert (Table.CDX in made) == (status in JUDGED)
    assert retold(made) is None


@pytest.mark.parametrize("ingest_type", TYPES)
def test_rows_that_are_not_all_there_tell_nothing(ingest_type: str) -> None:
    made = of(full(ingest_type))
    for name in made.keys() - {Table.INGEST_REQUEST}:
        assert retold({**made, name: None}) is None, name
        assert retold({table: row for table, row in made.items() if table != name}) is None, name


@pytest.mark.parametrize(
    ("table", "change"),
    [
        (Table.HTML_META, {"has_teixml": False}),
        (Table.HTML_META, {"agent": None}),  # from before there was this column
        (Table.HTML_META, {"status": "wrong-scope"}),
        (Table.HTML_META, {"biblio": {"title": 5}}),
        (Table.HTML_META, {"resources": [{"url": "x"}]}),
        (Table.HTML_META, {"scope": "novel"}),
        (Table.CDX, {"surt": None}),  # too long for its column
        (Table.CDX, {"mimetype": None}),
        (Table.FILE_META, {"size_bytes": None}),
        (Table.INGEST_FILE_RESULT, {"terminal_dt": None}),
    ],
)
def test_rows_that_cannot_tell_it_whole_tell_nothing(table: Table, change: dict[str, Any]) -> None:
    made = of(full("html"))
    assert retold(made) is not None
    assert retold({**made, table: {**made[table], **change}}) is None


def test_a_moment_is_the_same_however_it_is_written() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678, UTC)
    elsewhere = moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert (
        timestamp(moment) == timestamp(elsewhere) == timestamp(elsewhere.isoformat()) == "2026-01-02T03:04:05.000678Z"
    )
