"""Every hit of the example site is one that fatcat's importer takes, whoever of our sources asked for it."""

import asyncio
import json
from typing import Any

import pytest

from sandcrawler import wire
from sandcrawler.demo.documents import requests
from sandcrawler.demo.server import running
from sandcrawler.sources import doaj, fatcat
from tests.demo.test_flow import ingest
from tests.export.importer import ASKERS, LINK_SOURCES, complaints
from tests.sources.documents import DOAJ, FATCAT

# By kind of request: who asks for it in this test, as our sources do.
FRAMES = [next(iter(doaj.drafts(DOAJ))), fatcat.updated(FATCAT)[0]]


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    asked = [
        {**FRAMES[number % 2], "ingest_type": plain["ingest_type"], "base_url": plain["base_url"]}
        for number, plain in enumerate(requests(1, "html", "xml", "pdf"))
    ]
    with running() as web:
        outcomes = asyncio.run(ingest(web, asked))
    return [json.loads(wire.encode(outcome.result)) for outcome in outcomes.values()]


def test_every_hit_is_taken(results: list[dict[str, Any]]) -> None:
    hits = [result for result in results if result["hit"]]
    assert {result["request"]["ingest_type"] for result in hits} >= {"html", "xml"}
    assert {
        result["request"]["base_url"]: list(complaints(result)) for result in hits if list(complaints(result))
    } == {}


def test_the_hits_show_what_matters(results: list[dict[str, Any]]) -> None:
    """Else the test above would prove little: redirects, and pages with parts."""
    hits = [result for result in results if result["hit"]]
    assert any(result["request"]["base_url"] != result["terminal"]["terminal_url"] for result in hits)
    assert any(len(result.get("html_resources", ())) > 2 for result in hits)


def test_no_miss_is_taken(results: list[dict[str, Any]]) -> None:
    misses = [result for result in results if not result["hit"]]
    assert misses
    assert all(any(complaints(result)) for result in misses)


def test_the_importer_knows_our_sources() -> None:
    for frame in FRAMES:
        assert frame["ingest_request_source"] in ASKERS
        assert frame["link_source"] in LINK_SOURCES


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"hit": False}, "hit"),
        ({"file_meta": None}, "mimetype"),
        ({"terminal": {"terminal_dt": "2024", "terminal_status_code": 200, "terminal_url": "x"}}, "terminal_dt"),
        ({"cdx": {"url": "https://other.example.org/", "surt": "s"}}, "cdx.url"),
        ({"request": {"ingest_type": "html"}}, "link_source"),
    ],
)
def test_the_statement_of_its_rules_can_fail(
    results: list[dict[str, Any]], change: dict[str, Any], complaint: str
) -> None:
    hit = next(result for result in results if result["hit"] and result["request"]["ingest_type"] == "html")
    assert any(complaint in one for one in complaints(hit | change))
