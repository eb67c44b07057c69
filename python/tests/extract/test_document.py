"""A page parsed once: nothing silently cut, and the parts that every extractor asks for."""

import re
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler.extract import biblio, document
from sandcrawler.model import Page

CASES = Path(__file__).parent / "cases" / "html"
UNCLEAN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
URL = "https://journal.example.org/a/1"


def parse(body: bytes | str, url: str = URL) -> document.Document:
    return document.parse(Page(body.encode() if isinstance(body, str) else body, url, "text/html"))


@pytest.mark.parametrize("depth", [300, 1900])
def test_deep_nesting_is_whole(depth: int) -> None:
    found = parse("<p>top</p>" + "<div>" * depth + "<p>deep</p>" + "</div>" * depth + "<p>after</p>")
    assert found.whole
    assert found.visible_words == 3


@pytest.mark.parametrize("depth", [2100, 20_000])
def test_nesting_beyond_the_parser_is_said(depth: int) -> None:
    head = "<title>T</title><meta name=a content=b>"
    found = parse(head + "<div>" * depth + "deep" + "</div>" * depth + "<p>after</p>")
    assert not found.whole
    assert found.metas[0].content == "b"


@pytest.mark.parametrize("body", [b"", b"  \n ", b"<!-- only a comment -->", b"\0\0", b"\xff\xfe"])
def test_an_unusable_page_is_an_empty_document(body: bytes) -> None:
    found = parse(body)
    assert (found.root.tag, found.whole, found.visible_words) == ("html", False, 0)


def test_nul_and_controls_cut_nothing() -> None:
    found = parse(b"<p>a\0b\x08c</p><p>d&#0;e&#8;f&#xFFFF;g</p><p>&#145;h&#146;</p>")
    assert "".join(found.root.itertext()) == "abcdefg‘h’"


def test_the_end_of_html_is_not_the_end_of_the_page() -> None:
    page = "<html><body>one</body></html>\n<!-- x --><HTML><head><meta name=a content=b></head>"
    page += "<body><p>two </body></HTML >three"
    found = parse(page)
    assert "".join(found.root.xpath("//body")[0].itertext()).split() == ["one", "two", "three"]
    assert [meta.name for meta in found.metas] == ["a"]
    assert parse("<html></html><html><body>two</body></html>").visible_words == 1
    assert parse("<script>'</html>'</script><p>a</p></html>").visible_words == 1
    commented = parse(
        "<!--[if IE 8]><html></html><![endif]--><html lang=de><body class=x>İ one</body></html><!-- y -->"
    )
    assert commented.root.get("lang") == "de"
    assert commented.root.xpath("//body/@class") == ["x"]
    assert parse("<html></html><html lang=de><head></head><body class=x>two</body></html>").root.xpath(
        "//body/@class"
    ) == ["x"]


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("", URL),
        ('<base><base href="/static/"><base href="/other/">', "https://journal.example.org/static/"),
        (
            '<!-- <base href="/no/"> --><script>"<base href=/no/>"</script><base href="v2/">',
            "https://journal.example.org/a/v2/",
        ),
        ('<base href="javascript:alert(1)">', URL),
        ('<base href="//[bad">', URL),
        ('<base href="https://cdn.example.net/x#y">', "https://cdn.example.net/x"),
    ],
)
def test_base_url(head: str, base: str) -> None:
    assert parse(f"<head>{head}</head>").base_url == base


def test_metas_wherever_they_stand() -> None:
    found = parse(
        '<head><META NAME=" Citation_Title " CONTENT="A &amp;amp; B">'
        '<meta name=empty content=""><meta content=alone></head>'
        '<body><meta property="og:title" name="title" content="C" xml:lang="de">'
        '<meta name="d" scheme="DCTERMS.W3CDTF" content="1">'
    )
    assert [(meta.name, meta.content) for meta in found.metas] == [
        ("citation_title", "A &amp; B"),
        ("title", "C"),
        ("og:title", "C"),
        ("d", "1"),
    ]
    assert (found.metas[1].lang, found.metas[3].scheme) == ("de", "DCTERMS.W3CDTF")


def test_visible_words_are_what_is_seen() -> None:
    found = parse(
        "<head><title>no no</title><style>no{}</style></head><body>One <b>two</b>three<script>no()</script> four"
        "<noscript>no <p>no</p></noscript><template>no</template><!-- no -->five — <p>six</p></body>"
    )
    assert found.visible_words == 6
    assert parse("<p>毎月、私たちは岸に沿って歩き</p>").visible_words > 5


@given(st.binary(max_size=600), st.text(max_size=40), st.none() | st.text(max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_bytes_any_url_any_content_type(body: bytes, url: str, content_type: str | None) -> None:
    assert_clean(Page(body, url, content_type))


PIECES = r"""
<meta_name=citation_ title author doi date pdf_url _content=' '> " <script_type=application/ld+json> </script>
[ ] { } , null
{"@type":"Article","author": "@id":"#a" 1e999 \ud800 <title> </title> <div_itemscope_itemtype=Article> <h1> %00%ed%a0%80
<b_itemprop=author_itemscope> <span_class=Z3988_title='rft.au= &#0; &amp;amp; &#xD800; 10.5555/x 2020-02-30
<base_href='//['>
""".replace("_", " ").split()
SOUP = st.lists(
    st.sampled_from([*PIECES, "\0", "\x85", "é", "\ud7ff"]) | st.text(string.printable, max_size=5), max_size=60
)


@given(SOUP)
@settings(max_examples=300, deadline=None)
def test_any_soup_of_what_is_read(soup: list[str]) -> None:
    assert_clean(Page("".join(soup).encode(), URL, "text/html"))


@given(st.sampled_from(sorted(CASES.glob("*/input.html"))), st.integers(0, 4000), st.integers(0, 7), st.booleans())
@settings(max_examples=150, deadline=None)
def test_damaged_pages(path: Path, place: int, bit: int, cut: bool) -> None:
    body = bytearray(path.read_bytes())
    place %= len(body)
    body[place] ^= 1 << bit
    assert_clean(Page(bytes(body[:place] if cut else body), URL, "text/html"))


def assert_clean(page: Page) -> None:
    """Nothing raises or takes long, and no text holds what a database, JSON or XML cannot."""
    start = time.thread_time()
    found, sources = biblio.extract_biblio(document.parse(page))
    assert time.thread_time() - start < 5, "seconds of work, however busy the machine is"
    for field, value in found.model_dump(exclude_none=True).items():
        texts = value if isinstance(value, tuple) else (value,)
        assert texts
        assert field in sources
        for text in texts:
            if isinstance(text, str):
                assert text
                assert text == text.strip()
                assert not UNCLEAN.search(text), (field, text)
