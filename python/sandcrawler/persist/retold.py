"""Rows -> the result that they are of: `rows` backwards, for a success whose body was published. Pure.

What cannot be told again whole is not told: the newest result of a link wins, in its topic and in the tables, so one
that says less than the one before would lose what is known.
"""

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sandcrawler.model import IngestWebResult
from sandcrawler.names import Table
from sandcrawler.persist.tables import Row
from sandcrawler.status import Status

CDX = (
    "surt",
    "datetime",
    "url",
    "mimetype",
    "status_code",
    "sha1hex",
    "warc_path",
    "warc_offset",
    "warc_csize",
    "etag",
    "last_modified",
)
FILE_META = ("size_bytes", "md5hex", "sha1hex", "sha256hex", "mimetype")
TERMINAL = ("terminal_url", "terminal_dt", "terminal_status_code", "terminal_sha1hex")
# An xml_meta or pdf_meta row as the part of a result.
XML_META = ("status", "schema", "root", "encoding", "biblio", "word_count")
PDF_META = ("status", "page_count", "word_count", "has_text", "metadata")


def retold(rows: Mapping[Table, Row | None]) -> IngestWebResult | None:
    """The result of these rows, JSON columns as JSON values; None where it is no hit or cannot be told again whole.

    It has no request, no hops and no next hops: they are the request's own. Its timestamp is when it was made.
    """
    result, cdx, file_meta = (rows.get(table) for table in (Table.INGEST_FILE_RESULT, Table.CDX, Table.FILE_META))
    if result is None or cdx is None or file_meta is None or result["status"] != Status.SUCCESS:
        return None
    table, parts_of = META.get(result["ingest_type"], NO_META)
    meta = rows.get(table)
    parts = parts_of(meta) if meta is not None and meta["status"] == Status.SUCCESS else None
    if parts is None:
        return None
    try:
        return IngestWebResult.model_validate(
            {
                "status": Status.SUCCESS,
                "hit": True,
                "timestamp": timestamp(result["updated"]),
                "platform": result["platform"],
                "terminal": _chosen(result, TERMINAL),
                "cdx": {**_chosen(cdx, CDX), "sha1b32": base64.b32encode(bytes.fromhex(cdx["sha1hex"])).decode()},
                "file_meta": _chosen(file_meta, FILE_META),
                **parts,
            }
        )
    except (ValueError, TypeError):  # written by somebody else, or before a field was needed; `infinity`, 44 BC
        return None


def timestamp(updated: datetime | str) -> str:
    """A row's moment as a result tells it."""
    moment = datetime.fromisoformat(updated) if isinstance(updated, str) else updated
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _html(row: Row) -> dict[str, Any] | None:
    if not row["has_teixml"] or not row["agent"]:
        return None
    return {
        "scope": row["scope"],
        "html_biblio": row["biblio"],
        "html_body": {"status": Status.SUCCESS, "agent": row["agent"], "word_count": row["word_count"]},
        "html_resources": row["resources"],
        "html_resources_missing": row["resources_missing"],
        "html_resources_filtered": row["resources_filtered"],
    }


META: Mapping[str, tuple[Table, Callable[[Row], dict[str, Any] | None]]] = {
    "html": (Table.HTML_META, _html),
    "xml": (Table.XML_META, lambda row: {"xml_meta": _chosen(row, XML_META)}),
    "pdf": (Table.PDF_META, lambda row: {"pdf_meta": _chosen(row, PDF_META)}),
}
# Of a type that we do not know: somebody else's row.
NO_META: tuple[Table, Callable[[Row], None]] = (Table.HTML_META, lambda _: None)


def _chosen(row: Row, columns: tuple[str, ...]) -> dict[str, Any]:
    return {column: row[column] for column in columns}
