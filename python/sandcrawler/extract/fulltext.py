"""The full text of a page as TEI: trafilatura on the shared tree, and a second try where it misses the text.

Whole or an honest status: a page that the parser had to cut, or that no reader can turn into TEI, gets none.
Two things make it fast without changing what comes out. trafilatura's search for metadata and dates, more than half
of its time, is not run. And its fast mode (without the comparison with readability and justext) comes first: where
its text covers more than half of what the page shows, in clean paragraphs, the comparison could not have won.
"""

import logging
from collections.abc import Callable
from copy import copy
from typing import TypeVar

from lxml import etree
from lxml.etree import _Element
from trafilatura.core import bare_extraction
from trafilatura.meta import reset_caches

from sandcrawler.extract.blocks import as_body, list_blocks
from sandcrawler.extract.document import Document
from sandcrawler.extract.tei import AGENT, fit, write_tei
from sandcrawler.model import Biblio, HtmlBody
from sandcrawler.status import Status

Made = TypeVar("Made")

logging.getLogger("trafilatura").addHandler(logging.NullHandler())
logging.getLogger("trafilatura").propagate = False

# Below this share of the words that the plain walk finds, trafilatura has missed the text.
MISSED_SHARE = 0.5
# Below this share of the page's visible words, the comparison with other extractors may change the outcome.
SURE_SHARE = 0.55


def full_text(document: Document, biblio: Biblio) -> tuple[HtmlBody, bytes | None]:
    """What became of the page's text, and its TEI where that worked. Never raises but MemoryError."""
    if not document.whole:
        return HtmlBody(status=Status.TRAFILATURA_PARSE_ERROR, agent=AGENT), None
    tree = _fit_copy(document)
    content = _content(tree, document.visible_words)
    if content is None:
        return HtmlBody(status=Status.EMPTY_XML, agent=AGENT, word_count=0), None
    tei = _attempt(lambda: write_tei(content, biblio, document.url)) or _plain(tree, biblio, document.url)
    if tei is None:
        return HtmlBody(status=Status.HTML_TEIXML_ERROR, agent=AGENT), None
    xml, words = tei
    if not words:
        return HtmlBody(status=Status.EMPTY_XML, agent=AGENT, word_count=0), None
    return HtmlBody(status=Status.SUCCESS, agent=AGENT, word_count=words), xml


def forget() -> None:
    """Empty the caches of trafilatura and what it uses, so that memory stays flat over many pages."""
    reset_caches()


def _content(tree: _Element, visible: int) -> _Element | None:
    """The better of trafilatura's text and the plain walk's; None where the page has no text."""
    body = _attempt(lambda: _trafilatura(tree, visible))
    words = 0 if body is None else _words(body)
    if words < SURE_SHARE * visible:
        plain, found = as_body(list_blocks(tree))
        if words < MISSED_SHARE * found:
            return plain
    return body if words else None


def _trafilatura(tree: _Element, visible: int) -> _Element | None:
    """trafilatura's <body>, the same as with all its comparisons; None where it finds nothing."""
    body = _bare(tree, fast=True)
    if body is not None and _words(body) > SURE_SHARE * visible and _clean(body):
        return body
    return _bare(tree, fast=False)


def _bare(tree: _Element, *, fast: bool) -> _Element | None:
    found = bare_extraction(
        tree, output_format="xml", include_comments=False, include_formatting=True, with_metadata=False, fast=fast
    )
    return None if found is None else found.body


def _clean(body: _Element) -> bool:
    """What trafilatura asks before it prefers readability or tries justext: paragraphs, no fewer than tables."""
    paragraphs, tables = sum(1 for _ in body.iter("p")), sum(1 for _ in body.iter("table"))
    return paragraphs > 0 and tables <= paragraphs


def _plain(tree: _Element, biblio: Biblio, url: str) -> tuple[bytes, int] | None:
    """The plain walk as TEI: where trafilatura's body cannot be written."""
    return _attempt(lambda: write_tei(as_body(list_blocks(tree))[0], biblio, url))


def _fit_copy(document: Document) -> _Element:
    """A copy that trafilatura may change: no comments, no characters that XML cannot hold."""
    tree = copy(document.root)
    etree.strip_tags(tree, etree.Comment, etree.ProcessingInstruction)
    if (text := "".join(tree.itertext())) != fit(text):
        for element in tree.iter(etree.Element):
            element.text = element.text and fit(element.text)
            element.tail = element.tail and fit(element.tail)
    return tree


def _words(body: _Element) -> int:
    return len(" ".join(body.itertext()).split())


def _attempt(make: Callable[[], Made]) -> Made | None:
    """What `make` gives, or None where it breaks: a third-party parser may raise anything on a hostile page."""
    try:
        return make()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (RecursionError on deep pages, ValueError, AssertionError …)
        return None
