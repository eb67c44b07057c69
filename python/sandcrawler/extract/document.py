"""An HTML document, parsed once: the tree that every extractor shares, and what they all ask of it."""

from dataclasses import dataclass
from functools import cached_property

from lxml import html
from lxml.html import HtmlElement

from sandcrawler.model import Page


@dataclass(frozen=True)
class Meta:
    """One <meta> of the page, in document order. `name` (name, property, itemprop or http-equiv) in lower case."""

    name: str
    content: str
    scheme: str | None = None
    lang: str | None = None


@dataclass
class Document:
    """A parsed page. `encoding` is the WHATWG label the bytes were decoded with; `whole` is False where the parser
    had to drop part of the page. Extractors read `root` and never change it (fulltext works on its own copy)."""

    root: HtmlElement
    url: str
    encoding: str
    whole: bool = True

    @cached_property
    def base_url(self) -> str:
        """What relative URLs resolve against: the first <base href>, else the URL."""
        raise NotImplementedError

    @cached_property
    def metas(self) -> tuple[Meta, ...]:
        """Every <meta> with a name and a content."""
        raise NotImplementedError

    @cached_property
    def visible_words(self) -> int:
        """Words of the text that a reader sees (outside script, style, noscript, template)."""
        raise NotImplementedError


def parse(page: Page) -> Document:
    """The page as a document. Never raises on any bytes: an unusable page is an empty <html> with whole=False."""
    return Document(html.document_fromstring(page.body), page.url, "utf-8")
