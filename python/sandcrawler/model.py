"""The values that cross a boundary: frozen, typed, and the source of the JSON Schemas in `kafka/schemas/`.

Two kinds. Pydantic models are what goes over the wire (Kafka, the command line's output). Dataclasses are what
stages hand to each other inside one process (`Capture`, `Page`, `Extracted`). Nothing here does any I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandcrawler.status import Scope, Status

IngestType = Literal["html", "xml", "pdf"]
ResourceType = Literal["script", "stylesheet", "image", "audio", "media", "subdocument", "font"]

Sha1Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Sha256Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Md5Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
# 14 digits, UTC: the archive world's form of a moment (CDX).
Datetime14 = Annotated[str, Field(pattern=r"^[0-9]{14}$")]


class Wire(BaseModel):
    """A value that goes over the wire: frozen. Unknown fields are passed over: two versions may run side by side."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class IngestRequest(Wire):
    """A request to fetch one link as one type. Unknown fields are kept and travel into the result verbatim."""

    model_config = ConfigDict(frozen=True, extra="allow")

    ingest_type: IngestType
    base_url: Annotated[str, Field(min_length=1)]
    link_source: str | None = None
    link_source_id: str | None = None
    ingest_request_source: str | None = None
    release_stage: str | None = None
    rel: str | None = None
    force_recrawl: bool | None = None
    ext_ids: dict[str, str | int | None] | None = None
    fatcat: dict[str, Any] | None = None
    edit_extra: dict[str, Any] | None = None
    fetch_backend: Annotated[str, Field(min_length=1)] | None = None


class FileMeta(Wire):
    """Size, digests and type of a document's original bytes (transfer encodings undone)."""

    size_bytes: int
    md5hex: Md5Hex
    sha1hex: Sha1Hex
    sha256hex: Sha256Hex
    mimetype: str


class CdxRow(Wire):
    """One line of a capture index (CDX), with the place of its WARC record where there is one."""

    surt: str
    datetime: Datetime14
    url: str
    mimetype: str
    status_code: int
    sha1hex: Sha1Hex
    sha1b32: str
    warc_path: str | None = None
    warc_offset: int | None = None
    warc_csize: int | None = None
    etag: str | None = None
    last_modified: str | None = None


class Terminal(Wire):
    """Where the hops ended. There is no status code where the last URL gave no HTTP response."""

    terminal_url: str
    terminal_dt: Datetime14
    terminal_status_code: int | None = None
    terminal_sha1hex: Sha1Hex | None = None


class Biblio(Wire):
    """Bibliographic metadata, with the names of fatcat's release entity. Absent is None, never an empty string."""

    title: str | None = None
    subtitle: str | None = None
    contrib_names: tuple[str, ...] | None = None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    isbn: str | None = None
    arxiv_id: str | None = None
    container_name: str | None = None
    container_abbrev: str | None = None
    container_issn: str | None = None
    publisher: str | None = None
    volume: str | None = None
    issue: str | None = None
    number: str | None = None
    pages: str | None = None
    first_page: str | None = None
    last_page: str | None = None
    release_date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    release_year: int | None = None
    release_type: str | None = None
    release_stage: str | None = None
    lang: str | None = None
    abstract: str | None = None
    keywords: tuple[str, ...] | None = None
    license: str | None = None
    orcids: tuple[str | None, ...] | None = None
    references: tuple[str, ...] | None = None
    pdf_fulltext_url: str | None = None
    html_fulltext_url: str | None = None
    xml_fulltext_url: str | None = None
    component_urls: tuple[str, ...] | None = None


class WebResource(Wire):
    """A captured sub-resource. fatcat's importer reads this list and needs every field."""

    surt: str
    timestamp: str
    url: str
    sha1hex: Sha1Hex
    sha256hex: Sha256Hex
    size: int
    mimetype: str
    status_code: int
    resource_type: ResourceType


class WantedResource(Wire):
    """A sub-resource that a page asks for, before anyone fetched it."""

    url: str
    resource_type: ResourceType


class MissingResource(Wire):
    """A sub-resource that was wanted and not got, and why."""

    url: str
    resource_type: ResourceType
    status: Status
    status_code: int | None = None
    error_message: str | None = None


class HtmlBody(Wire):
    """What became of an HTML document's full text; the TEI itself goes to its own topic."""

    status: Status
    agent: str | None = None
    word_count: int | None = None


