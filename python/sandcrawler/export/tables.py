"""Whole tables for analysts: CSV as PostgreSQL itself writes it, or Parquet with typed columns.

JSON columns are JSON text in both: DuckDB, pandas and Spark read paths out of it. All files of one export show one
state of the database, and get their names when all are whole: an export that fails leaves the files of the last one.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from psycopg import Connection, sql

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.export.selection import Selection
from sandcrawler.persist.database import reading
from sandcrawler.persist.tables import BY_NAME, TABLES, Table

# Of Parquet: so many rows, or so much text, are held at once.
BATCH, BATCH_CHARACTERS = 10_000, 16 << 20
# What an export that was killed left unfinished.
DEAD_PART_SECONDS = 24 * 3600
# How a row belongs to a result: by its link, or by the document's bytes.
LINK = "(ingest_type, base_url) IN (SELECT ingest_type, base_url FROM ingest_file_result"
DOCUMENT = "sha1hex IN (SELECT terminal_sha1hex FROM ingest_file_result"


def export(config: Config, folder: Path, form: str, selection: Selection, only: Sequence[str] = ()) -> dict[Path, int]:
    """Write tables (all, or those named) to FOLDER/TABLE.csv or .parquet; the rows in each file."""
    known = {table.value: BY_NAME[table] for table in BY_NAME}
    for name in only:
        if name not in known:
            raise ConfigurationError(f"--table: there is no table {name!r}; the tables are {', '.join(known)}")
    write = WRITERS[form]
    written, new = dict[Path, int](), dict[Path, Path]()
    with reading(config.postgres_url) as connection, ExitStack() as drafts:
        folder.mkdir(parents=True, exist_ok=True)
        for table in [known[name] for name in only] or TABLES:
            path = folder / f"{table.name}.{form}"
            new[path] = drafts.enter_context(_draft(path))
            with _named(path):
                written[path] = write(connection, table, selection, new[path])
        for path, draft in new.items():
            draft.replace(path)
    return written


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """A path to write to, nobody else's; what has not got another name is gone afterwards."""
    for dead in path.parent.glob(f".{path.name}-*.part"):
        with suppress(OSError):
            if dead.stat().st_mtime < time.time() - DEAD_PART_SECONDS:
                dead.unlink()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".part")
    draft = Path(name)
    try:
        os.fchmod(handle, 0o644)
        os.close(handle)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of writing name the file that was to be: a full disk says of none."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def _query(table: Table, selection: Selection) -> sql.Composed:
    """The rows of a table whose moment is in the range, and which belong to results of the statuses and kinds."""
    conditions: list[sql.Composable] = []
    moment = sql.Identifier(table.moment)
    if selection.since:
        conditions.append(sql.SQL("{} >= {}").format(moment, selection.since))
    if selection.until:
        conditions.append(sql.SQL("{} < {}").format(moment, selection.until))
    if of_results := [
        sql.SQL("{} = ANY({})").format(sql.Identifier(column), list(wanted))
        for column, wanted in (("status", selection.statuses), ("ingest_type", selection.kinds))
        if wanted
    ]:
        link = LINK if "base_url" in table.columns else DOCUMENT
        chosen = sql.SQL(link) + sql.SQL(" WHERE ") + sql.SQL(" AND ").join(of_results)
        conditions.append(chosen + sql.SQL(")"))
    columns = sql.SQL(", ").join(
        sql.SQL("{}::text").format(sql.Identifier(name)) + sql.SQL(" AS ") + sql.Identifier(name)
        if kind == "jsonb"
        else sql.Identifier(name)
        for name, kind in table.columns.items()
    )
    where = sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions) if conditions else sql.SQL("")
    return sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(table.name)) + where


def _csv(connection: Connection, table: Table, selection: Selection, path: Path) -> int:
    query = sql.SQL("COPY ({}) TO STDOUT WITH (FORMAT csv, HEADER)").format(_query(table, selection))
    with path.open("wb") as out, connection.cursor() as cursor:
        with cursor.copy(query) as copy:
            for piece in copy:
                out.write(piece)
        return cursor.rowcount


def _parquet(connection: Connection, table: Table, selection: Selection, path: Path) -> int:
    try:
        import pyarrow as arrow  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError("Parquet needs pyarrow: pip install 'sandcrawler[export]'") from error
    kinds: Mapping[str, Any] = {
        "text": arrow.string(),
        "jsonb": arrow.string(),
        "int4": arrow.int32(),
        "int8": arrow.int64(),
        "bool": arrow.bool_(),
        "timestamptz": arrow.timestamp("us", tz="UTC"),
    }
    schema = arrow.schema([(name, kinds[kind]) for name, kind in table.columns.items()])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in _batches(_rows(connection, table, selection)):
            columns = [
                arrow.array(column, field.type) for column, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            count += len(batch)
    return count


def _rows(connection: Connection, table: Table, selection: Selection) -> Iterator[tuple[Any, ...]]:
    """The rows one after another: a cursor would fetch a thousand at once, of up to 32 MiB each."""
    query = sql.SQL("COPY ({}) TO STDOUT WITH (FORMAT binary)").format(_query(table, selection))
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        copy.set_types(["text" if kind == "jsonb" else kind for kind in table.columns.values()])
        yield from copy.rows()


def _batches(found: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    size = 0
    for row in found:
        batch.append(row)
        size += sum(len(value) for value in row if isinstance(value, str))
        if len(batch) == BATCH or size > BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


WRITERS: Mapping[str, Callable[[Connection, Table, Selection, Path], int]] = {"csv": _csv, "parquet": _parquet}
