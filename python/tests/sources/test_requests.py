"""What may get through, what is the same, and what is said of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.extract import identifiers
from sandcrawler.extract.urls import resolve
from sandcrawler.sources import requests
from sandcrawler.sources.fields import PLAIN_URL
from sandcrawler.sources.requests import BadRow, Report, checked, ext_ids, make, request, web_url
from sandcrawler.sources.seen import Seen

URL = "https://journal.example.org/1"


@pytest.mark.parametrize(
    ("written", "url"),
    [
        (URL, URL),
        ("https://journal.example.org", "https://journal.example.org"),
        ("https://journal.example.org/a?b=%20&c=(d)", "https://journal.example.org/a?b=%20&c=(d)"),
        (f"  {URL}\n", URL),
        ("HTTPS://journal.example.org/x y", "https://journal.example.org/x%20y"),
        ("https://journal.example.org/ü#part", "https://journal.example.org/%C3%BC"),
        ("https://https://journal.example.org/1", URL),
        (URL + "x" * (1500 - len(URL)), URL + "x" * (1500 - len(URL))),
    ],
)
def test_urls_that_get_through(written: str, url: str) -> None:
    assert web_url(written) == url


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "blank"),
        (" \t\n", "blank"),
        (None, "blank"),
        (["https://journal.example.org/"], "blank"),
        ("ftp://journal.example.org/1", "not an http"),
        ("journal.example.org/1", "not an http"),
        ("//journal.example.org/1", "not an http"),
        ("javascript:alert(1)", "not an http"),
        ("https://", "not an http"),
        (f"{URL}\n{URL}", "a line break"),
        (f"{URL}a\r\nb", "a line break"),
        ("http://[::1", "not an http"),
        (URL + "\ufffd\ufffd", "not UTF-8"),
        ("https://journal.example.org:99999/", "not an http"),
        (URL + "x" * 1500, "more than 1500 bytes"),
        (URL + "ü" * 700, "more than 1500 bytes"),
        (URL + "x" * 100_000, "more than 1500 bytes"),
    ],
)
def test_urls_that_never_get_through(written: object, reason: str) -> None:
    with pytest.raises(BadRow, match=reason):
        web_url(written)


@given(st.from_regex(PLAIN_URL, fullmatch=True))
def test_plain_urls_are_what_a_browser_would_ask_for(url: str) -> None:
    """The short way agrees with the long one, but for the path that a bare host has."""
    if (resolved := resolve(url, "")) is not None:
        assert resolved in (url, url + "/")


def test_an_empty_query_is_no_query() -> None:
    assert web_url("https://journal.example.org/a?") == "https://journal.example.org/a"


@given(st.from_regex(requests._PLAIN_DOI, fullmatch=True))
def test_plain_dois_are_what_the_long_way_says(doi: str) -> None:
    assert requests.doi(doi) == identifiers.doi(doi)


def test_identifiers_have_one_form() -> None:
    written = {
        "doi": "https://doi.org/10.1234/ABC",
        "pmcid": "pmc 12",
        "pmid": 7,
        "arxiv": "x",
        "doaj": " d ",
        "mag": None,
    }
    assert ext_ids(written) == {"doi": "10.1234/abc", "pmcid": "PMC12", "pmid": "7", "doaj": "d"}


@pytest.mark.parametrize(
    "draft",
    [
        request("epub", URL, "list", "1", by="list"),
        request("html", URL, "list", None, by="list"),
        request("html", URL, "list", "é" * 251, by="list"),
        request("html", URL, "é" * 51, "1", by="list"),
        request("html", URL, "list", "1", by="é" * 251),
    ],
)
def test_drafts_that_lack_something(draft: requests.Request) -> None:
    with pytest.raises(BadRow):
        checked(draft)


def test_absent_fields_are_left_out() -> None:
    assert set(request("html", URL, "list", "1", by="list")) == {
        "ingest_type",
        "base_url",
        "link_source",
        "link_source_id",
        "ingest_request_source",
    }


def test_requests_are_made_once_and_bad_rows_named() -> None:
    bad: list[tuple[int | str, str]] = []
    report = Report(lambda _, where, reason: bad.append((where, reason)))
    rows = [(1, "a"), (2, BadRow("not JSON")), (3, "bad"), (5, "a"), (6, "b")]

    def draft(value: str) -> list[requests.Request]:
        url = "nothing" if value == "bad" else f"https://{value}.example.org/"
        return [request("html", url, "list", value, by="list"), request("pdf", URL, "list", value, by="list")]

    made = [(one["link_source_id"], one["ingest_type"]) for one in make(rows, draft, Seen(), report)]
    assert made == [("a", "html"), ("a", "pdf"), ("bad", "pdf"), ("b", "html"), ("b", "pdf")]
    assert [where for where, _ in bad] == [2, 3]
    assert (report.rows, report.requests, report.duplicates, report.left_out) == (5, 5, 2, 2)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("10.1234/a b", None),
        ("doi:10.1234/a (print)", None),
        ("DOI: 10.1234/A", "10.1234/a"),
        (" 10.1234/a\n", "10.1234/a"),
        ("https://doi.org/10.1234/A", "10.1234/a"),
    ],
)
def test_a_doi_with_a_blank_in_it_is_none(written: str, expected: str | None) -> None:
    """What stands before the blank may be another's."""
    assert requests.doi(written) == expected


def test_rows_without_a_link_are_counted() -> None:
    report = Report(lambda *_: None)
    drafts = {"none": [], "one": [request("html", URL, "list", "1", by="list")]}
    list(make([(1, "none"), (2, "one"), (3, "one"), (4, "none"), (5, BadRow("x"))], drafts.__getitem__, Seen(), report))
    assert (report.requests, report.duplicates, report.without_links, report.left_out) == (1, 1, 2, 1)


def test_a_request_too_large_for_a_message_is_a_bad_row() -> None:
    assert checked(request("html", URL, "list", "1", by="list", extra={"a": "x" * 1_000_000}))
    with pytest.raises(BadRow, match="more than 1048576 bytes"):
        checked(request("html", URL, "list", "1", by="list", extra={"a": ["é" * 10] * 50_000}))


@given(st.lists(st.text(max_size=3)))
def test_seen_is_exact(keys: list[str]) -> None:
    seen, before = Seen(), set()
    for key in keys:
        assert seen.add(key, "x") == (key not in before)
        before.add(key)


def test_seen_grows_and_forgets_the_oldest() -> None:
    seen = Seen(limit=10_000)
    assert all(seen.add(str(number)) for number in range(25_000))
    assert not any(seen.add(str(number)) for number in range(10_000, 25_000))
    assert seen.add("5")