class XmlMeta(Wire):
    """What an XML document is."""

    status: Status
    schema_: Annotated[Literal["jats", "tei", "other"] | None, Field(alias="schema")] = None
    root: str | None = None
    encoding: str | None = None
    biblio: Biblio | None = None
    word_count: int | None = None

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class PdfMeta(Wire):
    """What a PDF document is."""

    status: Status
    page_count: int | None = None
    word_count: int | None = None
    has_text: bool | None = None
    metadata: dict[str, str] | None = None


class IngestWebResult(Wire):
    """What became of one request. Published for every request that could be read, hit or not."""

    status: Status
    hit: bool
    timestamp: str
    error_message: Annotated[str, Field(max_length=1600)] | None = None
    hops: tuple[str, ...] | None = None
    request: dict[str, Any] | None = None
    terminal: Terminal | None = None
    cdx: CdxRow | None = None
    file_meta: FileMeta | None = None
    scope: Scope | None = None
    platform: str | None = None
    html_biblio: Biblio | None = None
    html_body: HtmlBody | None = None
    html_resources: tuple[WebResource | WantedResource, ...] | None = None
    html_resources_missing: tuple[MissingResource, ...] | None = None
    html_resources_filtered: int | None = None
    extract_next_hop: tuple["NextHop", ...] | None = None
    xml_meta: XmlMeta | None = None
    pdf_meta: PdfMeta | None = None


class NextHop(Wire):
    """A document that led to another one, and by which rule (`technique`)."""

    url: str
    technique: str


class HtmlTeixml(Wire):
    """A message of the html-teixml topic, keyed by sha1hex of the original HTML."""

    key: Sha1Hex
    sha1hex: Sha1Hex
    status: Status
    tei_xml: str | None = None
    word_count: int | None = None


class XmlDoc(Wire):
    """A message of the xml-doc topic, keyed by sha1hex of the original XML."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    key: Sha1Hex
    sha1hex: Sha1Hex
    status: Status
    schema_: Annotated[Literal["jats", "tei", "other"] | None, Field(alias="schema")] = None
    xml: str | None = None


class PdfText(Wire):
    """A message of the pdf-text topic, keyed by sha1hex of the PDF."""

    key: Sha1Hex
    sha1hex: Sha1Hex
    status: Status
    text: str | None = None
    page_count: int | None = None


@dataclass(frozen=True, slots=True)
class WarcPlace:
    """Where a WARC record stands: the file, its first byte, and its size there (compressed, in a .gz)."""

    path: str
    offset: int
    csize: int


@dataclass(frozen=True, slots=True)
class Capture:
    """One URL followed through its HTTP redirects to a response, or to the reason why there is none.

    `status` is success when a response with a successful HTTP status was received whole, or a 304 to a request on
    condition (`fetch.condition`), without a body; a failure keeps whatever is known (hops, last URL, status code, and
    the body where it came whole).
    `hops`: every URL asked, in order, `url` first and `terminal_url` last. `body`: content codings undone.
    `when`: aware, UTC, the moment the terminal response's head arrived. `place`: the record that the body is from.
    """

    url: str
    status: Status
    hops: tuple[str, ...]
    when: datetime
    terminal_url: str
    status_code: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    error_message: str | None = None
    retry_at: datetime | None = None
    place: WarcPlace | None = None

    def header(self, name: str) -> str | None:
        """The first header of this name (any case)."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class Page:
    """A document as extraction sees it: bytes, the URL they came from, and the Content-Type header, if any."""

    body: bytes
    url: str
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Follow:
    """Extraction needs another document: fetch this URL. `technique` names the rule that found it."""

    url: str
    technique: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """All that can be said of one document's bytes. `follow` is set where a better document is named.

    `body` is what would be published (TEI, re-encoded XML, plain text; UTF-8), None where nothing is.
    """

    status: Status
    error_message: str | None = None
    scope: Scope | None = None
    platform: str | None = None
    html_biblio: Biblio | None = None
    html_body: HtmlBody | None = None
    xml_meta: XmlMeta | None = None
    pdf_meta: PdfMeta | None = None
    wanted: tuple[WantedResource, ...] = ()
    filtered: int = 0
    body: bytes | None = None
    follow: Follow | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
