"""One result -> its rows, by the rules of the contract; pure.

- ingest_file_result and ingest_request: every result; what a request does not say of its source is "unknown".
- file_meta, cdx, and the meta table of the asked type: where the terminal document was judged.
- What is too long for a key is not stored and counted under its reason (`skip-huge-url`, …): an over-long
  terminal URL or SURT is NULL and its row stays, an over-long key part costs the row. Kafka holds it whole.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from sandcrawler.errors import InvalidMessage
from sandcrawler.names import Table
from sandcrawler.persist.results import Arrival
from sandcrawler.persist.tables import Row
from sandcrawler.status import JUDGED, KEPT, Status

# Bytes of UTF-8, the CHECKs of sql/migrations/: an entry of a b-tree index holds 2,704 bytes.
BASE_URL_BYTES = 1500
URL_BYTES = 2048
SURT_BYTES = 2560
SOURCE_BYTES = 100
ID_BYTES = 500
# A request that does not say where it is from is kept all the same: asking again needs all that it said.
UNKNOWN = "unknown"


RowOf = Callable[[Arrival, list[str]], Row | None]


def rows(arrival: Arrival) -> tuple[list[tuple[Table, Row]], list[str]]:
    """The rows of one result, and the reasons for which something was left out."""
    skipped: list[str] = []
    made = ((table, row_of(arrival, skipped)) for table, row_of in _tables_of(arrival))
    return [(table, row) for table, row in made if row is not None], skipped


def _tables_of(arrival: Arrival) -> Iterator[tuple[Table, RowOf]]:
    yield Table.INGEST_REQUEST, _ingest_request
    yield Table.INGEST_FILE_RESULT, _ingest_file_result
    if arrival.result.status in JUDGED:
        yield Table.FILE_META, _file_meta
        yield Table.CDX, _cdx
        yield META_TABLES[arrival.request.ingest_type]


def _ingest_request(arrival: Arrival, skipped: list[str]) -> Row | None:
    request = arrival.request
    source, source_id = request.link_source or UNKNOWN, request.link_source_id or UNKNOWN
    asker = request.ingest_request_source or UNKNOWN
    if _bytes(request.base_url) > BASE_URL_BYTES:
        return None  # counted once, by _ingest_file_result
    if _bytes(source) > SOURCE_BYTES or _bytes(source_id) > ID_BYTES or _bytes(asker) > ID_BYTES:
        skipped.append("skip-huge-source")
        return None
    return {
        "link_source": source,
        "link_source_id": source_id,
        "ingest_type": request.ingest_type,
        "base_url": request.base_url,
        "ingest_request_source": asker,
        "created": arrival.updated,
        "release_stage": request.release_stage or None,
        "request": _json(arrival.plain["request"]),
    }


def _ingest_file_result(arrival: Arrival, skipped: list[str]) -> Row | None:
    result, terminal = arrival.result, arrival.result.terminal
    if _bytes(arrival.request.base_url) > BASE_URL_BYTES:
        skipped.append("skip-huge-url")
        return None
    row: Row = {
        "ingest_type": arrival.request.ingest_type,
        "base_url": arrival.request.base_url,
        "updated": arrival.updated,
        "hit": result.hit,
        "status": result.status.value,
        "platform": result.platform or None,
    }
    if terminal is not None:
        row["terminal_url"] = _fit(terminal.terminal_url, URL_BYTES, "skip-huge-url", skipped)
        row["terminal_dt"] = terminal.terminal_dt
        row["terminal_status_code"] = terminal.terminal_status_code
        row["terminal_sha1hex"] = terminal.terminal_sha1hex
    return row


def _file_meta(arrival: Arrival, _: list[str]) -> Row | None:
    meta = arrival.result.file_meta
    if meta is None:
        return None
    return {
        "sha1hex": meta.sha1hex,
        "updated": arrival.updated,
        "sha256hex": meta.sha256hex,
        "md5hex": meta.md5hex,
        "size_bytes": meta.size_bytes,
        "mimetype": meta.mimetype,
    }


def _cdx(arrival: Arrival, skipped: list[str]) -> Row | None:
    cdx = arrival.result.cdx
    if cdx is None:
        return None
    if _bytes(cdx.url) > URL_BYTES:
        skipped.append("skip-huge-url-of-cdx")
        return None
    return {
        "url": cdx.url,
        "datetime": cdx.datetime,
        "updated": arrival.updated,
        "sha1hex": cdx.sha1hex,
        "surt": _fit(cdx.surt, SURT_BYTES, "skip-huge-surt", skipped),
        "mimetype": cdx.mimetype,
        "status_code": cdx.status_code,
        "warc_path": cdx.warc_path,
        "warc_offset": cdx.warc_offset,
        "warc_csize": cdx.warc_csize,
        "etag": cdx.etag,
        "last_modified": cdx.last_modified,
    }


def _html_meta(arrival: Arrival, _: list[str]) -> Row | None:
    result, plain, body = arrival.result, arrival.plain, arrival.result.html_body
    return _of_document(
        arrival,
        status=result.status.value,
        scope=result.scope.value if result.scope else None,
        has_teixml=result.status in KEPT and body is not None and body.status is Status.SUCCESS,
        has_thumbnail=False,
        word_count=body.word_count if body else None,
        biblio=_json(plain.get("html_biblio")),
        resources=_json(plain.get("html_resources")),
        resources_missing=_json(plain.get("html_resources_missing")),
        agent=(body.agent or None) if body else None,
        resources_filtered=result.html_resources_filtered,
    )


def _xml_meta(arrival: Arrival, _: list[str]) -> Row | None:
    meta = arrival.result.xml_meta
    return _of_document(
        arrival,
        status=(meta or arrival.result).status.value,
        schema=meta.schema_ if meta else None,
        root=meta.root if meta else None,
        encoding=meta.encoding if meta else None,
        word_count=meta.word_count if meta else None,
        biblio=_json(arrival.plain["xml_meta"].get("biblio")) if meta else None,
    )


def _pdf_meta(arrival: Arrival, _: list[str]) -> Row | None:
    meta = arrival.result.pdf_meta
    return _of_document(
        arrival,
        status=(meta or arrival.result).status.value,
        page_count=meta.page_count if meta else None,
        word_count=meta.word_count if meta else None,
        has_text=meta.has_text if meta else None,
        metadata=_json(arrival.plain["pdf_meta"].get("metadata")) if meta else None,
    )


META_TABLES: Mapping[str, tuple[Table, RowOf]] = {
    "html": (Table.HTML_META, _html_meta),
    "xml": (Table.XML_META, _xml_meta),
    "pdf": (Table.PDF_META, _pdf_meta),
}


def _of_document(arrival: Arrival, **columns: Any) -> Row | None:
    """A row keyed by the document's own hash, or None where nobody says which bytes it had."""
    file_meta, terminal = arrival.result.file_meta, arrival.result.terminal
    sha1hex = file_meta.sha1hex if file_meta else terminal.terminal_sha1hex if terminal else None
    return {"sha1hex": sha1hex, "updated": arrival.updated, **columns} if sha1hex else None


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _fit(text: str, limit: int, reason: str, skipped: list[str]) -> str | None:
    """The text, or None where it is empty or too long (counted)."""
    if _bytes(text) > limit:
        skipped.append(reason)
        return None
    return text or None


def _json(value: Any) -> str | None:
    """JSON text for a JSONB column; NULL for what is absent."""
    try:
        return None if value is None else to_json(value).decode()
    except PydanticSerializationError as error:
        raise InvalidMessage(f"cannot be written as JSON: {error}") from error
