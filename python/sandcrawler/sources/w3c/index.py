"""The index of the W3C data set: which identifier is in which file, so that 17,000 rows answer in microseconds.

Two forms. `index-v2.yaml` is what a data set carries: a list of {:id: {_type, number, [date]}, :file:}, sorted by
number; the same rows come as JSON lines too. Looking up works on a SQLite file that is built from either once, kept in
the cache, and opened as it is while the index stays the same. A row's file is relative to the index's folder.
"""

import hashlib
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.w3c.pubid import Pubid, of_index
from sandcrawler.sources.yamltext import is_text, load, scalar
from sandcrawler.wire import UNSTORABLE

INDEX_NAME = "index-v2.yaml"
VERSION = 2

# A row as this project and the published data sets write it; what is quoted has no quote within.
SCALAR = r"('[^'\n]*'|[A-Za-z0-9][A-Za-z0-9_./+-]*)"
USUAL = re.compile(
    rf"- :id:\n +_type: (pubid:w3c:[a-z-]+)\n +number: {SCALAR}\n(?: +date: '([0-9]+)'\n)? +:file: {SCALAR}\n"
)

SCHEMA = """
CREATE TABLE row (id TEXT PRIMARY KEY, number TEXT, folded TEXT, kind TEXT, date TEXT, file TEXT) WITHOUT ROWID;
CREATE INDEX by_number ON row (number, kind);
CREATE INDEX by_folded ON row (folded, kind);
"""
BY_NUMBER = "SELECT kind, number, date, file FROM row WHERE number = ? AND kind = ?"
BY_FOLDED = "SELECT kind, number, date, file FROM row WHERE folded = ? AND kind = ?"


@dataclass(frozen=True, slots=True)
class Row:
    """One publication: its identifier and the file of its record."""

    pubid: Pubid
    file: str


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of an index: index-v2 YAML, or JSON lines. ConfigurationError where one row is malformed."""
    return parse_rows(path.read_bytes(), path)


def parse_rows(text: bytes, place: object) -> Iterator[Row]:
    """The rows of an index's text; `place` is for the error, which names the line.

    A bad row rejects the whole: without it, another publication might be found than is meant.
    """
    text, line = text.removeprefix(b"\xef\xbb\xbf"), 0
    try:
        for line, value in _numbered(text):  # noqa: B007  (the error names it)
            row = json.loads(value) if isinstance(value, bytes) else value
            yield _row({str(key).removeprefix(":"): each for key, each in row.items()})
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        where = f"{place}:{line}" if line else place
        reason = f"a row without {error}" if isinstance(error, KeyError) else error
        raise ConfigurationError(f"{where}: not an index of W3C publications: {reason}") from error


def _numbered(text: bytes) -> Iterator[tuple[int, Any]]:
    """The rows, JSON still as text, each with the number of its line."""
    if text.lstrip()[:1] == b"{":
        yield from ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())
        return
    values = _usual(text.decode()) or load(text) or []
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith(b"- ")]
    # In a layout of another kind, rows are counted instead.
    yield from zip(lines if len(lines) == len(values) else range(1, len(values) + 1), values, strict=True)


def _usual(text: str) -> list[dict[str, Any]] | None:
    """The rows where all are laid out as everybody writes them, in a tenth of the time that YAML in general takes."""
    place, rows = len("---\n"), []
    while row := USUAL.match(text, place):
        kind, number, date, file = row.groups()
        if not (is_text(number) and is_text(file)):
            return None
        dated = {"date": date} if date else {}
        rows.append({"id": {"_type": kind, "number": number.strip("'"), **dated}, "file": file.strip("'")})
        place = row.end()
    return rows if place == len(text) and text.startswith("---\n") else None


def _row(value: dict[str, Any]) -> Row:
    if not isinstance(value["file"], str) or UNSTORABLE.search(value["file"]):
        raise TypeError(f"file is no text: {value!r}")
    return Row(of_index(value["id"]), value["file"])


def dump_rows(rows: Iterable[Row]) -> str:
    """Rows as index-v2 YAML, sorted by number as bytes; one row an identifier, the last one."""
    unique = {str(row.pubid): row for row in rows}.values()
    lines = ["---"]
    for row in sorted(unique, key=lambda row: (row.pubid.number.encode(), str(row.pubid).encode())):
        lines += ["- :id:", f"    _type: {row.pubid.type}", f"    number: {scalar(row.pubid.number)}"]
        lines += [f"    date: '{row.pubid.date}'"] if row.pubid.date else []
        lines += [f"  :file: {scalar(row.file)}"]
    return "\n".join(lines) + "\n"


class Index:
    """Rows ready for look-ups. Threads may share it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """An index in memory."""
        database = sqlite3.connect(":memory:", check_same_thread=False)
        _fill(database, rows)
        return cls(database)

    @classmethod
    def open(cls, path: Path, cache: Path) -> Self:
        """The index in a file, through its built form in the `cache` folder, which is made where it lacks.

        OSError where the file cannot be read; ConfigurationError where it is no index.
        """
        key = f"{VERSION}:{path.resolve()}:{path.stat().st_mtime_ns}:{path.stat().st_size}"
        built = cache / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.sqlite"
        if (found := cls._built(built)) is not None:  # an empty one is false
            return found
        try:
            cache.mkdir(parents=True, exist_ok=True)
            build(read_rows(path), built)
        except (OSError, sqlite3.Error):
            return cls.of(read_rows(path))
        found = cls._built(built)
        return cls.of(read_rows(path)) if found is None else found

    @classmethod
    def _built(cls, built: Path) -> Self | None:
        """The built form, if there is one that can be read: a machine that went down may have left less."""
        if not built.is_file():
            return None
        place = f"{built.resolve().as_uri()}?mode=ro&immutable=1"
        found = cls(sqlite3.connect(place, uri=True, check_same_thread=False))
        with suppress(sqlite3.Error):
            found.numbered("", "")
            return found
        found.close()
        return None

    def numbered(self, kind: str, number: str) -> list[Row]:
        """The rows of this kind and exactly this number."""
        return [_of_record(record) for record in self._database.execute(BY_NUMBER, (number, kind))]

    def ignoring_case(self, kind: str, number: str) -> list[Row]:
        """The rows of this kind whose number is equal but for case."""
        return [_of_record(record) for record in self._database.execute(BY_FOLDED, (number.casefold(), kind))]

    def __len__(self) -> int:
        (count,) = self._database.execute("SELECT count(*) FROM row").fetchone()
        return int(count)

    def close(self) -> None:
        """Let the file go."""
        self._database.close()


def build(rows: Iterable[Row], path: Path) -> None:
    """Write the built form. It appears whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".building-")
    os.close(handle)
    try:
        with closing(sqlite3.connect(name)) as database:
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            _fill(database, rows)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _fill(database: sqlite3.Connection, rows: Iterable[Row]) -> None:
    database.executescript(SCHEMA)
    with database:
        database.executemany("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?, ?)", map(_record, rows))


def _record(row: Row) -> tuple[str, str, str, str, str | None, str]:
    pubid = row.pubid
    return str(pubid), pubid.number, pubid.number.casefold(), pubid.kind, pubid.date, row.file


def _of_record(record: tuple[str, str, str | None, str]) -> Row:
    kind, number, date, file = record
    return Row(Pubid(kind, number, date), file)
