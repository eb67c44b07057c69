"""An HTML document, parsed once: the tree that every extractor shares, and what they all ask of it.

libxml2 is fast and stops silently: at a NUL, at </html>, at 256 nested elements, at 2,048 though told to be generous.
So the text is made fit before it is parsed (`encoding.decode`, `_open_ended`), the parser is told to be generous, and
its error log is asked whether it stopped all the same: then `whole` is False, and whoever publishes text must say so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree, html
from lxml.html import HtmlElement

from sandcrawler.extract import encoding, text, urls
from sandcrawler.model import Page

# What a <meta> may call itself by. One element may carry two of them: <meta name="citation_title" property="og:title">.
_NAMING = ("name", "property", "itemprop", "http-equiv", "id")
_UNSEEN = frozenset({"script", "style", "noscript", "template", "title", "iframe", "noframes"})
_HTML_END = re.compile(r"<!--.*?(?:-->|\Z)|(?P<end></html\b)", re.IGNORECASE | re.DOTALL)
_BODY = re.compile(r"<body(?=[\s/>])[^>]*>", re.IGNORECASE)
_FRAME_TAGS = re.compile(r"</?(?:html|head|body)(?=[\s/>])[^>]*>", re.IGNORECASE)
_EMPTY = b"<html><head></head><body></body></html>"

# lxml.html asks a Python function for the class of every element that is touched; one class for all needs no asking.
_CLASSES = etree.ElementDefaultClassLookup(
    element=html.HtmlElement, comment=html.HtmlComment, pi=html.HtmlProcessingInstruction, entity=html.HtmlEntity
)


@dataclass(frozen=True)
class Meta:
    """One <meta> of the page, in document order. `name` (name, property, itemprop or http-equiv) in lower case.

    `attribute` says which of the four named it; an element that carries two of them is listed twice.
    """

    name: str
    content: str
    scheme: str | None = None
    lang: str | None = None
    attribute: str = "name"


@dataclass
class Document:
    """A parsed page. `encoding` is the WHATWG name of what the bytes were decoded as; `whole` is False where the parser
    had to drop part of the page. Extractors read `root` and never change it; fulltext comes last, since it does."""

    root: HtmlElement
    url: str
    encoding: str
    whole: bool = True

    @cached_property
    def base_url(self) -> str:
        """What relative URLs resolve against: the first <base href>, else the URL."""
        for base in self.root.iter("base"):
            href = base.get("href")
            if href is not None:
                return urls.resolve(href, self.url) or self.url
        return self.url

    @cached_property
    def metas(self) -> tuple[Meta, ...]:
        """Every <meta> with a name and a content, wherever it stands in the page."""
        return tuple(self._metas())

    @cached_property
    def visible_words(self) -> int:
        """Words of the text that a reader sees (outside script, style, noscript, template); every tag parts words."""
        return text.count_words(" ".join(visible_text(self.root)))

    def absolute(self, link: str) -> str | None:
        """A link of the page as an absolute http(s) URL without fragment; None where it is no such link."""
        return urls.resolve(link, self.base_url)

    def _metas(self) -> Iterator[Meta]:
        for element in self.root.iter("meta"):
            content = element.get("content")
            if not content:
                continue
            lang = element.get("lang") or element.get("xml:lang")
            for attribute in _NAMING:
                if name := (element.get(attribute) or "").strip().lower():
                    if attribute == "id" and len(element.keys()) > 2:
                        continue
                    yield Meta(name, content, element.get("scheme"), lang, attribute)


def parse(page: Page) -> Document:
    """The page as a document. Never raises on any bytes: an unusable page is an empty <html> with whole=False."""
    named = encoding.determine(page.body, page.content_type)
    data = _open_ended(encoding.decode(page.body, named)).encode()
    # A parser of its own: its error log is the only witness of what was dropped.
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    parser.set_element_class_lookup(_CLASSES)
    try:
        root = html.document_fromstring(data, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
        return Document(html.document_fromstring(_EMPTY), page.url, named, whole=False)
    whole = not any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log)
    return Document(root, page.url, named, whole)


def _open_ended(text: str) -> str:
    """The text without the tags that part it, where something follows </html>: by the HTML Standard it is one body."""
    first = min((at for tag in ("</html", "</HTML", "</Html") if (at := text.find(tag)) >= 0), default=-1)
    if first < 0 or not text[first:].partition(">")[2].strip():
        return text  # nearly all pages
    end = _html_end(text, first)
    if end is None:
        return text
    body = _BODY.search(text)
    if body is None or body.end() > end:  # an empty document before the real one
        return text[:end] + text[end:].partition(">")[2]
    return text[: body.end()] + _FRAME_TAGS.sub("", text[body.end() :])


def _html_end(text: str, first: int) -> int | None:
    """Where the first </html> stands that is not in a comment; `first`: where the first one stands at all."""
    comment = text.rfind("<!--", 0, first)
    if comment < 0 or 0 <= text.find("-->", comment) < first:
        return first
    return next((found.start() for found in _HTML_END.finditer(text, comment) if found["end"]), None)


def visible_text(root: HtmlElement) -> Iterator[str]:
    """The pieces of text that a reader sees below this element, in document order, without the element's own tail."""
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            if element.tag in _UNSEEN:
                walk.skip_subtree()
            elif element.text:
                yield element.text
        elif element.tail and element is not root:
            yield element.tail
