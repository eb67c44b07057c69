"""One page of an OAI-PMH list, bytes → values; pure. And one record's metadata → its requests.

Three kinds of metadata are read, known by the name of their root: `dc` (oai_dc), `article` (jats, nlm, pmc), and
arXiv's own. Pages are parsed strictly, since a parser that repairs loses records and the token without a word; what
XML forbids and servers send all the same (control characters, bytes that are no UTF-8) is mended first. Of a page that
stays broken, the records before the break are told, and its token where it has one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lxml import etree
from lxml.etree import _Element as Element

from sandcrawler.sources import arxiv
from sandcrawler.sources.content import kinds
from sandcrawler.sources.requests import BadRow, Request, ext_ids, request
from sandcrawler.sources.stages import OPENAIRE

NAME = "oai"
OAI = "{http://www.openarchives.org/OAI/2.0/}"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
# Where links of PDF and XML end, whatever the record says of its formats.
ENDINGS: Mapping[str, str] = {".pdf": "pdf", ".xml": "xml"}
ARTICLE_IDS: Mapping[str, str] = {"doi": "doi", "pmid": "pmid", "pmc": "pmcid", "pmcid": "pmcid"}

_FORBIDDEN = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01])|x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]));"
)
_DOI_HOST = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `metadata`: its one child, None where the record is deleted."""

    identifier: str
    datestamp: str
    deleted: bool
    metadata: Element | None


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its records, the token of the next (None: this is the last), the server's error, what is broken.

    `foreign`: it is no answer of the protocol at all, not even a broken one.
    """

    records: tuple[Record, ...]
    token: str | None = None
    error: tuple[str, str] | None = None
    broken: str | None = None
    foreign: bool = False


def parse(body: bytes) -> Page:
    """A page of ListRecords."""
    root, broken = _root(_FORBIDDEN.sub(b"", body))
    if root is None or root.tag != f"{OAI}OAI-PMH":
        return Page((), broken=f"this is no OAI-PMH answer{broken and f' ({broken})'}", foreign=True)
    error_element = root.find(f"{OAI}error")
    if error_element is not None:
        return Page(
            (), error=(error_element.get("code", ""), (error_element.text or "").strip()), broken=broken or None
        )
    # Where the page is broken, the repaired tree may have the token anywhere.
    token = root.find(f".//{OAI}resumptionToken" if broken else f"{OAI}ListRecords/{OAI}resumptionToken")
    records = tuple(map(_record, root.iterfind(f"{OAI}ListRecords/{OAI}record")))
    if broken:  # the last one may be cut
        records = records[:-1]
    elif root.find(f"{OAI}ListRecords") is None:
        broken = "an answer without ListRecords"
    return Page(records, ((token.text or "").strip() or None) if token is not None else None, broken=broken or None)


def _root(body: bytes) -> tuple[Element | None, str]:
    """The page's root, and what is broken in it. Bytes that are no UTF-8 break nothing but the character."""
    try:
        return etree.fromstring(body, _parser(recover=False)), ""
    except etree.XMLSyntaxError as error:
        broken = str(error)
    mended = body.decode("utf-8", "replace").encode()
    with suppress(etree.XMLSyntaxError):
        return etree.fromstring(mended, _parser(recover=False)), ""
    return (etree.fromstring(body, _parser(recover=True)) if body.strip() else None), broken


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, recover=recover)


def _record(element: Element) -> Record:
    header, metadata = element.find(f"{OAI}header"), element.find(f"{OAI}metadata")
    return Record(
        identifier=_text(header, "identifier"),
        datestamp=_text(header, "datestamp"),
        deleted=header is not None and header.get("status") == "deleted",
        metadata=next(metadata.iterchildren(tag=etree.Element), None) if metadata is not None else None,
    )


def _text(parent: Element | None, name: str) -> str:
    return (parent.findtext(f"{OAI}{name}") or "").strip() if parent is not None else ""


def drafts(record: Record) -> Iterator[Request]:
    """The requests of one record; none for a deleted one."""
    if record.deleted:
        return
    if not record.identifier:
        raise BadRow("a record without identifier")
    if record.metadata is None:
        raise BadRow(f"{record.identifier}: a record without metadata")
    read = READERS.get(etree.QName(record.metadata).localname)
    if read is None:
        raise BadRow(f"{record.identifier}: metadata of a kind that is not read: {record.metadata.tag}")
    yield from read(record.identifier, record.metadata)


def _dublin_core(identifier: str, metadata: Element) -> Iterator[Request]:
    said: dict[str, list[str]] = {}
    for child in metadata.iterchildren(tag=etree.Element):
        if value := " ".join("".join(map(str, child.itertext())).split()):
            said.setdefault(etree.QName(child).localname, []).append(value)
    links = [value for value in said.get("identifier", ()) if value.lower().startswith(("http://", "https://"))]
    # A DOI leads where the repository's own link leads, or to another copy: it is asked for where there is no other.
    urls = [link for link in links if not _DOI_HOST.match(link)] or links
    ids = ext_ids({"oai": identifier} | _first_doi(said.get("identifier", ())))
    formats = said.get("format", ())
    usual = tuple(dict.fromkeys(kind for one in formats for kind in kinds(one))) if formats else kinds(None)
    stage = next((OPENAIRE[value] for value in said.get("type", ()) if value in OPENAIRE), None)
    extra = next(({"license_url": value} for value in said.get("rights", ()) if value.startswith("http")), None)
    for url in urls:
        ending = ENDINGS.get(url.lower().partition("?")[0][-4:])
        for kind in (ending,) if ending else usual:
            yield request(kind, url, NAME, identifier, by=NAME, stage=stage, ids=ids, extra=extra)


def _first_doi(values: "list[str] | tuple[()]") -> dict[str, object]:
    return next(({"doi": value} for value in values if ext_ids({"doi": value})), {})


def _jats(identifier: str, article: Element) -> Iterator[Request]:
    meta = article.find(".//{*}article-meta")
    if meta is None:
        raise BadRow(f"{identifier}: an article without article-meta")
    written: dict[str, object] = {"oai": identifier}
    for one in meta.iterfind("{*}article-id"):
        if name := ARTICLE_IDS.get(one.get("pub-id-type", "")):
            written.setdefault(name, f"PMC{one.text}" if name == "pmcid" and (one.text or "").isdigit() else one.text)
    ids = ext_ids(written)
    links = [(uri.get(XLINK_HREF, ""), uri.get("content-type") or "html") for uri in meta.iterfind("{*}self-uri")]
    if not links and "doi" in ids:
        links = [(f"https://doi.org/{ids['doi']}", "html")]
    for url, content_type in links:
        ending = ENDINGS.get(url.lower().partition("?")[0][-4:])
        for kind in (ending,) if ending else kinds(content_type):
            yield request(kind, url, NAME, identifier, by=NAME, stage="published", rel="publisher", ids=ids)


def _arxiv(_: str, metadata: Element) -> Iterator[Request]:
    said: dict[str, Any] = {
        name: metadata.findtext(f"{{*}}{name}")
        for name in ("id", "doi", "license")
        if metadata.find(f"{{*}}{name}") is not None
    }
    said["versions"] = [{"version": version.get("version")} for version in metadata.iterfind("{*}version")]
    return arxiv.drafts(said)


# Name of the metadata's root -> its reader.
READERS: Mapping[str, Callable[[str, Element], Iterator[Request]]] = {
    "dc": _dublin_core,
    "article": _jats,
    "arXiv": _arxiv,
    "arXivRaw": _arxiv,
}
