"""What results are made of: files, captures, bibliography, sub-resources, and what was said of each document."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandcrawler.status import Status

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


class NextHop(Wire):
    """A document that led to another one, and by which rule (`technique`)."""

    url: str
    technique: str
