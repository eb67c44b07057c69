"""Persisted results → fatcat's entities: a webcapture for HTML, a file for XML and PDF.

The shapes are those of fatcat's API (`WebcaptureEntity`, `FileEntity`), and the choices those of its own importer of
ingest results, but for one: every cdx line has its status code. What is told of one document is one entity: all links
that led to it, all releases that they were asked for. A webcapture is one URL with one body, at its last capture; its
cdx lines begin with the document itself. Captures whose status was not 200 are no webcaptures there.

Releases are those that requests named (`fatcat.release_ident`); where none did, release_ids is empty and edit_extra
has the ext_ids by which the release can be found.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

import structlog
from psycopg import sql

from sandcrawler.config import Config
from sandcrawler.export.selection import Selection
from sandcrawler.fetch.surt import surt
from sandcrawler.persist.database import forgive, reading, stream

log = structlog.get_logger()

Row = Mapping[str, Any]
Entity = dict[str, Any]

WAYBACK = "https://web.archive.org/web"
DOI_REL = "publisher"
USUAL_REL = "web"

# Newest first within one document, so that the first row of a group is the capture that is told.
QUERY = sql.SQL("""
SELECT r.ingest_type, r.base_url, r.status, r.terminal_url, r.terminal_dt, r.terminal_status_code, r.terminal_sha1hex,
       f.sha256hex, f.md5hex, f.size_bytes, f.mimetype, c.surt, h.resources, q.requests
FROM ingest_file_result r
JOIN file_meta f ON f.sha1hex = r.terminal_sha1hex
LEFT JOIN cdx c ON c.url = r.terminal_url AND c.datetime = r.terminal_dt
LEFT JOIN html_meta h ON h.sha1hex = r.terminal_sha1hex AND r.ingest_type = 'html'
LEFT JOIN LATERAL (
    SELECT jsonb_agg(request ORDER BY created, link_source, link_source_id) AS requests FROM ingest_request q
    WHERE q.ingest_type = r.ingest_type AND q.base_url = r.base_url
) q ON true
WHERE (%(statuses)s::text[] = '{}' OR r.status = ANY(%(statuses)s))
  AND (%(kinds)s::text[] = '{}' OR r.ingest_type = ANY(%(kinds)s))
  AND (%(since)s::timestamptz IS NULL OR r.updated >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR r.updated < %(until)s)
  AND r.terminal_url IS NOT NULL AND r.terminal_dt IS NOT NULL
ORDER BY r.terminal_sha1hex, r.ingest_type, r.terminal_url, r.terminal_dt DESC, r.base_url
""")


def entities(config: Config, selection: Selection, archive: str = WAYBACK) -> Iterator[Entity]:
    """Every entity of the selection, in the order of their hashes. A webcapture has `cdx`, a file has `urls`."""
    given = {
        "statuses": list(selection.statuses),
        "kinds": list(selection.kinds),
        "since": selection.since,
        "until": selection.until,
    }
    with reading(config.postgres_url) as connection:
        forgive(connection)
        yield from made(stream(connection, QUERY, given), archive)


def made(found: Iterable[Row], archive: str = WAYBACK) -> Iterator[Entity]:
    """The entities of rows that are sorted as `QUERY` sorts them."""
    for (kind, *_), group in groupby(found, _document):
        together = list(group)
        try:
            entity = BUILDERS[kind](together, archive.rstrip("/"))
        except (ValueError, KeyError) as error:  # a moment that no calendar has, a type that is not ours
            log.warning("a document is left out", sha1hex=together[0]["terminal_sha1hex"], error=str(error))
            continue
        if entity is not None:
            yield entity


def _document(row: Row) -> tuple[str, ...]:
    """What makes one entity: for HTML the URL and the body, for files the body alone."""
    kind, sha1hex = row["ingest_type"], row["terminal_sha1hex"]
    return (kind, sha1hex, row["terminal_url"]) if kind == "html" else (kind, sha1hex)


def webcapture(group: list[Row], archive: str) -> Entity | None:
    """One page with its parts. None where its status was not 200."""
    row = next((row for row in group if row["terminal_status_code"] == 200), None)
    if row is None:
        return None
    timestamp = iso(row["terminal_dt"])
    primary = {
        "surt": row["surt"] or surt(row["terminal_url"]),  # the table has none that is very long
        "timestamp": timestamp,
        "url": row["terminal_url"],
        "mimetype": row["mimetype"],
        "status_code": row["terminal_status_code"],
        "sha1": row["terminal_sha1hex"],
        "sha256": row["sha256hex"],
        "size": row["size_bytes"],
    }
    return {
        "cdx": [_known(primary), *(_resource(one) for one in row["resources"] or () if isinstance(one, dict))],
        "archive_urls": [_archived(row, archive)],
        "original_url": row["terminal_url"],
        "timestamp": timestamp,
        "release_ids": release_ids(group),
        "edit_extra": edit_extra(group),
    }


def file(group: list[Row], archive: str) -> Entity | None:
    """One XML or PDF with every place where it was found, each place's newest capture first."""
    first = group[0]
    urls: dict[str, Entity] = {}
    for url in (url for row in group for url in (_web(row), _archived(row, archive))):
        urls.setdefault(url["url"], url)
    return {
        "md5": first["md5hex"],
        "sha1": first["terminal_sha1hex"],
        "sha256": first["sha256hex"],
        "size": first["size_bytes"],
        "mimetype": first["mimetype"],
        "urls": list(urls.values()),
        "release_ids": release_ids(group),
        "edit_extra": edit_extra(group),
    }


