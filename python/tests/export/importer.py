"""What fatcat's importer of ingest results wants of a result, in our own words.

Its rules are those of `IngestWebResultImporter` and `IngestFileResultImporter` in fatcat's repository.
"""

import re
from collections.abc import Iterator
from typing import Any

# Who may ask, and whence links may be.
ASKERS = {
    "fatcat-changelog",
    "fatcat-ingest-container",
    "fatcat-ingest",
    "arabesque",
    "unpaywall-corpus",
    "unpaywall",
    "doaj",
    "dblp",
}
LINK_SOURCES = {"arxiv", "pmc", "unpaywall", "doi", "mag", "s2", "doaj", "dblp"}
MIMETYPES = {
    "html": {"text/html", "application/xhtml+xml"},
    "xml": {"application/xml", "application/jats+xml", "application/tei+xml", "text/xml"},
    "pdf": {"application/pdf"},
}
DIGESTS = {"md5hex": 32, "sha1hex": 40, "sha256hex": 64}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def complaints(result: dict[str, Any]) -> Iterator[str]:
    """Why the importer would pass over a result, or fail on it; nothing for one that it takes."""
    if result.get("hit") is not True:
        yield "hit is not true"
    request, terminal = result.get("request") or {}, result.get("terminal") or {}
    yield from _of_request(request)
    yield from _of_file(result.get("file_meta") or {}, request["ingest_type"])
    if not re.fullmatch(r"\d{14}", str(terminal.get("terminal_dt"))):
        yield f"terminal_dt {terminal.get('terminal_dt')!r}"
    if request["ingest_type"] == "html":
        yield from _of_webcapture(result, terminal)


def _of_request(request: dict[str, Any]) -> Iterator[str]:
    if request.get("ingest_request_source") not in ASKERS:
        yield f"ingest_request_source {request.get('ingest_request_source')!r}"
    if request.get("link_source") not in LINK_SOURCES:
        yield f"link_source {request.get('link_source')!r}"
    if not (request.get("fatcat") or {}).get("release_ident") and not request.get("ext_ids"):
        yield "no release can be found"


def _of_file(meta: dict[str, Any], kind: str) -> Iterator[str]:
    if meta.get("mimetype") not in MIMETYPES[kind]:
        yield f"mimetype {meta.get('mimetype')!r}"
    if not isinstance(meta.get("size_bytes"), int):
        yield "no size"
    for name, length in DIGESTS.items():
        if not re.fullmatch(rf"[0-9a-f]{{{length}}}", str(meta.get(name))):
            yield f"{name} {meta.get(name)!r}"


def _of_webcapture(result: dict[str, Any], terminal: dict[str, Any]) -> Iterator[str]:
    cdx = result.get("cdx") or {}
    if terminal.get("terminal_status_code") != 200:
        yield f"terminal_status_code {terminal.get('terminal_status_code')!r}"
    if not cdx.get("surt"):
        yield "no SURT"
    if cdx.get("url") != terminal.get("terminal_url"):
        yield f"cdx.url {cdx.get('url')!r} is not terminal_url {terminal.get('terminal_url')!r}"
    for resource in result.get("html_resources", []):
        if not MOMENT.fullmatch(resource["timestamp"]):
            yield f"timestamp {resource['timestamp']!r} of {resource['url']}"
        missing = [
            name for name in ("surt", "url", "mimetype", "size", "sha1hex", "sha256hex") if resource.get(name) is None
        ]
        if missing:
            yield f"{resource.get('url')} lacks {missing}"
