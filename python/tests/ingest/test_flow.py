"""The story of one request, told against a scripted web and a scripted extraction."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from sandcrawler.config import Config
from sandcrawler.fetch.base import Recorder
from sandcrawler.fetch.digest import Digest
from sandcrawler.ingest.flow import Flow
from sandcrawler.ingest.outcome import Outcome
from sandcrawler.model import Biblio, Capture, Extracted, Follow, HtmlBody, IngestRequest, Page, WantedResource
from sandcrawler.names import Topic
from sandcrawler.status import Scope, Status

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
A, B, C = (f"https://journal.example.org/{name}" for name in "abc")
HTML = b"<!DOCTYPE html><html><head><title>t</title></head><body><p>words</p></body></html>"
FULL = Extracted(
    Status.SUCCESS,
    scope=Scope.ARTICLE_FULLTEXT,
    html_biblio=Biblio(title="Whole", contrib_names=("A. One", "B. Two")),
    html_body=HtmlBody(status=Status.SUCCESS, agent="trafilatura/2", word_count=2),
    body=b"<TEI/>",
)
LANDING = Extracted(
    Status.WRONG_SCOPE,
    scope=Scope.LANDINGPAGE,
    html_biblio=Biblio(title="Landing", doi="10.5555/1", contrib_names=("A. One",)),
)


def page(url: str, body: bytes = HTML, **changes: Any) -> Capture:
    """A whole, successful response."""
    capture = Capture(url, Status.SUCCESS, (url,), NOW, url, 200, (("Content-Type", "text/html"),), body)
    return replace(capture, **changes)


class ScriptedWeb:
    """A fetcher whose answers are given; remembers what was asked."""

    def __init__(self, answers: Mapping[str, Capture], seconds: float = 0) -> None:
        self.answers, self.seconds, self.asked = answers, seconds, []

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["ScriptedWeb"]:
        yield self

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        self.asked.append(url)
        await asyncio.sleep(self.seconds)
        return self.answers[url]

    async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest]:
        capture = await self.get(url, deadline)
        digest = Digest(capture.header("content-type"))
        digest.write(capture.body or b"")
        return capture, digest

    def release(self) -> None:
        """Nothing is held."""


def ingest(
    web: ScriptedWeb, says: Callable[[str, Page], Extracted], kind: str = "html", url: str = A, **settings: Any
) -> Outcome:
    async def extract(step: str, page: Page) -> Extracted:
        return says(step, page)

    verbatim = {"ingest_type": kind, "base_url": url, "note": "kept"}
    flow = Flow(web, extract, Config(**settings))
    return asyncio.run(flow.ingest(IngestRequest.model_validate(verbatim), verbatim))


def by_url(answers: Mapping[str, Extracted]) -> Callable[[str, Page], Extracted]:
    return lambda _, page: answers[page.url]


def test_a_full_text_is_a_hit_with_its_body() -> None:
    outcome = ingest(ScriptedWeb({A: page(A)}), by_url({A: FULL}))
    result = outcome.result
    assert (result.status, result.hit, result.hops) == (Status.SUCCESS, True, (A,))
    assert result.terminal is not None
    assert result.file_meta is not None
    assert result.cdx is not None
    assert result.terminal.terminal_dt == result.cdx.datetime == "20260102030405"
    assert result.terminal.terminal_url == result.cdx.url == A
    assert (outcome.topic, outcome.key) == (Topic.HTML_TEIXML, result.file_meta.sha1hex)
    assert outcome.document == b"<TEI/>"
    assert result.request == {"ingest_type": "html", "base_url": A, "note": "kept"}


def test_a_landing_page_is_followed_and_its_bibliography_kept() -> None:
    answers = {A: replace(LANDING, follow=Follow(B, "citation_fulltext_html_url")), B: FULL}
    result = ingest(ScriptedWeb({A: page(A), B: page(B)}), by_url(answers)).result
    assert result.status is Status.SUCCESS
    assert result.hops == (A, B)
    assert result.extract_next_hop is not None
    assert [hop.technique for hop in result.extract_next_hop] == ["citation_fulltext_html_url"]
    assert result.html_biblio is not None
    assert (result.html_biblio.title, result.html_biblio.doi) == ("Landing", "10.5555/1")
    assert result.html_biblio.contrib_names == ("A. One", "B. Two"), "the full text names more authors"


def test_a_link_back_to_a_page_seen_leaves_the_landing_page_s_own_verdict() -> None:
    answers = {A: replace(LANDING, follow=Follow(A, "citation_fulltext_html_url"))}
    web = ScriptedWeb({A: page(A)})
    result = ingest(web, by_url(answers)).result
    assert (result.status, result.scope, web.asked) == (Status.WRONG_SCOPE, Scope.LANDINGPAGE, [A])


def test_a_refresh_loop_is_a_link_loop() -> None:
    refresh = Extracted(Status.WRONG_SCOPE, scope=Scope.STUB)
    answers = {
        A: replace(refresh, follow=Follow(B, "meta-refresh")),
        B: replace(refresh, follow=Follow(A, "meta-refresh")),
    }
    result = ingest(ScriptedWeb({A: page(A), B: page(B)}), by_url(answers)).result
    assert (result.status, result.hit, result.hops) == (Status.LINK_LOOP, False, (A, B))


def test_more_documents_than_the_limit() -> None:
    def says(_: str, page: Page) -> Extracted:
        return Extracted(Status.WRONG_SCOPE, follow=Follow(f"{page.url}x", "meta-refresh"))

    urls = [A + "x" * n for n in range(10)]
    result = ingest(ScriptedWeb({url: page(url) for url in urls}), says, ingest_hops=3).result
    assert (result.status, result.hops) == (Status.MAX_HOPS_EXCEEDED, tuple(urls[:4]))


@pytest.mark.parametrize(
    ("kind", "status"), [("xml", Status.NO_XML_LINK), ("pdf", Status.NO_PDF_LINK)], ids=["xml", "pdf"]
)
def test_a_page_in_place_of_the_document_is_searched_for_its_link(kind: str, status: Status) -> None:
    steps = []

    def says(step: str, page: Page) -> Extracted:
        steps.append(step)
        return Extracted(status, html_biblio=Biblio(title="Landing"))

    result = ingest(ScriptedWeb({A: page(A)}), says, kind).result
    assert (result.status, steps) == (status, [f"{kind}-link"])
    assert result.html_biblio is not None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"%PDF-1.4 ...", "html"),
        (HTML.replace(b"<!DOCTYPE html>", b""), "pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "xml"),
    ],
)
def test_another_type_than_asked_keeps_its_file_meta(body: bytes, kind: str) -> None:
    outcome = ingest(ScriptedWeb({A: page(A, body)}), lambda *_: Extracted(Status.NO_PDF_LINK), kind)
    assert outcome.result.status in (Status.WRONG_MIMETYPE, Status.NO_PDF_LINK)
    assert outcome.result.file_meta is not None
    assert outcome.message is None


@pytest.mark.parametrize("status", [Status.REDIRECT_LOOP, Status.DNS_ERROR, Status.EMPTY_BLOB, Status.TLS_ERROR])
def test_a_failed_capture_is_the_result(status: Status) -> None:
    capture = page(A, b"", status=status, hops=(A, B), terminal_url=B, error_message="why")
    result = ingest(ScriptedWeb({A: capture}), by_url({})).result
    assert (result.status, result.hit, result.hops, result.error_message) == (status, False, (A, B), "why")
    assert result.file_meta is None
    assert result.html_biblio is None
    assert result.terminal is not None
    assert result.terminal.terminal_url == B


def test_a_wall_carries_no_bibliography_even_after_a_landing_page() -> None:
    wall = Extracted(Status.BLOCKED_WALL, scope=Scope.BLOCKED_PAYWALL, html_biblio=Biblio(title="Log in"))
    answers = {A: replace(LANDING, follow=Follow(B, "galley")), B: wall}
    outcome = ingest(ScriptedWeb({A: page(A), B: page(B)}), by_url(answers))
    assert outcome.result.status is Status.BLOCKED_WALL
    assert outcome.result.html_biblio is None
    assert outcome.result.file_meta is not None


def test_a_request_that_takes_too_long_says_so_and_tells_its_hops() -> None:
    result = ingest(ScriptedWeb({A: page(A)}, seconds=5), by_url({A: FULL}), ingest_seconds=0.05).result
    assert (result.status, result.hops) == (Status.TIMEOUT, (A,))
    assert "0.05 s" in (result.error_message or "")


def test_too_many_sub_resources_are_said_and_not_fetched() -> None:
    wanted = tuple(WantedResource(url=f"{A}/{n}.png", resource_type="image") for n in range(4))
    web = ScriptedWeb({A: page(A)})
    outcome = ingest(web, by_url({A: replace(FULL, wanted=wanted)}), ingest_resources=3)
    assert (outcome.result.status, outcome.result.hit, web.asked) == (Status.TOO_MANY_RESOURCES, False, [A])
    assert outcome.message is None
    assert outcome.result.html_biblio is not None


def test_a_body_larger_than_a_message_is_said_and_is_no_hit() -> None:
    large = replace(FULL, body=b"<TEI>" + b"a" * 10_000 + b"</TEI>")
    outcome = ingest(ScriptedWeb({A: page(A)}), by_url({A: large}), message_bytes=8_000)
    assert outcome.result.status is Status.BODY_TOO_LARGE
    assert not outcome.result.hit
    assert outcome.result.html_body is not None
    assert outcome.result.html_body.status is Status.BODY_TOO_LARGE
    assert (outcome.message, outcome.document) == (None, None)


def test_a_link_too_long_to_be_a_key_is_not_asked_for() -> None:
    url = A + "é" * 800
    web = ScriptedWeb({})
    result = ingest(web, by_url({}), url=url).result
    assert (result.status, web.asked, result.hops) == (Status.BAD_URL, [], (url,))


def test_a_refused_page_that_is_a_wall_says_which() -> None:
    refused = page(A, status=Status.TERMINAL_BAD_STATUS, status_code=403, error_message="HTTP 403")
    captcha = Extracted(Status.BLOCKED_CAPTCHA, scope=Scope.BLOCKED_CAPTCHA, html_biblio=Biblio(title="Just a moment"))
    result = ingest(ScriptedWeb({A: refused}), by_url({A: captcha})).result
    assert (result.status, result.scope, result.html_biblio) == (Status.BLOCKED_CAPTCHA, Scope.BLOCKED_CAPTCHA, None)
    assert result.error_message == "HTTP 403"


def test_a_refused_page_that_is_no_wall_keeps_its_status() -> None:
    refused = page(A, status=Status.TERMINAL_BAD_STATUS, status_code=404)
    result = ingest(ScriptedWeb({A: refused}), by_url({A: FULL})).result
    assert (result.status, result.scope, result.html_body) == (Status.TERMINAL_BAD_STATUS, None, None)
    assert result.file_meta is not None


def test_hops_begin_with_the_link_as_it_was_given() -> None:
    given = "https://journal.example.org/a#top"
    result = ingest(ScriptedWeb({given: page(A)}), by_url({A: FULL}), url=given).result
    assert result.hops == (given, A)
