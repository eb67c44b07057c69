"""The full text of a page as TEI: trafilatura on the shared tree, and a second try where it misses the text.

Whole or an honest status: a page that the parser had to cut, or that no reader can turn into TEI, gets none.
Two things make it fast without changing what comes out. trafilatura's search for metadata and dates, more than half
of its time, is not run. And its fast mode (without the comparison with readability and justext) comes first: where
its text covers more than half of what the page shows, in clean paragraphs, the comparison could not have won.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from lxml import etree
from lxml.etree import _Element
from trafilatura.core import bare_extraction
from trafilatura.meta import reset_caches

from sandcrawler.extract.blocks import Block, word_count
from sandcrawler.extract.document import Document
from sandcrawler.extract.lexicon import Zone
from sandcrawler.extract.tei import AGENT, GAP, UNFIT, fit, write_tei
from sandcrawler.extract.xpath import elements
from sandcrawler.model import Biblio, HtmlBody
from sandcrawler.status import Status

Made = TypeVar("Made")

logging.getLogger("trafilatura").addHandler(logging.NullHandler())
logging.getLogger("trafilatura").propagate = False

# Below this share of the words that the plain walk finds, trafilatura has missed the text.
MISSED_SHARE = 0.5
# Below this share of the page's visible words, the comparison with other extractors may change the outcome.
SURE_SHARE = 0.55
# What trafilatura removes anyway, gone before it makes its many copies. (Not script: it reads JSON-LD there.)
_DROPPED = ("style", "svg", "noscript", "link", "iframe", "input", "select", "button", "textarea")
# Where a page forgets its <body>, the parser leaves everything in <head>; trafilatura would drop it.
_MISTAKEN = elements("//head[.//div or .//p or .//h1]")
# Between two of these trafilatura loses the blank: "<i>see</i> <b>Figure 1</b>" would become "seeFigure 1".
_EMPHASIS = ("i", "em", "b", "strong", "u", "tt", "var", "sub", "sup", "a")
# Pages wrap single words in <span> by the thousand, and trafilatura tests each of them. Those stay that it may drop.
_MEANT = elements(
    "//span[@aria-hidden or contains(@style, 'none')"
    + "".join(f" or contains(@class, '{name}')" for name in ("hid", "print", "share", "nav", "comment", "edit", "sr-"))
    + "]"
)


def full_text(document: Document, biblio: Biblio, blocks: list[Block]) -> tuple[HtmlBody, bytes | None]:
    """What became of the page's text, and its TEI where that worked. Never raises but MemoryError.

    `blocks`: the same page by `list_blocks`. The document's tree is used up: no other extractor may follow.
    """
    if not document.whole:
        return HtmlBody(status=Status.TRAFILATURA_PARSE_ERROR, agent=AGENT), None
    tree = _prepared(document.root)
    content = _content(tree, blocks)
    if content is None:
        return HtmlBody(status=Status.EMPTY_XML, agent=AGENT, word_count=0), None
    tei = _attempt(lambda: write_tei(content, biblio, document.url))
    tei = tei or _attempt(lambda: write_tei(as_body(blocks)[0], biblio, document.url))
    if tei is None:
        return HtmlBody(status=Status.HTML_TEIXML_ERROR, agent=AGENT), None
    xml, words = tei
    if not words:
        return HtmlBody(status=Status.EMPTY_XML, agent=AGENT, word_count=0), None
    return HtmlBody(status=Status.SUCCESS, agent=AGENT, word_count=words), xml


def forget() -> None:
    """Empty the caches of trafilatura and what it uses, so that memory stays flat over many pages."""
    reset_caches()


def _content(tree: _Element, blocks: list[Block]) -> _Element | None:
    """The better of trafilatura's text and the plain walk's; None where the page has no text."""
    visible = sum(block.words for block in blocks)
    body = _attempt(lambda: _trafilatura(tree, visible))
    words = 0 if body is None else _words(body)
    if words < SURE_SHARE * visible:
        plain, found = as_body(blocks)
        if words < MISSED_SHARE * found:
            return plain
    return body if words else None


def as_body(blocks: list[Block]) -> tuple[_Element, int]:
    """Blocks as a <body> of <head> and <p> as trafilatura makes one, menus left out, and the number of words in it."""
    body, total = etree.Element("body"), 0
    for block in blocks:
        if block.zone is not Zone.CHROME and not block.of_links:
            etree.SubElement(body, "head" if block.level else "p").text = fit(block.text)
            total += block.words
    return body, total


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
    body: _Element | None = getattr(found, "body", None)
    return body


def _clean(body: _Element) -> bool:
    """What trafilatura asks before it prefers readability or tries justext: paragraphs, no fewer than tables."""
    paragraphs, tables = sum(1 for _ in body.iter("p")), sum(1 for _ in body.iter("table"))
    return paragraphs > 0 and tables <= paragraphs


def _prepared(root: _Element) -> _Element:
    """The tree without what trafilatura drops at once, what slows it for nothing, and what XML cannot hold."""
    for head in _MISTAKEN(root):
        head.tag = "div"
    for span in _MEANT(root):
        span.tag = "kept-span"
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction, "span")
    etree.strip_elements(root, *_DROPPED, with_tail=False)
    for span in root.iter("kept-span"):
        span.tag = "span"
    for element in root.iter(*_EMPHASIS):
        after = element.getnext()
        if element.tail and element.tail.isspace() and after is not None and after.tag in _EMPHASIS:
            element.tail = GAP
    if not UNFIT.search(etree.tostring(root, method="text", encoding="unicode")):
        return root
    for element in root.iter(etree.Element):
        element.text = element.text and fit(element.text)
        element.tail = element.tail and fit(element.tail)
    return root


def _words(body: _Element) -> int:
    return word_count(" ".join(map(str, body.itertext())))


def _attempt(make: Callable[[], Made]) -> Made | None:
    """What `make` gives, or None where it breaks: a third-party parser may raise anything on a hostile page."""
    try:
        return make()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (RecursionError on deep pages, ValueError, AssertionError …)
        return None
