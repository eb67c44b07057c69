"""The tables as `sql/migrations/` has them, applied with yoyo-migrations; and whether a database has them all.

An advisory lock lets two processes run this at once. (yoyo's own lock is a row: it stays behind when a process is
killed, and all that follow wait for nothing.)
"""

from pathlib import Path

import psycopg
from psycopg import Connection
from yoyo import get_backend, read_migrations

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.names import shared
from sandcrawler.persist.database import connect, server, translated
from sandcrawler.persist.tables import TABLES

# Any number that nobody else uses: "sandcraw" in bytes.
LOCK = int.from_bytes(b"sandcraw", "big")


def folder() -> Path:
    """Where the migrations are: in the checkout or inside the package."""
    return shared("sql/migrations")


def make(config: Config) -> dict[str, bool]:
    """Every migration's name, and whether it was applied now. All that are missing are applied, in order."""
    url = config.postgres_url or ""
    migrations = read_migrations(str(folder()))
    with connect(url) as connection:
        try:
            connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            with get_backend(_yoyo_url(url)) as backend:
                missing = backend.to_apply(migrations)
                names = {migration.id for migration in missing}
                backend.apply_migrations(missing)
        except psycopg.Error as error:
            raise translated(error, url) from error
    return {migration.id: migration.id in names for migration in migrations}


def differences(config: Config) -> list[str]:
    """What is not as it should be, a line each."""
    url = config.postgres_url or ""
    with connect(url) as connection:
        try:
            applied, columns = _applied(connection), _columns(connection)
        except psycopg.Error as error:
            raise translated(error, url) from error
    lines = [
        f"database {server(url)}: migration {path.stem} is missing: sandcrawler setup"
        for path in sorted(folder().glob("*.sql"))
        if path.stem not in applied
    ]
    if lines:
        return lines
    return [
        f"database {server(url)}: table {table.name}, column {column} is "
        f"{columns.get((table.name, column), 'missing')}, should be {kind}: restore it as sql/migrations has it"
        for table in TABLES
        for column, kind in table.columns.items()
        if columns.get((table.name, column)) != kind
    ]


def _applied(connection: Connection) -> set[str]:
    there = connection.execute("SELECT to_regclass('_yoyo_migration')").fetchone()
    if there is None or there[0] is None:
        return set()
    return {row[0] for row in connection.execute("SELECT migration_id FROM _yoyo_migration")}


def _columns(connection: Connection) -> dict[tuple[str, str], str]:
    """(table, column) -> type, of the schema that the tables are made in."""
    rows = connection.execute(
        "SELECT table_name, column_name, udt_name FROM information_schema.columns WHERE table_schema = current_schema()"
    )
    return {(table, column): kind for table, column, kind in rows}


def _yoyo_url(url: str) -> str:
    scheme, found, rest = url.partition("://")
    if not found or scheme not in {"postgresql", "postgres"}:
        raise ConfigurationError("SANDCRAWLER_POSTGRES_URL: postgresql://user:password@host:port/database is needed")
    return f"postgresql+psycopg://{rest}"
