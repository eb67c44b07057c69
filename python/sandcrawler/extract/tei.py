"""A full text and its bibliography as one TEI document (TEI P5, namespace http://www.tei-c.org/ns/1.0).

The header is ours, from `Biblio`: trafilatura's own search for title, author and date is neither needed nor run.
The body's shape (div of p, ab, list, table, quote …) is trafilatura's, held to TEI by its `check_tei`. Blocks end
with a line break, so that the words of the body's plain text are its words, however it is read.
"""

import re
from importlib.metadata import version
from urllib.parse import urlsplit

from lxml import etree
from lxml.etree import _Element
from trafilatura.utils import sanitize_tree
from trafilatura.xml import check_tei, clean_attributes, remove_empty_elements, strip_double_tags

from sandcrawler.model import Biblio

VERSION = version("trafilatura")
AGENT = f"trafilatura/{VERSION}"

UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, production 2 (Char)
# Stands for a blank that must outlive trafilatura's trimming: SYMBOL FOR SPACE, which pages hardly ever use.
GAP = "\u2420"
_BLOCKS = frozenset({"p", "ab", "div", "list", "item", "table", "row", "cell", "quote", "lb", "head", "code"})


def write_tei(content: _Element, biblio: Biblio, url: str) -> tuple[bytes, int]:
    """TEI as UTF-8 with a declaration, and the words of its body. `content`: trafilatura's <body>; it is consumed.

    Raises ValueError (lxml) where something cannot be written.
    """
    strip_double_tags(content)
    remove_empty_elements(content)
    content = clean_attributes(content)
    content.tag, content.tail = "div", None
    content.set("type", "entry")
    document = etree.Element("TEI", xmlns="http://www.tei-c.org/ns/1.0")
    _header(etree.SubElement(document, "teiHeader"), biblio, url)
    body = etree.SubElement(etree.SubElement(document, "text"), "body")
    body.append(content)
    sanitize_tree(check_tei(document, url))
    for code in content.findall("code"):  # not allowed there
        paragraph = etree.Element("p")
        content.replace(code, paragraph)
        paragraph.append(code)
    words = _separate_blocks(body)
    xml: bytes = etree.tostring(document, encoding="UTF-8", xml_declaration=True)
    return xml.replace(GAP.encode(), b" "), words


def fit(text: str) -> str:
    """The text without what XML 1.0 cannot hold."""
    return UNFIT.sub("", text)


def _separate_blocks(body: _Element) -> int:
    """End every block with a line break; count the words."""
    for element in body.iter(*_BLOCKS):
        if not element.tail or not element.tail[0].isspace():
            element.tail = "\n" + (element.tail or "")
        previous = element.getprevious()
        if previous is None:
            parent = element.getparent()
            if parent is not None and parent.text and not parent.text[-1].isspace():
                parent.text += "\n"
        elif previous.tail and not previous.tail[-1].isspace():
            previous.tail += "\n"
    return len("".join(map(str, body.itertext())).replace(GAP, " ").split())


def _header(header: _Element, biblio: Biblio, url: str) -> None:
    description = _add(header, "fileDesc")
    statement = _add(description, "titleStmt")
    _titles(statement, biblio)
    for name in biblio.contrib_names or ():
        _add(statement, "author", name)
    published = _add(description, "publicationStmt")
    _add(published, "publisher", biblio.publisher or biblio.container_name or urlsplit(url).hostname or "unknown")
    _add_if(published, "date", _date(biblio), when=_date(biblio))
    _add_if(published, "idno", biblio.doi, type="DOI")
    if biblio.license:
        _add(_add(published, "availability"), "licence", biblio.license)
    _source(_add(_add(description, "sourceDesc"), "biblStruct"), biblio, url)
    application = _add(
        _add(_add(header, "encodingDesc"), "appInfo"), "application", ident="Trafilatura", version=VERSION
    )
    _add(application, "label", "Trafilatura")
    _add(application, "ptr", target="https://github.com/adbar/trafilatura")
    _profile(header, biblio)


def _source(source: _Element, biblio: Biblio, url: str) -> None:
    """What the text was read from: the work in its journal, its identifiers, the page."""
    work = _add(source, "analytic")
    _titles(work, biblio, level="a")
    for name in biblio.contrib_names or ():
        _add(work, "author", name)
    for kind, value in (
        ("DOI", biblio.doi),
        ("PMID", biblio.pmid),
        ("PMCID", biblio.pmcid),
        ("arXiv", biblio.arxiv_id),
    ):
        _add_if(work, "idno", value, type=kind)
    journal = _add(source, "monogr")
    _add(journal, "title", biblio.container_name or "", level="j")
    _add_if(journal, "idno", biblio.container_issn, type="ISSN")
    imprint = _add(journal, "imprint")
    _add_if(imprint, "publisher", biblio.publisher)
    _add(imprint, "date", _date(biblio), when=_date(biblio))
    for unit, value in (
        ("volume", biblio.volume),
        ("issue", biblio.issue),
        ("page", biblio.pages or biblio.first_page),
    ):
        _add_if(imprint, "biblScope", value, unit=unit)
    _add(source, "ptr", type="URL", target=url)


def _profile(header: _Element, biblio: Biblio) -> None:
    profile = etree.Element("profileDesc")
    if biblio.abstract:
        _add(_add(profile, "abstract"), "p", biblio.abstract)
    if biblio.lang:
        _add(_add(profile, "langUsage"), "language", ident=biblio.lang)
    if biblio.keywords:
        keywords = _add(_add(profile, "textClass"), "keywords")
        for keyword in biblio.keywords:
            _add(keywords, "term", keyword)
    if len(profile):
        header.append(profile)


def _titles(parent: _Element, biblio: Biblio, **attributes: str) -> None:
    _add(parent, "title", biblio.title or "", type="main", **attributes)
    _add_if(parent, "title", biblio.subtitle, type="sub", **attributes)


def _date(biblio: Biblio) -> str | None:
    return biblio.release_date or (f"{biblio.release_year:04d}" if biblio.release_year else None)


def _add_if(parent: _Element, tag: str, text: str | None, **attributes: str | None) -> None:
    if text:
        _add(parent, tag, text, **attributes)


def _add(parent: _Element, tag: str, text: str | None = None, **attributes: str | None) -> _Element:
    element = etree.SubElement(parent, tag, {name: fit(value) for name, value in attributes.items() if value})
    element.text = fit(text) if text else None
    return element
