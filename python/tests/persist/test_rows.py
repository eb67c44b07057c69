"""One result, and the rows that follow from it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from sandcrawler.names import Table
from sandcrawler.persist import results
from sandcrawler.persist.rows import rows
from sandcrawler.persist.tables import BY_NAME, Row
from sandcrawler.status import JUDGED, Status
from tests.persist.documents import raw, result, sha1

META = {"html": Table.HTML_META, "xml": Table.XML_META, "pdf": Table.PDF_META}


def of(value: dict[str, Any]) -> tuple[dict[Table, Row], list[str]]:
    made, skipped = rows(results.decode(raw(value)))
    assert len({table for table, _ in made}) == len(made)
    return dict(made), skipped


@pytest.mark.parametrize("ingest_type", ["html", "xml", "pdf"])
@pytest.mark.parametrize("status", list(Status))
def test_which_tables_get_a_row(ingest_type: str, status: Status) -> None:
    made, skipped = of(result(ingest_type=ingest_type, status=status.value, hit=status is Status.SUCCESS))
    expected = {Table.INGEST_FILE_RESULT, Table.INGEST_REQUEST}
    if status in JUDGED:
        expected |= {Table.FILE_META, Table.CDX, META[ingest_type]}
    assert set(made) == expected
    assert made[Table.INGEST_FILE_RESULT]["status"] == status.value
    assert skipped == []


def test_the_columns_hold_what_the_message_held() -> None:
    value = result(5)
    made, _ = of(value)
    for table, part in ((Table.FILE_META, "file_meta"), (Table.CDX, "cdx"), (Table.INGEST_FILE_RESULT, "terminal")):
        for column, held in value[part].items():
            if column in BY_NAME[table].columns:
                assert made[table][column] == held, (table, column)
    html = made[Table.HTML_META]
    assert (html["sha1hex"], html["scope"], html["word_count"]) == (sha1(5), "article-fulltext", 3210)
    assert from_json(html["biblio"]) == value["html_biblio"]
    assert from_json(html["resources"]) == value["html_resources"]
    assert from_json(html["resources_missing"]) == value["html_resources_missing"]
    assert from_json(made[Table.INGEST_REQUEST]["request"]) == value["request"]


def test_xml_and_pdf_keep_what_is_theirs() -> None:
    xml = of(result(ingest_type="xml"))[0][Table.XML_META]
    assert (xml["schema"], xml["root"], xml["encoding"], xml["word_count"]) == ("jats", "article", "ISO-8859-1", 12)
    assert from_json(xml["biblio"]) == {"title": "Año"}
    pdf = of(result(ingest_type="pdf"))[0][Table.PDF_META]
    assert (pdf["page_count"], pdf["word_count"], pdf["has_text"]) == (9, 3000, True)
    assert from_json(pdf["metadata"]) == {"Producer": "TeX"}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        ("success", "success", True),
        ("unknown-scope", "success", True),
        ("wrong-scope", "success", False),
        ("unknown-scope", "empty-xml", False),
        ("unknown-scope", "body-too-large", False),
        ("success", None, False),
    ],
)
def test_has_teixml_says_whether_a_body_went_out(status: str, body: str | None, expected: bool) -> None:
    made, _ = of(result(status=status, html_body=body and {"status": body, "word_count": 3}))
    assert made[Table.HTML_META]["has_teixml"] is expected


@pytest.mark.parametrize("missing", ["link_source", "link_source_id", "ingest_request_source"])
@pytest.mark.parametrize("empty", [None, ""])
def test_a_request_that_does_not_say_where_it_is_from_is_kept_whole(missing: str, empty: str | None) -> None:
    """Asking again needs all that it said, and a row for each request is what the table promises."""
    request = {**result()["request"], missing: empty}
    made, skipped = of(result(request=request))
    assert made[Table.INGEST_REQUEST][missing] == "unknown"
    assert json.loads(made[Table.INGEST_REQUEST]["request"]) == request
    assert not skipped


def test_an_over_long_terminal_url_is_null_and_counted() -> None:
    terminal = {**result()["terminal"], "terminal_url": "https://example.org/" + "é" * 1020}
    made, skipped = of(result(terminal=terminal))
    assert made[Table.INGEST_FILE_RESULT]["terminal_url"] is None
    assert made[Table.INGEST_FILE_RESULT]["terminal_sha1hex"] == sha1(1)
    assert skipped == ["skip-huge-url"]


@pytest.mark.parametrize(("length", "stored"), [(1500, True), (1501, False)])
def test_a_base_url_is_a_key_up_to_1500_bytes(length: int, stored: bool) -> None:
    url = "https://example.org/".ljust(length, "x")
    made, skipped = of(result(request={**result()["request"], "base_url": url}))
    assert (Table.INGEST_FILE_RESULT in made) is (Table.INGEST_REQUEST in made) is stored
    assert Table.HTML_META in made
    assert skipped == ([] if stored else ["skip-huge-url"])


def test_over_long_parts_of_other_keys_cost_their_own_row_only() -> None:
    value = result(request={**result()["request"], "link_source_id": "x" * 501})
    value["cdx"] |= {"url": "https://example.org/" + "x" * 2048, "surt": "org,example)/"}
    made, skipped = of(value)
    assert set(made) == {Table.INGEST_FILE_RESULT, Table.FILE_META, Table.HTML_META}
    assert skipped == ["skip-huge-source", "skip-huge-url-of-cdx"]


def test_the_document_is_known_by_its_terminal_hash_alone() -> None:
    made, _ = of(result(file_meta=None, cdx=None))
    assert made[Table.HTML_META]["sha1hex"] == sha1(1)
    assert Table.HTML_META not in of(result(file_meta=None, cdx=None, terminal=None))[0]


OPTIONAL = ["request", "terminal", "cdx", "file_meta", "scope", "html_biblio", "html_body", "html_resources", "hops"]
OPTIONAL += ["html_resources_missing", "xml_meta", "pdf_meta"]


@given(
    st.sampled_from(["html", "xml", "pdf"]),
    st.sampled_from(list(Status)),
    st.sets(st.sampled_from(OPTIONAL[1:])),
    st.sets(st.sampled_from(OPTIONAL[1:])),
)
def test_any_part_may_be_absent_or_null(kind: str, status: Status, absent: set[str], null: set[str]) -> None:
    value = {key: item for key, item in result(ingest_type=kind, status=status.value).items() if key not in absent}
    value |= dict.fromkeys(null)
    made, skipped = of(value)
    assert skipped == []
    assert Table.INGEST_FILE_RESULT in made
    for table, row in made.items():
        assert set(row) <= set(BY_NAME[table].columns)
        assert all(row[column] is not None for column in (*BY_NAME[table].key, BY_NAME[table].moment))