BUILDERS: Mapping[str, Callable[[list[Row], str], Entity | None]] = {"html": webcapture, "xml": file, "pdf": file}


def _resource(resource: Mapping[str, Any]) -> Entity:
    return _known(
        {
            "surt": resource.get("surt"),
            "timestamp": resource.get("timestamp"),
            "url": resource.get("url"),
            "mimetype": resource.get("mimetype"),
            "status_code": resource.get("status_code"),
            "sha1": resource.get("sha1hex"),
            "sha256": resource.get("sha256hex"),
            "size": resource.get("size"),
        }
    )


def _known(fields: Entity) -> Entity:
    return {name: value for name, value in fields.items() if value is not None}


def _archived(row: Row, archive: str) -> Entity:
    return {"rel": "webarchive", "url": f"{archive}/{row['terminal_dt']}/{row['terminal_url']}"}


def _web(row: Row) -> Entity:
    said = (request.get("rel") or (request.get("link_source") == "doi" and DOI_REL) for request in _requests([row]))
    return {"rel": next((rel for rel in said if isinstance(rel, str)), USUAL_REL), "url": row["terminal_url"]}


def _requests(group: list[Row]) -> list[dict[str, Any]]:
    return [request for row in group for request in row["requests"] or () if isinstance(request, dict)]


def release_ids(group: list[Row]) -> list[str]:
    """The releases that were named, each once, the earliest request's first."""
    named = (request.get("fatcat") for request in _requests(group))
    idents = (fatcat.get("release_ident") for fatcat in named if isinstance(fatcat, dict))
    return list(dict.fromkeys(ident for ident in idents if isinstance(ident, str) and ident))


def edit_extra(group: list[Row]) -> Entity:
    """Who asked, whence the link is, and (where no release was named) the identifiers: of the first request."""
    first = next(iter(_requests(group)), {})
    extra = dict(first["edit_extra"]) if isinstance(first.get("edit_extra"), dict) else {}
    for name in ("ingest_request_source", "link_source", "link_source_id"):
        if first.get(name):
            extra[name] = first[name]
    if not release_ids(group) and first.get("ext_ids"):
        extra["ext_ids"] = first["ext_ids"]
    return extra


def iso(datetime14: str) -> str:
    """20240131120000 → 2024-01-31T12:00:00Z."""
    return datetime.strptime(datetime14, "%Y%m%d%H%M%S").isoformat() + "Z"  # noqa: DTZ007  (UTC by definition)
