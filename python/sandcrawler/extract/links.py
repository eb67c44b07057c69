"""Where a page says that a better document is: the full text as HTML, XML or PDF.

A table of finders for each type, best first: what the metadata say, then links that standards mark, then what known
platforms do. A link to the page itself is never an answer. Every finder of a platform names a page to try it on.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lxml.html import HtmlElement

from sandcrawler.extract.document import Document
from sandcrawler.extract.urls import resolve, same_page
from sandcrawler.extract.xpath import elements, strings
from sandcrawler.model import Biblio, Follow


class Seen(NamedTuple):
    """What the finders look at."""

    document: Document
    biblio: Biblio
    platform: str | None


# A DOI leads back to the landing page.
_RESOLVER = re.compile(r"https?://(?:dx\.)?doi\.org/", re.IGNORECASE)

Find = Callable[[Seen], Iterator[str | None]]


class Finder(NamedTuple):
    """`technique` is kept in the result beside the hop; `find` gives links as written, best first."""

    technique: str
    find: Find


def _meta(*names: str) -> Find:
    return lambda seen: (meta.content for meta in seen.document.metas if meta.name in names)


def _field(name: str) -> Find:
    return lambda seen: iter([getattr(seen.biblio, name)])


def _links(expression: str, pattern: str = "", platforms: tuple[str, ...] = ()) -> Find:
    """Links that an XPath finds (attributes), as far as they match; on the named platforms alone, if any."""
    path, wanted = strings(expression), re.compile(pattern, re.IGNORECASE)

    def find(seen: Seen) -> Iterator[str | None]:
        if not platforms or seen.platform in platforms:
            yield from (href for href in path(seen.document.root) if wanted.search(href))

    return find


def _alternate(*types: str) -> Find:
    def find(seen: Seen) -> Iterator[str | None]:
        for link in seen.document.root.iter("link"):
            kind = (link.get("type") or "").partition(";")[0].strip().lower()
            if "alternate" in (link.get("rel") or "").lower().split() and kind in types and not _translation(link):
                yield link.get("href")

    return find


def _translation(link: HtmlElement) -> bool:
    """The same page in another language, or a feed: no other form of the article."""
    return bool(link.get("hreflang") or link.get("media")) or bool(
        re.search(r"rss|atom|feed", link.get("href") or "", re.IGNORECASE)
    )


def _rewritten(pattern: str, replacement: str) -> Find:
    """The page's own URL with a part replaced."""
    wanted = re.compile(pattern, re.IGNORECASE)

    def find(seen: Seen) -> Iterator[str | None]:
        if wanted.search(seen.document.url):
            yield wanted.sub(replacement, seen.document.url, count=1)

    return find


