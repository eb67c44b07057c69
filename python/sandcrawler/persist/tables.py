"""Each table as a value: its columns with types, its key, and which of two rows with one key stays.

The one upsert (postgres.py) and the one in memory (memory.py) are driven by these values; a test holds them to
`sql/migrations/`. A new table is a migration, a name in names.py, a value here and a function in rows.py.

Which row stays is told by one column. `updated`: the newest result wins, at equal moments the later record (Kafka
order), so replays change nothing and a late arrival never overwrites. `created`: the first wins. `file_meta` and
`cdx` follow from the bytes, but for words that may be told better later (mimetype, the place of the WARC record):
the newest result's view of those stays, too, so the end does not depend on the order of partitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sandcrawler import names

Row = dict[str, Any]
Type = Literal["text", "int4", "int8", "bool", "timestamptz", "jsonb"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `columns`: name -> PostgreSQL type, in the order of COPY. `moment`: the column that decides."""

    name: names.Table
    key: tuple[str, ...]
    columns: Mapping[str, Type]
    moment: Literal["updated", "created"] = "updated"

    @property
    def newest(self) -> bool:
        """Whether the newest row of a key stays (else the oldest)."""
        return self.moment == "updated"

    @property
    def rest(self) -> tuple[str, ...]:
        """The columns that are not of the key."""
        return tuple(column for column in self.columns if column not in self.key)


TABLES: tuple[Table, ...] = (
    Table(
        names.Table.INGEST_REQUEST,
        key=("link_source", "link_source_id", "ingest_type", "base_url"),
        moment="created",
        columns={
            "link_source": "text",
            "link_source_id": "text",
            "ingest_type": "text",
            "base_url": "text",
            "ingest_request_source": "text",
            "created": "timestamptz",
            "release_stage": "text",
            "request": "jsonb",
        },
    ),
    Table(
        names.Table.INGEST_FILE_RESULT,
        key=("ingest_type", "base_url"),
        columns={
            "ingest_type": "text",
            "base_url": "text",
            "updated": "timestamptz",
            "hit": "bool",
            "status": "text",
            "terminal_url": "text",
            "terminal_dt": "text",
            "terminal_status_code": "int4",
            "terminal_sha1hex": "text",
            "platform": "text",
        },
    ),
    Table(
        names.Table.FILE_META,
        key=("sha1hex",),
        columns={
            "sha1hex": "text",
            "updated": "timestamptz",
            "sha256hex": "text",
            "md5hex": "text",
            "size_bytes": "int8",
            "mimetype": "text",
        },
    ),
    Table(
        names.Table.CDX,
        key=("url", "datetime"),
        columns={
            "url": "text",
            "datetime": "text",
            "updated": "timestamptz",
            "sha1hex": "text",
            "surt": "text",
            "mimetype": "text",
            "status_code": "int4",
            "warc_path": "text",
            "warc_offset": "int8",
            "warc_csize": "int8",
            "etag": "text",
            "last_modified": "text",
        },
    ),
    Table(
        names.Table.HTML_META,
        key=("sha1hex",),
        columns={
            "sha1hex": "text",
            "updated": "timestamptz",
            "status": "text",
            "scope": "text",
            "has_teixml": "bool",
            "has_thumbnail": "bool",
            "word_count": "int4",
            "biblio": "jsonb",
            "resources": "jsonb",
            "resources_missing": "jsonb",
            "agent": "text",
            "resources_filtered": "int4",
        },
    ),
    Table(
        names.Table.XML_META,
        key=("sha1hex",),
        columns={
            "sha1hex": "text",
            "updated": "timestamptz",
            "status": "text",
            "schema": "text",
            "root": "text",
            "encoding": "text",
            "word_count": "int4",
            "biblio": "jsonb",
        },
    ),
    Table(
        names.Table.PDF_META,
        key=("sha1hex",),
        columns={
            "sha1hex": "text",
            "updated": "timestamptz",
            "status": "text",
            "page_count": "int4",
            "word_count": "int4",
            "has_text": "bool",
            "metadata": "jsonb",
        },
    ),
)

BY_NAME: Mapping[names.Table, Table] = {table.name: table for table in TABLES}


def stays(table: Table, held: Row, later: Row) -> Row:
    """Which of two rows of one key stays; `later` came later in Kafka order."""
    if table.newest:
        return later if later[table.moment] >= held[table.moment] else held
    return later if later[table.moment] < held[table.moment] else held
