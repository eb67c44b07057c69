"""What a page shows rather than states: the `html:…` sources of a bibliography, last resorts all of them.

Anything taken from a page's text may belong to a work that it cites or lists. So each rule here wants an element that
is marked as what it is, outside lists of references, and only one of its kind.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Protocol

from lxml.html import HtmlElement

from sandcrawler.extract import identifiers
from sandcrawler.extract.biblio import citation, masthead
from sandcrawler.extract.biblio.masthead import in_list
from sandcrawler.extract.biblio.titles import Titles
from sandcrawler.extract.biblio.values import line
from sandcrawler.extract.document import Document
from sandcrawler.extract.text import text_of

MAX_ABSTRACT = 10_000  # characters; a marked element with more wraps the page
MAX_ELEMENTS = 200

# A page with one of these is about one work, whatever else it says.
WORK_SOURCES = (
    "citation_title", "bepress_citation_title", "eprints.title", "dc.title", "dcterms.title", "prism.doi",
    "citation_doi",
)  # fmt: skip
CITATION_SOURCES = ("dc.source", "dc.identifier", "dc.identifier.citation")
# <link rel=alternate> names feeds, exports and records as often as it names the article.
_NOT_ARTICLE = re.compile(
    r"rss|atom|feed|oembed|opensearch|sitemap|\brdf|\boai|mods|mets|didl|dublin|\bdc\b|datacite|marc|openurl|ep3|export"
    r"|unixref|metadata|citation|endnote|bibtex|xmlrpc|wlwmanifest",
    re.IGNORECASE,
)
_XML_TYPES = ("application/xml", "text/xml", "application/jats+xml", "application/tei+xml", "application/nlm+xml")
_DOI = "//*[contains(@class,'doi') or contains(@class,'DOI') or contains(@id,'doi') or contains(@id,'DOI')]"
_ABSTRACT = (
    "//*[self::section or self::div or self::p or self::article or self::blockquote or self::td]"
    "[contains(@class,'bstract') or contains(@id,'bstract')]"
)


class Kind(Protocol):
    """Whether a page says that it is about one work, and whether it is (only) a post of a blog or magazine."""

    @property
    def is_work(self) -> bool: ...

    @property
    def is_post(self) -> bool: ...


class Shown:
    """The shown sources of one page."""

    def __init__(self, document: Document, metas: Mapping[str, list[str]], titles: Titles, kind: Kind) -> None:
        self.document = document
        self._metas = metas
        self._titles = titles
        self._kind = kind

    def get(self, what: str) -> list[str]:
        """The texts of `html:WHAT`, none of them empty."""
        return [text for text in SHOWN[what](self) if text]

    def title(self) -> list[str]:
        return [self._titles.without_site(self._titles.title) or ""]

    def heading(self) -> list[str]:
        return list(self._titles.headings[:1])

    def og_title(self) -> list[str]:
        """og:title is made for sharing: it carries the site's name as <title> does."""
        stated = self._metas.get("og.title") or self._metas.get("og-title") or []
        return [self._titles.without_site(line(text)) or "" for text in stated[:1]]

    def lang(self) -> list[str]:
        root = self.document.root
        return [root.get("lang") or "", root.get("xml:lang") or ""]

    @cached_property
    def _stated(self) -> bool:
        return any(self._metas.get(name) for name in WORK_SOURCES)

    def site_name(self) -> list[str]:
        """A post's blog or magazine. A repository or a publisher's platform is not what an article appeared in."""
        return self._metas.get("og.site_name", [])[:1] if self._kind.is_post and not self._stated else []

    def description(self) -> list[str]:
        names = ("description", "og.description", "og-description") if self._kind.is_work else ()
        return [text for name in names for text in self._metas.get(name, [])[:1]]

    def abstract(self) -> list[str]:
        marked = self.document.root.xpath(_ABSTRACT)[:20] if self._kind.is_work else []
        texts = (_paragraphs(element) for element in marked if not in_list(element))
        return [text for text in texts if 150 <= len(text.strip()) <= MAX_ABSTRACT][:1]

    def doi(self) -> list[str]:
        marked = [element for element in self.document.root.xpath(_DOI)[:MAX_ELEMENTS] if not in_list(element)]
        texts = [text for element in marked for text in _links_or_text(element)]
        dois = {found for text in texts if (found := identifiers.doi(text))}
        return list(dois) if len(dois) == 1 else []

    def labelled(self, *labels: str) -> list[str]:
        """dc.identifier holds anything; bare digits only count with their label."""
        stated = self._metas.get("dc.identifier", []) + self._metas.get("dcterms.identifier", [])
        return [text for text in stated if any(label in text.lower() for label in labels)]

    def rel_license(self) -> list[str]:
        return [self.document.absolute(a.get("href")) or "" for a in self._related("license")]

    def rel_author(self) -> list[str]:
        """Who wrote the post: where the links rel=author do not agree, it is a list of posts."""
        links = self._related("author") if self._kind.is_work else []
        names = {name for a in links if (name := line(text_of(a, 200)))}
        return list(names) if len(names) == 1 else []

    @cached_property
    def _volume_and_issue(self) -> tuple[str, str] | None:
        return masthead.volume_and_issue(self.document)

    def printed(self, part: int) -> list[str]:
        """Volume (0) or issue (1) of the page's masthead, where no metas speak of the article."""
        return [self._volume_and_issue[part]] if not self._stated and self._volume_and_issue else []

    def cited(self, part: str) -> list[str]:
        """Volume, issue or pages from the citation of itself that the page gives in one piece."""
        stated = (text for name in CITATION_SOURCES for text in self._metas.get(name, []))
        return [found for text in stated if (found := citation.part(text, part))]

    def of_post(self, find: Callable[[Document], list[str]]) -> list[str]:
        """What is marked on posts of blogs and magazines only."""
        return find(self.document) if self._kind.is_post else []

    def _related(self, rel: str) -> list[HtmlElement]:
        links = self.document.root.xpath("//a[@rel and @href]")
        return [a for a in links if rel in a.get("rel").lower().split()][:MAX_ELEMENTS]

    def listed_pdf(self) -> list[str]:
        """EPrints lists all files of a record, Dublin Core all names of a work: the PDF among them."""
        stated = self._metas.get("eprints.document_url", []) + self._metas.get("dc.identifier", [])
        return [text for text in stated if text.lower().endswith(".pdf") and text.startswith("http")]

    def alternates(self, kinds: tuple[str, ...], wanted: str = "") -> list[str]:
        """Addresses of <link rel=alternate> of these types whose title and address name no feed, export or record."""
        addresses = []
        for link in self.document.root.iter("link"):
            said = f"{link.get('title') or ''} {link.get('href') or ''}"
            kind = (link.get("type") or "").partition(";")[0].strip().lower()
            rels = (link.get("rel") or "").lower().split()
            if "alternate" in rels and kind in kinds and not _NOT_ARTICLE.search(said) and wanted in said.lower():
                addresses.append(link.get("href") or "")
        return addresses


