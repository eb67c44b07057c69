"""extract_html as a whole: any bytes give a valid answer, and what the verdict publishes."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from sandcrawler.extract.html import extract_html, extract_pdf_link, extract_xml_link
from sandcrawler.model import Extracted, IngestWebResult, Page
from sandcrawler.status import KEPT, Scope, Status, verdict
from sandcrawler.wire import encode
from tests.extract.pages import ABSTRACT, HEADLINE, metas, page, prose, references, sections

URL = "https://journal.example.org/a/1"
FULL = page(
    HEADLINE + ABSTRACT + sections("Introduction", "Methods", "Results") + references(5), metas(doi="10.5555/1")
)
REAL = Path(__file__).resolve().parents[4] / "shared" / "real" / "html"

TAGS = st.sampled_from(
    [
        "p",
        "div",
        "table",
        "td",
        "h1",
        "meta",
        "base",
        "link",
        "script",
        "style",
        "img",
        "a",
        "iframe",
        "form",
        "input",
        "title",
        "frameset",
        "br",
        "br/",
        "!--",
        "svg",
        "math",
    ]
)
MARKUP = st.lists(
    st.one_of(
        TAGS.map("<{}>".format),
        TAGS.map("</{}>".format),
        st.text(max_size=30),
        st.sampled_from(
            [
                "<meta name=citation_title content=",
                "<img src=",
                "<base href=//[",
                '<meta http-equiv=refresh content="0;url=',
                "&#0;",
                "&#xD800;",
                "<![CDATA[",
                "srcset='",
                "style='background:url(",
            ]
        ),
    ),
    max_size=60,
).map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass"))
URLS = st.one_of(
    st.just(URL), st.text(max_size=40), st.sampled_from(["http://[", "http://", "//", "https://example.org:x/"])
)
TYPES = st.one_of(st.none(), st.text(max_size=30), st.just("text/html; charset=utf-16"))


def sound(answer: Extracted) -> None:
    """What holds of every answer, whatever the page."""
    assert isinstance(answer.status, Status)
    if answer.follow is None:
        assert answer.scope is not None
        assert answer.status in (verdict(answer.scope), answer.html_body and answer.html_body.status)
    if answer.body is not None:
        assert answer.status in KEPT
        assert answer.html_body is not None
        assert answer.html_body.status is Status.SUCCESS
        body = etree.fromstring(answer.body, etree.XMLParser(huge_tree=True)).find(".//{*}body")
        assert len("".join(body.itertext()).split()) == answer.html_body.word_count
    for one in answer.wanted:
        assert one.url.startswith(("http://", "https://"))
        assert one.url.isascii()
        assert "#" not in one.url
    assert len({one.url for one in answer.wanted}) == len(answer.wanted)
    result = IngestWebResult(
        status=answer.status, hit=False, timestamp="x", html_biblio=answer.html_biblio, html_resources=answer.wanted
    )
    json.loads(encode(result))


@given(st.binary(max_size=400), URLS, TYPES)
@settings(max_examples=150, deadline=None)
def test_any_bytes(body: bytes, url: str, content_type: str | None) -> None:
    for extract in (extract_html, extract_xml_link, extract_pdf_link):
        extract(Page(body, url, content_type))
    sound(extract_html(Page(body, url, content_type)))


@given(MARKUP, URLS, TYPES)
@settings(max_examples=200, deadline=None)
def test_any_markup(body: bytes, url: str, content_type: str | None) -> None:
    start = time.thread_time()
    sound(extract_html(Page(body, url, content_type)))
    assert time.thread_time() - start < 10


@given(st.integers(0, len(FULL)), st.lists(st.tuples(st.integers(0, len(FULL) - 1), st.integers(0, 255)), max_size=20))
@settings(max_examples=60, deadline=None)
def test_truncations_and_flipped_bytes(end: int, flips: list[tuple[int, int]]) -> None:
    body = bytearray(FULL)
    for position, value in flips:
        body[position] = value
    sound(extract_html(Page(bytes(body[:end]), URL, "text/html; charset=utf-8")))


@pytest.mark.skipif(not REAL.exists(), reason="the real pages are not beside this checkout")
@given(st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_real_pages_truncated_and_flipped(data: st.DataObject) -> None:
    body = bytearray(data.draw(st.sampled_from(sorted(REAL.glob("*.html")))).read_bytes())
    for _ in range(data.draw(st.integers(0, 30))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    sound(extract_html(Page(bytes(body[: data.draw(st.integers(0, len(body)))]), URL, "text/html")))


def test_a_full_text_is_published() -> None:
    answer = extract_html(Page(FULL, URL, "text/html"))
    assert (answer.status, answer.scope) == (Status.SUCCESS, Scope.ARTICLE_FULLTEXT)
    assert answer.body is not None
    assert answer.html_biblio is not None
    assert answer.html_biblio.doi == "10.5555/1"
    assert answer.sources["doi"]


def test_an_unknown_page_is_published_too() -> None:
    body = f"<html><body><article><h1>Nests</h1>{prose(100)}</article></body></html>"
    answer = extract_html(Page(body.encode(), URL, "text/html"))
    assert answer.status is Status.UNKNOWN_SCOPE
    assert answer.body is not None


def test_an_abstract_is_not() -> None:
    answer = extract_html(Page(page(HEADLINE + ABSTRACT, metas(doi="10.5555/1")), URL, "text/html"))
    assert answer.status is Status.WRONG_SCOPE
    assert answer.body is None
    assert answer.html_biblio is not None
