import json
from pathlib import Path
from typing import Any

import pytest

from sandcrawler.sources.base import BadReference
from sandcrawler.sources.w3c.index import Index, Row, read_rows
from sandcrawler.sources.w3c.lookup import date_key, find
from sandcrawler.sources.w3c.pubid import of_index, parse
from sandcrawler.sources.w3c.reference import identifier, normalize, read, whole
from tests.sources.w3c.shared import SHARED, needs_recordings


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("W3C REC-xml-names-20091208", "W3C REC-xml-names-20091208"),
        ("REC-xml-names-20091208", "W3C REC-xml-names-20091208"),
        ("  w3c \t REC-xml ", "W3C REC-xml"),
        ("TR/xml-names", "W3C xml-names"),
        ("tr-xml-names", "W3C xml-names"),
        ("http://www.w3.org/TR/REC-xml", "W3C REC-xml"),
        ("HTTPS://www.w3.org/tr/xml-names/", "W3C xml-names"),
        ("xml-names//", "W3C xml-names/"),
        ("W3C W3C x", "W3C W3C x"),
        ("TR/TR/x", "W3C TR/x"),
        # Better than upstream: the year's folder, fragments, queries and file names of dated URLs.
        ("https://www.w3.org/TR/2020/REC-json-ld11-20200716/", "W3C REC-json-ld11-20200716"),
        ("https://www.w3.org/TR/2020/REC-json-ld11-20200716/#iri", "W3C REC-json-ld11-20200716"),
        ("https://www.w3.org/TR/2020/REC-json-ld11-20200716/Overview.html?x=1", "W3C REC-json-ld11-20200716/Overview"),
        ("https://www.w3.org/TR/xml-names/#ns-decl", "W3C xml-names"),
        ("TR/1998/REC-CSS2-19980512/fonts.html", "W3C REC-CSS2-19980512/fonts"),
        ("https://www.w3.org/TR/1998/NOTE-xml-names-0119", "W3C NOTE-xml-names-0119"),
    ],
)
def test_what_people_write(reference: str, expected: str) -> None:
    assert normalize(reference) == expected


@pytest.mark.parametrize(
    ("reference", "publication"),
    [
        ("https://www.w3.org/TR/2020/REC-json-ld11-20200716/Overview.html", "W3C REC-json-ld11-20200716"),
        ("http://www.w3.org/TR/1999/REC-xml-names-19990114/xml-names.html#x", "W3C REC-xml-names-19990114"),
        ("TR/2014/WD-html5-20140617/single-page.html", "W3C WD-html5-20140617"),
        ("https://www.w3.org/TR/2020/REC-json-ld11-20200716/", None),
        ("https://www.w3.org/TR/2020/REC-json-ld11-20200716/?x=/y", None),
        ("https://www.w3.org/TR/html5/single-page.html", None),
        ("W3C WD-DOM-19980416/requirements", None),
    ],
)
def test_the_publication_that_a_page_is_of(reference: str, publication: str | None) -> None:
    assert whole(reference) == (parse(publication) if publication else None)


@pytest.mark.parametrize("reference", ["  ", "https://www.w3.org/TR/", "REC-", "TR/", "https://www.w3.org/", "\0"])
def test_nothing_is_left(reference: str) -> None:
    with pytest.raises(BadReference):
        read(reference)


def test_an_identifier_is_itself() -> None:
    wanted = parse("W3C REC-xml")
    assert read(wanted) is wanted


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.w3.org/TR/2024/REC-webrtc-20241008/", "REC-webrtc-20241008"),
        ("https://www.w3.org/TR/webrtc/", "webrtc"),
        ("https://www.w3.org/TR/1998/REC-CSS2-19980512/fonts.html", "REC-CSS2-19980512/fonts"),
        ("http://www.w3.org/1999/04/Editing/01", "01"),
        ("https://www.w3.org/TR/css-color-4/", "css-color-4"),
        ("", ""),
        ("///", ""),
    ],
)
def test_the_identifier_in_a_url(url: str, expected: str) -> None:
    assert identifier(url) == expected


def test_order_of_dates() -> None:
    dates = [None, "0202", "0414", "970930", "19971107", "980619", "19990824"]
    assert sorted(set(dates), key=date_key) == dates
    assert date_key(None) == 0
    assert date_key("980619") > date_key("19980512")


def index(*texts: str) -> Index:
    return Index.of(Row(parse(f"W3C {text}"), f"{text.replace('/', '_')}.yaml") for text in texts)


def found(wanted: str, *texts: str) -> str | None:
    row = find(index(*texts), parse(f"W3C {wanted}"))
    return str(row.pubid).removeprefix("W3C ") if row else None


def test_the_newest_wins() -> None:
    assert found("REC-a", "REC-a-20060816", "REC-a-20091208", "REC-a-19990114", "WD-a-20200101") == "REC-a-20091208"


def test_a_miss_is_a_miss() -> None:
    rows = ("REC-a-20091208", "a-2009")
    assert found("REC-a-20091209", *rows) is None
    assert found("WD-a", *rows) is None
    assert found("REC-a-2009", *rows) is None
    assert found("b", *rows) is None


def test_case_is_ignored_only_where_the_exact_number_has_nothing() -> None:
    assert found("A", "a", "REC-A-20200101") == "a"
    assert found("REC-PNG", "REC-png-20031110") == "REC-png-20031110"
    assert found("REC-png", "REC-png-961001", "REC-PNG-20031110") == "REC-png-961001"
    assert found("REC-PNG-20031111", "REC-png-20031110") is None


def cases() -> list[dict[str, Any]]:
    if SHARED.is_dir():
        given = json.loads((SHARED / "lookup_cases.json").read_text())
        return [*given["cases"], *given["synthetic_cases"]]
    return []


@pytest.fixture(scope="module")
def published() -> Index:
    return Index.of(read_rows(SHARED / "index" / "index_v2_sample.jsonl"))


@needs_recordings
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["why"][:40])
def test_known_cases(case: dict[str, Any], published: Index) -> None:
    rows = case.get("rows")
    index = Index.of(Row(of_index(row["id"]), row["file"]) for row in rows) if rows else published
    try:
        row = find(index, read(case["reference"]))
    except BadReference:
        assert case["outcome"] == "parse_error"
        return
    assert (str(row.pubid) if row else None) == case["expected"]
    assert (row.file if row else None) == case["expected_file"]


def test_a_name_of_files_breaks_ties(tmp_path: Path) -> None:
    rows = [Row(parse("W3C WD-xY"), "data/q.yaml"), Row(parse("W3C WD-Xy"), "data/p.yaml")]
    row = find(Index.of(rows), parse("W3C WD-xy"))
    assert row is not None
    assert row.file == "data/q.yaml"
