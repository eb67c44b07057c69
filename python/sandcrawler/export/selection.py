"""Which rows go out: by status, type of request and time of the result; and a cursor that the server keeps."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.rows import dict_row

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.persist.database import connect, translated

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """What to export; None and empty mean everything. `since` is included, `until` is not."""

    statuses: Sequence[str] = ()
    kinds: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None


def moment(text: str | None, option: str) -> datetime | None:
    """A day (2024-01-31, its beginning) or a moment (2024-01-31T12:00:00Z), UTC where no zone is named."""
    if text is None:
        return None
    try:
        parsed = datetime.combine(date.fromisoformat(text), datetime.min.time()) if len(text) == 10 else None
        parsed = parsed or datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigurationError(f"{option}: {text!r} is no date: write 2024-01-31 or 2024-01-31T12:00:00Z") from error
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


@contextmanager
def reading(config: Config) -> Iterator[Connection]:
    """A connection in one transaction that sees one state of the tables; errors become ours."""
    connection = connect(config.postgres_url)
    try:
        with connection:
            connection.execute("SET statement_timeout = 0")  # the sort of a whole table may take its time
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            with connection.transaction():
                yield connection
    except psycopg.Error as error:
        raise translated(error, config.postgres_url or "") from error


def rows(connection: Connection, query: sql.SQL | sql.Composed, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a query, `BATCH` at a time from the server."""
    with connection.cursor("export", row_factory=dict_row) as cursor:
        cursor.itersize = BATCH
        yield from cursor.execute(query, given)
