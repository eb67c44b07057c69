import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.sources.base import BadReference
from sandcrawler.sources.identifiers import includes
from sandcrawler.sources.w3c.pubid import LEVELS, Pubid, of_index, parse
from tests.sources.w3c.shared import SHARED, needs_recordings


@pytest.mark.parametrize(
    ("text", "kind", "number", "date"),
    [
        ("W3C REC-xml-names-19990114", "recommendation", "xml-names", "19990114"),
        ("W3C REC-xml-names", "recommendation", "xml-names", None),
        ("W3C xml-names", "standard", "xml-names", None),
        ("W3C CRD-accelerometer-20250212", "candidate-recommendation-draft", "accelerometer", "20250212"),
        ("W3C CR-accelerometer-20250212", "candidate-recommendation", "accelerometer", "20250212"),
        ("W3C DNOTE-a-20240419", "draft-note", "a", "20240419"),
        ("W3C NOTE-TPRC-970930", "note", "TPRC", "970930"),
        ("W3C WD-smil-0202", "working-draft", "smil", "0202"),
        ("W3C PER-a-20200101", "proposed-edited-recommendation", "a", "20200101"),
        ("W3C PR-CSS1", "proposed-recommendation", "CSS1", None),
        ("W3C SPSD-a-20200101", "superseded-recommendation", "a", "20200101"),
        ("W3C OBSL-a-20200101", "obsolete-recommendation", "a", "20200101"),
        # Slugs: what looks like a level, a date or a file and is none.
        ("W3C REC", "standard", "REC", None),
        ("W3C rec", "standard", "rec", None),
        ("W3C rec-xml-20081126", "standard", "rec-xml", "20081126"),
        ("W3C RET-x-20200101", "standard", "RET-x", "20200101"),
        ("W3C FPWD-x", "standard", "FPWD-x", None),
        ("W3C css-2026", "standard", "css", "2026"),
        ("W3C vocab-ssn-2023", "standard", "vocab-ssn", "2023"),
        ("W3C url-1", "standard", "url-1", None),
        ("W3C ATAG10", "standard", "ATAG10", None),
        ("W3C 07-WebData", "standard", "07-WebData", None),
        ("W3C xpath-datamodel-31", "standard", "xpath-datamodel-31", None),
        ("W3C REC-a-20200101.html", "recommendation", "a-20200101.html", None),
        ("W3C WD-DOM-19980416/requirements", "working-draft", "DOM-19980416/requirements", None),
        ("W3C  two spaces", "standard", " two spaces", None),
    ],
)
def test_identifiers(text: str, kind: str, number: str, date: str | None) -> None:
    assert parse(text) == Pubid(kind, number, date)
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", ["", "W3C", "W3C ", "W3C REC-", "W3C NOTE-", "w3c xml", "xml", "W3C " + "a" * 997])
def test_what_is_no_identifier(text: str) -> None:
    with pytest.raises(BadReference):
        parse(text)


def test_the_longest_identifier() -> None:
    assert parse("W3C " + "a" * 996).number == "a" * 996


@pytest.mark.parametrize(
    ("text", "urn", "year"),
    [
        ("W3C REC-xml-names-19990114", "urn:w3c:rec:xml-names:19990114", "1999"),
        ("W3C NOTE-TPRC-970930", "urn:w3c:note:TPRC:970930", None),
        ("W3C xml-names", "urn:w3c:xml-names", None),
        ("W3C css-2026", "urn:w3c:css:2026", None),
    ],
)
def test_urn_and_year(text: str, urn: str, year: str | None) -> None:
    assert (parse(text).urn, parse(text).year) == (urn, year)


def test_subset_match() -> None:
    undated, dated = parse("W3C REC-xml-names"), parse("W3C REC-xml-names-19990114")
    assert includes(undated, dated)
    assert not includes(dated, undated)
    assert not includes(parse("W3C WD-xml-names"), dated)
    assert not includes(parse("W3C REC-XML-names"), dated)
    assert includes(dated, parse("W3C REC-xml-names-19990114"))


LEVEL = st.sampled_from(["", *(f"{level}-" for level in LEVELS)])


@given(LEVEL, st.text(min_size=1, max_size=30), st.sampled_from(["", "-20200101", "-970930", "-0202", "-12345"]))
def test_writing_gives_back_what_was_read(level: str, number: str, date: str) -> None:
    text = f"W3C {level}{number}{date}"
    assert str(parse(text)) == text


@needs_recordings
def test_every_row_of_the_published_index() -> None:
    for line in (SHARED / "index" / "index_v2_sample.jsonl").read_text().splitlines():
        row = json.loads(line)
        assert of_index(row["id"]) == parse(row["ref"])
        assert str(of_index(row["id"])) == row["ref"]


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"_type": "pubid:w3c:novel", "number": "a"},
        {"_type": "pubid:w3c:note"},
        {"_type": "pubid:w3c:note", "number": ""},
        {"_type": "pubid:w3c:note", "number": "a", "date": 2020},
    ],
)
def test_a_malformed_row(row: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not an identifier"):
        of_index(row)
