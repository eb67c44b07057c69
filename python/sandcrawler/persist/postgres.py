"""The tables in PostgreSQL: one upsert, driven by the table values, for every table.

A batch is one transaction. Per table: one row per key is kept (the batch may hold several), the rows are sorted by
key (so two workers lock in the same order and never deadlock), copied into a temporary table, and merged with
INSERT … ON CONFLICT. A row that is there and newer stays; one that is the same is not written again, so a replay
makes no garbage. The temporary tables live as long as the connection: behind a pooler, pool sessions.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, LiteralString

import psycopg
import structlog
from prometheus_client import Counter as Metric
from psycopg import Connection, sql

from sandcrawler import names
from sandcrawler.config import Config
from sandcrawler.errors import Unavailable
from sandcrawler.persist.database import connect, translated, unsilenced
from sandcrawler.persist.results import Arrival
from sandcrawler.persist.rows import rows
from sandcrawler.persist.tables import BY_NAME, TABLES, Row, Table, stays

log = structlog.get_logger()

MERGE: LiteralString = """
    INSERT INTO {table} AS held ({columns}) SELECT {columns} FROM {incoming}
    ON CONFLICT ({key}) DO UPDATE SET {set}
    WHERE """
MERGE_NEWEST: LiteralString = (
    MERGE + "excluded.{moment} > held.{moment} "
    "OR (excluded.{moment} = held.{moment} AND ({brought}) IS DISTINCT FROM ({held}))"
)
MERGE_OLDEST: LiteralString = MERGE + "excluded.{moment} < held.{moment}"

# Worth a second try without a pause: the connection was lost, or ended by a restart; a deadlock, a serialization.
AT_ONCE = frozenset({None, "57P01", "40P01", "40001"})

SKIPPED = Metric("sandcrawler_persist_skipped", "Rows or values left out, by reason", ["reason"])


class PostgresSink:
    """Writes results to the tables."""

    def __init__(self, config: Config) -> None:
        self.url = config.postgres_url or ""
        self.skipped: Counter[str] = Counter()
        self._connection: Connection | None = None

    def write(self, values: Sequence[Arrival]) -> None:
        """All rows of the batch, or none. InvalidMessage, Unavailable and ConfigurationError as `Sink` says."""
        skipped: Counter[str] = Counter()
        batch: dict[names.Table, list[Row]] = defaultdict(list)
        for arrival in values:
            made, reasons = rows(arrival)
            skipped.update(reasons)
            for name, row in made:
                batch[name].append(row)
        self._commit([(table, newest(table, batch[table.name])) for table in TABLES if table.name in batch])
        self._count(skipped)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _commit(self, batch: Sequence[tuple[Table, list[Row]]]) -> None:
        """One transaction. A connection that was fine a batch ago may be dead by now: that is tried again at once."""
        held = self._connection is not None
        try:
            self._try(batch)
        except Unavailable as fault:
            if not held or getattr(fault.__cause__, "sqlstate", None) not in AT_ONCE:
                raise
            self._try(batch)

    def _try(self, batch: Sequence[tuple[Table, list[Row]]]) -> None:
        if self._connection is None:
            self._connection = prepared(connect(self.url), self.url)
        try:
            with unsilenced(self._connection) as heard, self._connection.transaction():
                for table, of_table in batch:
                    upsert(self._connection, table, of_table, heard)
        except psycopg.Error as error:
            fault = translated(error, self.url)
            if isinstance(fault, Unavailable) or self._connection.broken:
                self.close()
            raise fault from error

    def _count(self, skipped: Counter[str]) -> None:
        self.skipped.update(skipped)
        for reason, times in skipped.items():
            SKIPPED.labels(reason).inc(times)
            log.info("left out", reason=reason, times=times)


def newest(table: Table, batch: Iterable[Row]) -> list[Row]:
    """One row per key, the one that stays, sorted by key. PostgreSQL refuses to touch a row twice in one INSERT."""
    kept: dict[tuple[Any, ...], Row] = {}
    for row in batch:
        key = tuple(row[column] for column in table.key)
        held = kept.get(key)
        kept[key] = row if held is None else stays(table, held, row)
    return [kept[key] for key in sorted(kept)]


def prepared(connection: Connection, url: str) -> Connection:
    """The connection with an empty temporary table beside every table."""
    try:
        for table in TABLES:
            columns = sql.SQL(", ").join(sql.Identifier(column) for column in table.columns)
            connection.execute(
                sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DELETE ROWS AS SELECT {} FROM {} WITH NO DATA").format(
                    sql.Identifier(staging(table.name)), columns, sql.Identifier(table.name)
                )
            )
    except psycopg.Error as error:
        connection.close()
        raise translated(error, url) from error
    return connection


def upsert(
    connection: Connection, table: Table, batch: Sequence[Row], heard: Callable[[], None] = lambda: None
) -> None:
    """Distinct rows into a table, inside the caller's transaction; calls `heard` after each answer of the server."""
    copy, merge = statements(table.name)
    with connection.cursor() as cursor:
        with cursor.copy(copy) as lines:
            for row in batch:
                lines.write_row([row.get(column) for column in table.columns])
        heard()
        cursor.execute(merge)
        heard()


def staging(name: names.Table) -> str:
    """Name of the temporary table beside a table."""
    return f"{name}_incoming"


@cache
def statements(name: names.Table) -> tuple[sql.Composed, sql.Composed]:
    """COPY into the temporary table, and the merge from there into the table."""
    table = BY_NAME[name]
    columns = [sql.Identifier(column) for column in table.columns]
    rest = [sql.Identifier(column) for column in table.rest]
    values = {
        "table": sql.Identifier(name),
        "incoming": sql.Identifier(staging(name)),
        "columns": sql.SQL(", ").join(columns),
        "key": sql.SQL(", ").join(sql.Identifier(column) for column in table.key),
        "moment": sql.Identifier(table.moment),
        "set": sql.SQL(", ").join(sql.SQL("{0} = excluded.{0}").format(column) for column in rest),
        "held": sql.SQL(", ").join(sql.SQL("held.{}").format(column) for column in rest),
        "brought": sql.SQL(", ").join(sql.SQL("excluded.{}").format(column) for column in rest),
    }
    return sql.SQL("COPY {incoming} ({columns}) FROM STDIN").format(**values), sql.SQL(
        MERGE_NEWEST if table.newest else MERGE_OLDEST
    ).format(**values)
