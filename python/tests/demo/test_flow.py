"""The example site through the real fetcher and the real extraction, over sockets: each document comes out as expected.

No broker, database or bucket: those are `sandcrawler demo` itself.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sandcrawler.config import Config
from sandcrawler.demo.documents import Document, copied, documents, requests
from sandcrawler.demo.server import Web, running
from sandcrawler.fetch.live import Fetcher
from sandcrawler.ingest.flow import Flow
from sandcrawler.ingest.outcome import Outcome
from sandcrawler.ingest.sandbox import Sandbox
from sandcrawler.model import IngestRequest
from sandcrawler.status import Scope, Status

ALL = documents("html", "xml", "pdf")


async def ingest(web: Web, asked: list[dict[str, Any]]) -> dict[str, Outcome]:
    """The outcome of each request, by its URL, all in flight at once."""
    config = Config(fetch_connect_to=web.connect_to, fetch_allow_addresses="127.0.0.0/8", fetch_host_gap=0)  # type: ignore[arg-type]
    async with Sandbox(config) as sandbox, Fetcher(config) as fetcher:
        flow = Flow(fetcher, sandbox.extract, config)
        outcomes = await asyncio.gather(*(flow.ingest(IngestRequest.model_validate(a), a) for a in asked))
    return {request["base_url"]: outcome for request, outcome in zip(asked, outcomes, strict=True)}


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[str, Outcome]]:
    """Every document once, and a second copy of each."""
    with running() as web:
        yield asyncio.run(ingest(web, list(requests(2, "html", "xml", "pdf"))))


@pytest.mark.parametrize("document", ALL, ids=lambda d: d.name)
@pytest.mark.parametrize("copy", [0, 1])
def test_the_outcome_is_the_expected_one(outcomes: dict[str, Outcome], document: Document, copy: int) -> None:
    outcome, expected = outcomes[copied(document.url, copy)], document.expected
    result = outcome.result
    assert (result.status, result.scope) == (expected.status, expected.scope), result.error_message
    biblio = result.xml_meta.biblio if result.xml_meta else result.html_biblio
    assert expected.title is None or (biblio is not None and biblio.title == expected.title)
    assert len(result.html_resources_missing or ()) == expected.missing
    assert (outcome.message is not None) == (expected.status is Status.SUCCESS)


@pytest.mark.parametrize("document", ALL, ids=lambda d: d.name)
def test_the_hops_end_where_the_table_says(outcomes: dict[str, Outcome], document: Document) -> None:
    hops = outcomes[document.url].result.hops
    assert hops is not None
    assert hops[0] == document.url
    if document.expected.status is not Status.REDIRECT_LOOP:
        assert hops[-1] == (document.expected.terminal or document.url)


def test_what_robots_txt_denies_is_not_asked_for() -> None:
    asked = [request for request in requests(2) if "quietpress" in request["base_url"]]
    seen: list[str] = []
    with running(log=lambda access: seen.append(access.url)) as web:
        answered = asyncio.run(ingest(web, asked))
    assert {outcome.result.status for outcome in answered.values()} == {Status.BLOCKED_ROBOTS}
    assert {o.result.terminal and o.result.terminal.terminal_status_code for o in answered.values()} == {None}
    assert seen == ["http://quietpress.example.net/robots.txt"]


H54 = {
    "empty": (Status.EMPTY_BLOB, None),
    "captcha": (Status.BLOCKED_CAPTCHA, Scope.BLOCKED_CAPTCHA),
    "cookie-wall": (Status.BLOCKED_COOKIE, Scope.BLOCKED_COOKIE),
    "paywall": (Status.BLOCKED_WALL, Scope.BLOCKED_PAYWALL),
    "login": (Status.BLOCKED_WALL, Scope.BLOCKED_LOGIN),
    "soft-404": (Status.WRONG_SCOPE, Scope.ERRORPAGE),
}


@pytest.mark.parametrize("name", H54)
def test_h54_walls_and_soft_errors_are_no_documents(outcomes: dict[str, Outcome], name: str) -> None:
    outcome = outcomes[next(document.url for document in ALL if document.name == name)]
    assert (outcome.result.status, outcome.result.scope) == H54[name]
    assert (outcome.result.hit, outcome.message, outcome.result.html_biblio) == (False, None, None)


def test_two_copies_of_a_document_make_the_same_rows_and_bodies(outcomes: dict[str, Outcome]) -> None:
    """So that many requests for few documents end in one state, in whatever order they are answered."""
    for document in ALL:
        first, second = (outcomes[copied(document.url, copy)] for copy in (0, 1))
        assert first.key == second.key, document.name
        assert first.document == without_copy(second.document), document.name
        assert described(first) == described(second), document.name


def without_copy(tei: bytes | None) -> bytes | None:
    """A TEI names the URL of its document: the one thing in which copies may differ."""
    return tei and tei.replace(b"?copy=1", b"").replace(b"&amp;copy=1", b"")


def described(outcome: Outcome) -> dict[str, Any]:
    """What a result says of its document, without the moments of capture."""
    result = outcome.result.model_dump(
        include={"file_meta", "scope", "platform", "html_biblio", "html_body", "xml_meta", "pdf_meta"}
    )
    resources = [(r.url, getattr(r, "sha1hex", None)) for r in outcome.result.html_resources or ()]
    return result | {"resources": resources}
