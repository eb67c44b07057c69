"""A connection to PostgreSQL that cannot hang, and the one map from its errors to ours.

Three clocks guard it: connecting; the server's own clocks on statements and locks; and a clock here that shuts the
socket when nothing comes back at all (a stopped server, a cut network), since neither TCP nor libpq would notice.
"""

import json
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import structlog
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from sandcrawler.errors import ConfigurationError, InvalidMessage, SandcrawlerError, Unavailable

log = structlog.get_logger()

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 60
LOCK_SECONDS = 30
# More than any one statement may take.
SILENCE_SECONDS = 90.0

# Rows of one answer when a query streams.
STREAMED = 1000

# SQLSTATE, whole or its class (the first two) -> whose fault it is. Whole comes first; what is not here is a bug.
FAULTS: Mapping[str, type[SandcrawlerError]] = {
    "08": Unavailable,  # connection lost or refused
    "25006": Unavailable,  # read-only: a failover is under way
    "25P03": Unavailable,  # idle in transaction for too long
    "40001": Unavailable,  # serialization
    "40P01": Unavailable,  # deadlock
    "53": Unavailable,  # disk full, out of memory, too many connections
    "55P03": Unavailable,  # lock not available
    "57": Unavailable,  # shutting down, starting up, cancelled by a time limit
    "58": Unavailable,  # input/output error
    "22": InvalidMessage,  # a value does not fit its type
    "23": InvalidMessage,  # a constraint is violated
    "54": InvalidMessage,  # beyond a limit: index entry, JSON nesting
    "28": ConfigurationError,  # user or password
    "3D000": ConfigurationError,  # no such database
    "42501": ConfigurationError,  # no permission
    "42P01": ConfigurationError,  # no such table
    "42703": ConfigurationError,  # no such column
    "42P07": ConfigurationError,  # setup finds a table of this name that it did not make
}

# The server's words at the door -> the SQLSTATE that they stand for.
REFUSALS = (
    ("authentication failed", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ('role "', "28000"),
    ('database "', "3D000"),
)
CLIENT_FAULTS: tuple[tuple[type[psycopg.Error], str], ...] = (
    (psycopg.OperationalError, "08006"),
    (psycopg.DataError, "22000"),
)

ADVICE: Mapping[type[SandcrawlerError], str] = {
    Unavailable: "is it running (`sandcrawler ps`), has it disk and connections left?",
    ConfigurationError: "check SANDCRAWLER_POSTGRES_URL, and run `sandcrawler setup`",
}


def connect(url: str | None, seconds: float | None = None) -> Connection:
    """A connection in autocommit mode, with all time limits set: to `seconds` where given, in place of the usual."""
    if not url:
        raise ConfigurationError("SANDCRAWLER_POSTGRES_URL is not set: name a database, or start one: sandcrawler up")
    try:
        connection = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=math.ceil(seconds or CONNECT_SECONDS),
            keepalives=1,
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=30_000,
            application_name="sandcrawler",
        )
        connection.execute(f"SET statement_timeout = {round(1000 * (seconds or STATEMENT_SECONDS))}")
        connection.execute(f"SET lock_timeout = {round(1000 * (seconds or LOCK_SECONDS))}")
    except psycopg.ProgrammingError as error:
        # The library's words repeat the address, password and all.
        raise ConfigurationError("SANDCRAWLER_POSTGRES_URL is no postgresql://user:password@host:port/name") from error
    except psycopg.Error as error:
        raise translated(error, url) from error
    return connection


@contextmanager
def reading(url: str | None) -> Iterator[Connection]:
    """A connection in one transaction that sees one state of the tables and cannot write; errors become ours."""
    connection = connect(url)
    try:
        with connection:
            connection.execute("SET statement_timeout = 0")  # the sort of a whole table may take its time
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            with connection.transaction():
                yield connection
    except psycopg.Error as error:
        raise translated(error, url or "") from error


def stream(
    connection: Connection, query: sql.SQL | sql.Composed | bytes, given: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a query of any size, `STREAMED` at a time from the server."""
    with connection.cursor("stream", row_factory=dict_row) as cursor:
        cursor.itersize = STREAMED
        yield from cursor.execute(query, given)


def forgive(connection: Connection) -> None:
    """From here on, JSON that Python cannot take (thousands of levels or digits, which PostgreSQL takes) reads as None.

    Nothing of ours writes such a value; who reads many rows at once must not lose the others to one that has it.
    """
    set_json_loads(_loads, connection)


def _loads(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        log.warning("a JSON value in the database cannot be read", error=str(error)[:200])
        return None


def translated(error: psycopg.Error, url: str) -> Exception:
    """The error as one of ours, with a text that names the server and what to do; a bug stays what it is."""
    state = error.sqlstate or _state_by_words(error)
    kind = FAULTS.get(state) or FAULTS.get(state[:2])
    if kind is None:
        return error
    if kind is InvalidMessage:
        diag = error.diag
        where = ".".join(part for part in (diag.table_name, diag.column_name or diag.constraint_name) if part)
        return InvalidMessage(f"PostgreSQL {state} {where}: {diag.message_primary or error}"[:500])
    lines = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    return kind(f"PostgreSQL at {server(url)}: {lines} ({state}): {ADVICE[kind]}")


def _state_by_words(error: psycopg.Error) -> str:
    """libpq gives no SQLSTATE when it could not connect, only the server's words; psycopg none for its own errors."""
    for words, state in REFUSALS:
        if words in str(error):
            return state
    return next((state for kind, state in CLIENT_FAULTS if isinstance(error, kind)), "XX000")


def server(url: str) -> str:
    """host:port/database of a URL, for people's eyes: never the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "SANDCRAWLER_POSTGRES_URL"
    return f"{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"


@contextmanager
def unsilenced(connection: Connection, seconds: float = SILENCE_SECONDS) -> Iterator[Callable[[], None]]:
    """While the block runs, a server that stays silent for so long loses its socket: waiting ends in an error.

    The block calls what it is given whenever the server has answered, so a slow batch that gets on is not cut.
    """
    over = threading.Event()
    heard = time.monotonic()

    def hear() -> None:
        nonlocal heard
        heard = time.monotonic()

    def watch() -> None:
        while not over.wait(heard + seconds - time.monotonic()):
            if time.monotonic() < heard + seconds:
                continue
            with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as other:
                other.shutdown(socket.SHUT_RDWR)
            return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield hear
    finally:
        over.set()