# html:WHAT → how it is found.
SHOWN: Mapping[str, Callable[[Shown], list[str]]] = {
    "title": Shown.title,
    "heading": Shown.heading,
    "og-title": Shown.og_title,
    "lang": Shown.lang,
    "site-name": Shown.site_name,
    "abstract": Shown.abstract,
    "description": Shown.description,
    "doi": Shown.doi,
    "pmid": lambda shown: shown.labelled("pmid", "pubmed"),
    "pmcid": lambda shown: shown.labelled("pmc"),
    "arxiv": lambda shown: shown.labelled("arxiv"),
    "isbn": lambda shown: shown.labelled("isbn"),
    "byline": lambda shown: masthead.marked_names(shown.document) or shown.of_post(masthead.card_name),
    "written-byline": lambda shown: masthead.written_names(shown.document),
    "cited-volume": lambda shown: shown.cited("volume"),
    "cited-issue": lambda shown: shown.cited("issue"),
    "cited-pages": lambda shown: shown.cited("pages"),
    "cited-page": lambda shown: shown.cited("first_page"),
    "masthead-volume": lambda shown: shown.printed(0),
    "masthead-issue": lambda shown: shown.printed(1),
    "rel-author": Shown.rel_author,
    "published": lambda shown: shown.of_post(masthead.posted),
    "rel-license": Shown.rel_license,
    "listed-pdf": Shown.listed_pdf,
    "alternate-html": lambda shown: shown.alternates(("text/html",), "full"),
    "alternate-xml": lambda shown: shown.alternates(_XML_TYPES),
}


def _paragraphs(element: HtmlElement) -> str:
    """The text of an element's paragraphs, without buttons and headings; all of its text where it has none."""
    paragraphs = " ".join(text_of(p, MAX_ABSTRACT) for p in list(element.iterdescendants("p"))[:50])
    return paragraphs if len(paragraphs.strip()) >= 150 else text_of(element, MAX_ABSTRACT + 1)


def _links_or_text(element: HtmlElement) -> list[str]:
    links = [element.get("href"), *(a.get("href") for a in element.iterdescendants("a"))][:20]
    return [link for link in links if link] or [text_of(element, 500).strip()]
