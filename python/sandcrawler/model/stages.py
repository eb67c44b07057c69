"""What the stages hand to each other inside one process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sandcrawler.model.parts import Biblio, HtmlBody, PdfMeta, WantedResource, XmlMeta
from sandcrawler.status import Scope, Status


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
