"""What stands in the topics: a message each."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from sandcrawler.model.parts import (
    Biblio,
    CdxRow,
    FileMeta,
    HtmlBody,
    IngestType,
    MissingResource,
    NextHop,
    PdfMeta,
    Sha1Hex,
    Terminal,
    WantedResource,
    WebResource,
    Wire,
    XmlMeta,
)
from sandcrawler.status import Scope, Status


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
    extract_next_hop: tuple[NextHop, ...] | None = None
    xml_meta: XmlMeta | None = None
    pdf_meta: PdfMeta | None = None


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