def _classed(*names: str) -> str:
    """XPath test: the element has one of these classes."""
    return " or ".join(f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')" for name in names)


OJS = ("ojs3", "ojs", "ops")


def _galleys(label: str) -> Find:
    """OJS: the link to a galley, by its visible label ("HTML", "PDF (English)") or its class."""
    path = elements(
        f"//a[{_classed('obj_galley_link', 'galley-link', 'file')}] | //div[@id='articleFullText']//a[@href]"
    )
    wanted = re.compile(rf"\b{label}\b", re.IGNORECASE)

    def find(seen: Seen) -> Iterator[str | None]:
        for link in path(seen.document.root):
            if wanted.search(link.text_content()) or link.get("class", "").split()[-1:] == [label.lower()]:
                yield link.get("href")

    return find


FINDERS: Mapping[str, tuple[Finder, ...]] = {
    "html": (
        Finder(
            "citation_fulltext_html_url", _meta("citation_fulltext_html_url", "citation_full_html_url", "fulltext_html")
        ),
        # https://firstmonday.org/ojs/index.php/fm/article/view/10274/9729
        Finder("ojs-html-iframe", _links("//iframe[@name='htmlFrame' or @id='htmlFrame']/@src")),
        # https://www.ajol.info/index.php/jasem/article/view/217412 (label "HTML")
        Finder("ojs-html-galley", _galleys("(?:HTML|XHTML|EPUB-HTML|Texto completo|Full ?text)")),
        Finder("link-alternate", _alternate("application/xhtml+xml")),
        # https://www.dovepress.com/article-peer-reviewed-fulltext-article-IJN
        Finder("dovepress", _links("//a[@id='view-full-text']/@href")),
        # https://www.biorxiv.org/content/10.1101/2020.03.22.002386v3
        Finder(
            "highwire-full-text",
            _links(
                "//a[contains(@class, 'article-full-text') or contains(@class, 'full-text-link')"
                " or @rel='view-full-text' or @data-panel-name='article_tab_full_text']/@href",
                r"full|text",
            ),
        ),
        # https://www.scielo.br/scielo.php?script=sci_abstract&pid=S0100-06832020000100301&lng=en
        Finder("scielo-text", _links("//a/@href", r"script=sci_arttext", ("scielo",))),
        # https://www.tandfonline.com/doi/abs/10.1080/00031305.2016.1154108
        Finder("literatum-full", _links("//a/@href", r"/doi/full/10\.\d+/", ("literatum",))),
        # https://www.jstage.jst.go.jp/article/jea/30/1/30_JE20190264/_article
        Finder("jstage-html", _links("//a/@href", r"/_html(?:/-char/\w+)?$", ("jstage",))),
        # https://doaj.org/article/0000178c89214c02ab0f1f2d0b8a5f4f
        Finder("doaj", _links("//a[contains(@class, 'button--primary') and contains(., 'Read online')]/@href")),
        Finder("html-fulltext-url", _field("html_fulltext_url")),
    ),
    "xml": (
        Finder("citation_xml_url", _meta("citation_xml_url", "citation_fulltext_xml_url")),
        Finder("fulltext_xml", _meta("fulltext_xml")),
        Finder("xml-fulltext-url", _field("xml_fulltext_url")),
        Finder(
            "link-alternate", _alternate("application/jats+xml", "application/xml", "text/xml", "application/tei+xml")
        ),
        # http://www.scielo.br/scielo.php?script=sci_arttext&pid=S0100-06832020000100301
        Finder("scielo-xml", _links("//a[@target='xml' or contains(@href, 'articleXML')]/@href")),
        # https://biss.pensoft.net/article/20192/
        Finder(
            "arpha-xml",
            _links("//a[@title='XML' or normalize-space(.)='XML']/@href", r"/download/xml/|/xml", ("arpha",)),
        ),
        # https://www.frontiersin.org/articles/10.3389/fnins.2019.00700/full
        Finder("frontiers-xml", _links("//a[contains(@class, 'download-files-nlm')]/@href")),
        Finder("ojs-xml-galley", _galleys("(?:XML|JATS)")),
        # https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000001
        Finder("plos-xml", _links("//a/@href", r"/article/file\?.*type=manuscript")),
        # https://peerj.com/articles/4886/
        Finder("peerj-xml", _links("//a/@href", r"peerj\.com/articles/[\w-]+\.xml|^/articles/[\w-]+\.xml")),
        # https://elifesciences.org/articles/04407
        Finder("elife-xml", _links("//a/@href", r"cdn\.elifesciences\.org/articles/.*\.xml|\.source\.xml$")),
        # https://www.mdpi.com/2218-1989/4/4/932
        Finder("mdpi-xml", _links("//a/@href", r"^(?:https?://www\.mdpi\.com)?/[\d-]+(?:/\d+)+/xml$")),
        # https://trialsjournal.biomedcentral.com/articles/10.1186/1745-6215-15-511, http://www.trialsjournal.com/content/15/1/511
        Finder("bmc-xml", _links("//a/@href", r"/content/download/xml/[\w-]+\.xml")),
        # https://acp.copernicus.org/articles/20/1/2020/
        Finder("copernicus-xml", _links("//a/@href", r"/articles/\d+/\d+/\d{4}/[\w-]+\.xml$")),
        Finder(
            "labelled-xml",
            _links(
                "//a[translate(normalize-space(.), 'xml', 'XML')='XML' or contains(., 'JATS')"
                " or contains(., 'Full-text XML') or contains(., 'Full Text XML')]/@href"
            ),
        ),
        Finder("xml-file", _links("//a[@href]/@href", r"\.(?:jats\.|nlm\.)?xml$")),
    ),
    "pdf": (
        Finder("citation_pdf_url", _meta("citation_pdf_url", "bepress_citation_pdf_url", "wkhealth_pdf_url")),
        Finder("eprints.document_url", _meta("eprints.document_url")),
        Finder("pdf-fulltext-url", _field("pdf_fulltext_url")),
        Finder("link-alternate", _alternate("application/pdf")),
        Finder(
            "embedded-pdf",
            _links(
                "//embed[@type='application/pdf']/@src | //object[@type='application/pdf']/@data | //iframe/@src",
                r"\.pdf(?:$|[?#])|/pdf/|download",
            ),
        ),
        Finder("ojs-pdf-galley", _galleys("PDF")),
        # https://arxiv.org/abs/1810.04805
        Finder("arxiv-pdf", _rewritten(r"//arxiv\.org/abs/", "//arxiv.org/pdf/")),
        # https://www.tandfonline.com/doi/abs/10.1080/00031305.2016.1154108
        Finder("literatum-pdf", _links("//a/@href", r"/doi/(?:e?pdf|pdfplus|pdfdirect)/10\.\d+/", ("literatum",))),
        # https://hal.science/hal-00744951
        Finder("hal-pdf", _links("//a/@href", r"/(?:document|file/.*\.pdf)$", ("hal",))),
        # https://dspace.mit.edu/handle/1721.1/34672
        Finder(
            "dspace-pdf", _links("//a/@href", r"/bitstreams?/.*\.pdf|/bitstreams/[\w-]+/download", ("dspace", "dryad"))
        ),
        # https://zenodo.org/record/3477281
        Finder("invenio-pdf", _links("//a/@href", r"/files/.*\.pdf", ("zenodo", "invenio"))),
        # https://digitalcommons.unl.edu/libphilprac/1000/
        Finder("digital-commons-pdf", _links("//a/@href", r"viewcontent\.cgi\?", ("digital-commons",))),
        # https://www.scielo.br/scielo.php?script=sci_arttext&pid=S0100-06832020000100301
        Finder("scielo-pdf", _links("//a/@href", r"script=sci_pdf|/pdf/.*\.pdf$", ("scielo",))),
        # https://www.jstage.jst.go.jp/article/jea/30/1/30_JE20190264/_article
        Finder("jstage-pdf", _links("//a/@href", r"/_pdf(?:/-char/\w+)?$", ("jstage",))),
        # https://cyberleninka.ru/article/n/istoriya-i-sovremennost
        Finder("cyberleninka-pdf", _links("//a/@href", r"/article/n/[^/]+/pdf$", ("cyberleninka",))),
        # https://osf.io/preprints/socarxiv/abcde
        Finder("osf-download", _rewritten(r"(//osf\.io/(?:preprints/\w+/)?\w{5})/?$", r"\1/download")),
        Finder(
            "labelled-pdf",
            _links(
                "//a[contains(translate(normalize-space(.), 'pdf', 'PDF'), 'PDF')"
                " and string-length(normalize-space(.)) < 40]/@href",
                r"pdf|download|view|file|get",
            ),
        ),
        Finder(
            "pdf-file",
            _links("//main//a/@href | //article//a/@href | //div[contains(@id, 'content')]//a/@href", r"\.pdf$"),
        ),
    ),
}


def find_follow(document: Document, biblio: Biblio, platform: str | None, ingest_type: str) -> Follow | None:
    """The first link by the finders of this type (html, xml, pdf) that leads to another page; None where none does."""
    seen = Seen(document, biblio, platform)
    for finder in FINDERS[ingest_type]:
        for written in finder.find(seen):
            url = resolve(written, document.base_url)
            if url and not same_page(url, document.url) and not _RESOLVER.match(url):
                return Follow(url, finder.technique)
    return None
