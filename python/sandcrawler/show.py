"""What the tables and the bucket hold of one document or link: the queries behind `sandcrawler show`.

Whatever is given (URL, SHA-1 or SURT), the rows that hold it are found first; the hashes in them lead to the rest.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import psycopg
from psycopg import Connection, sql
from psycopg.rows import dict_row

from sandcrawler import names
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.model import IngestType
from sandcrawler.names import Folder, Table
from sandcrawler.persist import blobs
from sandcrawler.persist.database import connect, reading, stream, translated
from sandcrawler.wire import clean_text

SHA1 = re.compile(r"[0-9a-f]{40}")
SURT = re.compile(r"[^/]+\)/.*")

# What was given -> the tables that hold it, and the condition (each is served by an index).
BY_URL: Mapping[Table, str] = {
    Table.INGEST_REQUEST: "ingest_type = ANY(%(types)s) AND base_url = %(what)s",
    Table.INGEST_FILE_RESULT: "ingest_type = ANY(%(types)s) AND base_url = %(what)s OR terminal_url = %(what)s",
    Table.CDX: "url = %(what)s",
}
BY_SURT: Mapping[Table, str] = {Table.CDX: "surt = %(what)s"}
BY_SHA1: Mapping[Table, str] = {
    Table.INGEST_FILE_RESULT: "terminal_sha1hex = ANY(%(hashes)s)",
    Table.CDX: "sha1hex = ANY(%(hashes)s)",
    Table.FILE_META: "sha1hex = ANY(%(hashes)s)",
    Table.HTML_META: "sha1hex = ANY(%(hashes)s)",
    Table.XML_META: "sha1hex = ANY(%(hashes)s)",
    Table.PDF_META: "sha1hex = ANY(%(hashes)s)",
}
KEY = re.compile(rf"({'|'.join(Folder)})/[0-9a-f]{{2}}/[0-9a-f]{{2}}/[0-9a-f]{{40}}\.[\w.-]+")
REVISIT = ".revisit.warc.gz"
PIECE = 1 << 20
# One popular page can be the end of thousands of links.
MOST_ROWS = 100


def show(config: Config, what: str) -> Iterator[dict[str, Any]]:
    """Rows as {"table", "row"} and objects as {"object", "size_bytes", "content_type"}; at most 100 rows a table.

    An object's key (such as a row's warc_path) gives that object.
    """
    what = clean_text(what.strip())
    if KEY.fullmatch(what):
        yield from _objects(config, what)
        return
    seen: set[str] = set()
    hashes = {what.lower()} if SHA1.fullmatch(what.lower()) else set()
    first = {} if hashes else BY_SURT if SURT.fullmatch(what) and "://" not in what else BY_URL
    with connect(config.postgres_url) as connection:
        try:
            for found in _rows(connection, first, what=what, types=list(get_args(IngestType))):
                hashes |= {found["row"].get(column) for column in ("sha1hex", "terminal_sha1hex")} - {None}
                seen.add(repr(found))
                yield found
            for found in _rows(connection, BY_SHA1, hashes=sorted(hashes)):
                if repr(found) not in seen:
                    yield found
        except psycopg.Error as error:
            raise translated(error, config.postgres_url or "") from error
    for sha1hex in sorted(hashes):
        for folder in Folder:
            yield from _objects(config, names.blob_key(folder, sha1hex, "."))


def is_warc(key: str) -> bool:
    """Whether an object holds a document as it came; a revisit says only that it was still there."""
    return key.startswith(f"{Folder.WARC}/") and not key.endswith(REVISIT)


def is_body(key: str) -> bool:
    """Whether an object is what was made of a document: TEI, XML or text."""
    return not key.startswith(f"{Folder.WARC}/")


def keep(config: Config, key: str, path: Path) -> None:
    """Write an object to a file. ConfigurationError: the file cannot be written."""
    with blobs.faults(config):
        body = blobs.client(config).get_object(Bucket=config.s3_bucket, Key=key)["Body"]
        try:
            with path.open("wb") as file:
                for piece in body.iter_chunks(PIECE):
                    file.write(piece)
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error


def rows(config: Config, query: str) -> Iterator[dict[str, Any]]:
    """The rows of one SQL statement of the user's own, in a transaction that cannot write. Streams."""
    try:
        with reading(config.postgres_url) as connection:
            for row in stream(connection, query.encode()):
                yield {key: _plain(value) for key, value in row.items()}
    except psycopg.ProgrammingError as error:
        raise ConfigurationError(f"SQL: {error}") from error


def _rows(connection: Connection, tables: Mapping[Table, str], **given: Any) -> Iterator[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        for table, condition in tables.items():
            query = sql.SQL("SELECT * FROM {} WHERE {} LIMIT {}").format(
                sql.Identifier(table), sql.SQL(condition), MOST_ROWS
            )
            for row in cursor.execute(query, given):
                yield {"table": table.value, "row": {key: _plain(value) for key, value in row.items()}}


def _plain(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


def _objects(config: Config, prefix: str) -> Iterator[dict[str, Any]]:
    """What begins with this key; of a document captured more than once the first capture's file comes first."""
    client = blobs.client(config)
    with blobs.faults(config):
        found = client.list_objects_v2(Bucket=config.s3_bucket, Prefix=prefix, MaxKeys=MOST_ROWS).get("Contents", [])
        for each in sorted(found, key=lambda each: (len(each["Key"]), each["Key"])):
            head = client.head_object(Bucket=config.s3_bucket, Key=each["Key"])
            yield {"object": each["Key"], "size_bytes": head["ContentLength"], "content_type": head["ContentType"]}
