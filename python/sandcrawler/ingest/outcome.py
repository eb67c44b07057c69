"""What is said of a request at its end: pure functions from what was seen to an `IngestWebResult` and a body.

Here stand the rules that are the same for every kind of document: what a verdict publishes, how a landing page's
bibliography and its full text's are merged, and what happens to a body too large for a message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sandcrawler import wire
from sandcrawler.fetch.cdx import cdx_row
from sandcrawler.ingest.base import Kind
from sandcrawler.model import (
    Biblio,
    Capture,
    Extracted,
    FileMeta,
    IngestWebResult,
    MissingResource,
    NextHop,
    Terminal,
    WantedResource,
    WebResource,
)
from sandcrawler.names import Topic
from sandcrawler.status import HIDING, KEPT, Status

ERROR_MESSAGE_CHARS = 1600
# Room in a message for its key, headers and framing.
MESSAGE_OVERHEAD = 4096


@dataclass
class Trail:
    """Where one request has led so far; kept beside the flow so that a time-out still tells it."""

    hops: list[str] = field(default_factory=list)
    next_hops: list[NextHop] = field(default_factory=list)
    capture: Capture | None = None
    landing: Biblio | None = None
    known: IngestWebResult | None = None
    """What is known of the link from before."""

    def add(self, capture: Capture) -> None:
        """Append a capture's hops; a hop that repeats the one before it is one hop. The body is not kept."""
        for url in capture.hops or (capture.terminal_url,):
            if not self.hops or self.hops[-1] != url:
                self.hops.append(url)
        self.capture = replace(capture, body=None)


@dataclass(frozen=True)
class Findings:
    """The last document of the trail, as far as it could be read."""

    status: Status
    error_message: str | None = None
    file_meta: FileMeta | None = None
    extracted: Extracted | None = None
    resources: Sequence[WebResource | WantedResource] | None = None
    missing: Sequence[MissingResource] = ()
    known: IngestWebResult | None = None
    """The result that still holds, where the server says that nothing has changed; it tells all the rest."""


@dataclass(frozen=True)
class Outcome:
    """A result, and the body that goes out with it: `message` for `topic` keyed by sha1hex, `document` inside it."""

    result: IngestWebResult
    topic: Topic | None = None
    key: str | None = None
    message: bytes | None = None
    document: bytes | None = None


def conclude(kind: Kind, request: dict[str, Any] | None, trail: Trail, found: Findings, message_bytes: int) -> Outcome:
    """The outcome of a request: its result, and its body where the verdict publishes one that fits a message."""
    extracted, file_meta = found.extracted, found.file_meta
    publishes = extracted is not None and extracted.body is not None and found.status in KEPT and file_meta is not None
    if not publishes or extracted is None or file_meta is None:
        return Outcome(describe(request, trail, found))
    message = wire.encode(kind.body(file_meta, extracted))
    if len(message) + MESSAGE_OVERHEAD > message_bytes:
        return Outcome(describe(request, trail, _without_body(found, extracted, len(message), message_bytes)))
    return Outcome(describe(request, trail, found), kind.topic, file_meta.sha1hex, message, extracted.body)


def _without_body(found: Findings, extracted: Extracted, size: int, limit: int) -> Findings:
    """A body larger than a message: said in its status; a full text without its text is no hit."""
    too_large = Status.BODY_TOO_LARGE
    metas = {
        name: meta.model_copy(update={"status": too_large})
        for name in ("html_body", "xml_meta", "pdf_meta")
        if (meta := getattr(extracted, name)) is not None
    }
    return replace(
        found,
        status=too_large if found.status is Status.SUCCESS else found.status,
        error_message=f"the body is {size} bytes, more than a message of {limit} bytes holds",
        extracted=replace(extracted, body=None, **metas),
    )


def describe(request: dict[str, Any] | None, trail: Trail, found: Findings) -> IngestWebResult:
    """All that was found as one result."""
    if found.known is not None:
        return _again(found.known, request, trail)
    extracted, capture = found.extracted, trail.capture
    message = found.error_message or (extracted and extracted.error_message) or None
    hiding = extracted is not None and extracted.scope in HIDING
    biblio = None if hiding else merge(trail.landing, extracted.html_biblio if extracted else None)
    return IngestWebResult(
        status=found.status,
        hit=found.status is Status.SUCCESS,
        timestamp=_now(),
        error_message=message[:ERROR_MESSAGE_CHARS] if message else None,
        hops=tuple(trail.hops) or None,
        request=request,
        terminal=_terminal(capture, found.file_meta) if capture else None,
        cdx=cdx_row(capture, found.file_meta) if capture and found.file_meta else None,
        file_meta=found.file_meta,
        extract_next_hop=tuple(trail.next_hops) or None,
        html_biblio=biblio,
        html_resources=None if found.resources is None else tuple(found.resources),
        html_resources_missing=tuple(found.missing) or None,
        html_resources_filtered=extracted.filtered if extracted and extracted.filtered else None,
        scope=extracted.scope if extracted else None,
        platform=extracted.platform if extracted else None,
        html_body=extracted.html_body if extracted else None,
        xml_meta=extracted.xml_meta if extracted else None,
        pdf_meta=extracted.pdf_meta if extracted else None,
    )


def _again(known: IngestWebResult, request: dict[str, Any] | None, trail: Trail) -> IngestWebResult:
    """A known result as of today: its document and capture, the way there of today."""
    today = {
        "timestamp": _now(),
        "request": request,
        "hops": tuple(trail.hops) or None,
        "extract_next_hop": tuple(trail.next_hops) or None,
        "html_biblio": merge(trail.landing, known.html_biblio),
    }
    return known.model_copy(update=today)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _terminal(capture: Capture, file_meta: FileMeta | None) -> Terminal:
    return Terminal(
        terminal_url=capture.terminal_url,
        terminal_dt=capture.when.strftime("%Y%m%d%H%M%S"),
        terminal_status_code=capture.status_code,
        terminal_sha1hex=file_meta.sha1hex if file_meta else None,
    )


def merge(landing: Biblio | None, full: Biblio | None) -> Biblio | None:
    """A landing page's bibliography completed by its full text's, which wins only where it says more."""
    if landing is None or full is None:
        return landing or full
    more = {name: value for name, value in full if value is not None and _says_more(value, getattr(landing, name))}
    return landing.model_copy(update=more)


def _says_more(value: object, known: object) -> bool:
    """Nothing was known, or a longer list (more authors, keywords, references)."""
    return known is None or (isinstance(value, tuple) and isinstance(known, tuple) and len(value) > len(known))
