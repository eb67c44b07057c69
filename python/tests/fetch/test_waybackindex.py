"""The index of a web archive: both dialects, hostile rows, and which capture is the best."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from itertools import permutations
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.fetch.waybackindex import Row, instant, query, ranked, rows
from sandcrawler.model import WarcPlace

URL = "http://journal.example.org/a"
OTHER = "https://www.journal.example.org:443/A"
SHA1 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
HEADER = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
GOOD = ["org,example,journal)/a", "20200102030405", URL, "text/html", "200", SHA1, "500"]


def table(*lines: object) -> bytes:
    return json.dumps([HEADER, *lines]).encode()


def changed(**fields: str) -> list[str]:
    return [fields.get(name, value) for name, value in zip(HEADER, GOOD, strict=True)]


def test_the_internet_archive_s_rows() -> None:
    assert rows(table(GOOD), URL) == [Row(URL, "20200102030405", 200, SHA1)]


def test_pywb_s_rows_tell_where_the_record_stands() -> None:
    fields = {"timestamp": "20200102030405", "url": URL, "mime": "text/html", "status": "200", "digest": f"sha1:{SHA1}"}
    line = json.dumps(fields | {"length": "574", "offset": "1503", "filename": "x.warc.gz", "source": "web"})
    [row] = rows(f"{line}\n{line}\n".encode(), URL)[1:]
    assert row == Row(URL, "20200102030405", 200, SHA1, place=WarcPlace("x.warc.gz", 1503, 574))


@pytest.mark.parametrize("body", [b"", b" \n", b"[]", b"[[]]", table()])
def test_nothing_is_no_capture(body: bytes) -> None:
    assert rows(body, URL) == []


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[", b"{", b'"text"', b"[1,2]", b'[[1],["a"]]', b"{}\nno", b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_index_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"not|no fields"):
        rows(body, URL)


@pytest.mark.parametrize(
    "line",
    [
        GOOD[:-1],
        [*GOOD, "more"],
        [],
        None,
        "text",
        changed(timestamp="2020"),
        changed(timestamp="20209999999999"),
        changed(timestamp="2020010203040٥"),
        changed(original="http://elsewhere.example/"),
        changed(original="ftp://journal.example.org/a"),
        changed(original="http://journal.example.org/a?more"),
        changed(original="http:///"),
    ],
)
def test_unusable_rows_are_passed_over(line: object) -> None:
    assert rows(table(line, GOOD), URL) == [Row(URL, "20200102030405", 200, SHA1)]


@pytest.mark.parametrize(
    ("fields", "row"),
    [
        ({"statuscode": "-"}, Row(URL, "20200102030405", None, SHA1)),
        ({"statuscode": "99999999999999999999"}, Row(URL, "20200102030405", None, SHA1)),
        ({"digest": "sha256:" + "A" * 52}, Row(URL, "20200102030405", 200, None)),
        ({"digest": "error"}, Row(URL, "20200102030405", 200, None)),
        ({"mimetype": "warc/revisit", "statuscode": "-"}, Row(URL, "20200102030405", None, SHA1, revisit=True)),
        ({"original": f"{OTHER}#x"}, Row("https://www.journal.example.org/A", "20200102030405", 200, SHA1)),
    ],
)
def test_odd_rows_are_lived_with(fields: dict[str, str], row: Row) -> None:
    assert rows(table(changed(**fields)), URL) == [row]


def test_a_revisit_has_the_status_of_what_it_revisits() -> None:
    revisit = changed(mimetype="warc/revisit", statuscode="-", timestamp="20210101000000")
    assert [row.code for row in rows(table(revisit, changed(statuscode="404")), URL)] == [404, 404]


OLD, NEW = "20100101000000", "20250101000000"
# Each list: the best first.
ORDERS: dict[str, list[Row]] = {
    "success, revisit, redirect, error, unknown": [
        Row(URL, OLD, 200),
        Row(URL, NEW, None, revisit=True),
        Row(URL, NEW, 301),
        Row(URL, NEW, 404),
        Row(URL, NEW, None),
    ],
    "the spelling does not outrank the status": [Row(URL.replace("http:", "https:"), OLD, 200), Row(URL, NEW, 301)],
    "http and https are one, and the newest wins": [Row(URL.replace("http:", "https:"), NEW, 200), Row(URL, OLD, 200)],
    "the exact URL among equals": [Row(URL, OLD, 200), Row(URL.replace("/a", "/A"), NEW, 200)],
    "a payload before a revisit": [Row(URL, OLD, 200), Row(URL, NEW, 200, revisit=True)],
    "where the record is known": [Row(URL, NEW, 200, place=WarcPlace("x", 1, 2)), Row(URL, NEW, 200)],
    "parts are not documents": [Row(URL, OLD, 200), Row(URL, NEW, 206)],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
def test_the_best_comes_first(order: list[Row]) -> None:
    for mixed in permutations(order):
        assert ranked(mixed, URL, None) == order


def test_the_nearest_comes_first_where_a_moment_is_asked_for() -> None:
    order = [Row(URL, "20140101000000", 200, revisit=True), Row(URL, OLD, 200), Row(URL, NEW, 200)]
    assert ranked(reversed(order), URL, datetime(2015, 1, 1, tzinfo=UTC)) == order


def test_a_query_asks_for_the_nearest_first() -> None:
    asked = parse_qs(query("http://a.example/?x=1&y=ü#", datetime(2015, 1, 1, tzinfo=UTC), filter="statuscode:200"))
    assert asked["url"] == ["http://a.example/?x=1&y=ü#"]
    assert (asked["closest"], asked["sort"], asked["output"]) == (["20150101000000"], ["closest"], ["json"])
    assert asked["filter"] == ["statuscode:200"]


@given(st.recursive(st.none() | st.integers() | st.text(), lambda t: st.lists(t) | st.dictionaries(st.text(), t)))
def test_any_json_is_an_index_or_a_value_error(value: object) -> None:
    with suppress(ValueError):
        assert rows(json.dumps(value).encode(), URL) == []


@pytest.mark.parametrize("text", ["", "2020", "20200230000000", "2020-01-02T03:0", "x" * 14])
def test_other_moments_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"not YYYY|day|format"):
        instant(text)
