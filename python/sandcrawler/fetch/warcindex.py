"""Where each capture of a WARC file, or of a folder of them, stands: read through once, found by URL after.

The index is a SQLite database that spills to disk and goes away when it is closed, so files may have any size. A URL
is looked up as it is, and where there is none, by its SURT: http or https, `www.` or none, parameters in any order.
Of several captures the whole ones come first, then successes, then redirects, then the newest.
"""

import sqlite3
import threading
import zlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import structlog
from warcio.exceptions import ArchiveLoadFailed

from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.surt import surt
from sandcrawler.fetch.target import ANY_PORT, read
from sandcrawler.fetch.warchttp import Damaged
from sandcrawler.fetch.warcrecord import Archive, record

KINDS = frozenset({"response", "revisit", "resource"})
TABLE = """
    CREATE TABLE capture
        (url, surt, moment, code, kind, start, size, digest, first_url, first_moment, whole, file)"""
INSERT = "INSERT INTO capture VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
BEST = """
    SELECT * FROM capture WHERE url = ?1 OR surt = ?2
    ORDER BY url != ?1, whole DESC, code NOT BETWEEN 200 AND 299, code NOT IN (301, 302, 303, 307, 308),
        moment DESC, start DESC
    LIMIT 1"""
FIRST = """
    SELECT * FROM capture WHERE kind != 'revisit' AND (url = ?1 OR digest = ?3)
    ORDER BY (url = ?1 AND moment = ?2) DESC, digest IS ?3 DESC, whole DESC
    LIMIT 1"""
ZSTD = b"\x28\xb5\x2f\xfd"
# A file ends like this where its writer was stopped, or is no WARC at all.
BROKEN = (ArchiveLoadFailed, Damaged, EOFError, OSError, ValueError, AttributeError, zlib.error)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Entry:
    """A capture: where it stands (`start`, `size`: bytes of `file`), and what it refers to if it is a revisit."""

    url: str
    surt: str
    moment: str
    code: int
    kind: str
    start: int
    size: int
    digest: str | None
    first_url: str | None
    first_moment: str | None
    whole: bool
    file: str


class WarcIndex:
    """Captures by URL. Any thread may ask."""

    def __init__(self, path: Path) -> None:
        """Read the file, or all WARCs below the folder. ConfigurationError: there is no capture that can be read."""
        self.path = path
        self._lock = threading.Lock()
        self._rows = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._rows.execute(TABLE)
        self._rows.execute("BEGIN")
        damage = "it has no HTTP response" if warcs(path) else "there is no WARC in it"
        for file in warcs(path):
            if told := self._fill(file):
                damage = told
            if told and (len(self) or path.is_dir()):
                log.warning("warc-damaged", path=str(file), captures=len(self), reason=told)
        self._rows.execute("COMMIT")
        for columns in ("url", "surt", "digest"):
            self._rows.execute(f"CREATE INDEX by_{columns} ON capture ({columns})")
        if not len(self):
            self.close()
            raise ConfigurationError(f"{path}: no capture can be read from it: {damage}")

    def _fill(self, path: Path) -> str | None:
        """Every record's row; what stopped it before the end of the file, if anything did."""
        try:
            with path.open("rb") as file:
                if not (first := file.read(4)):
                    return "it is empty"
                if first == ZSTD:
                    return "it is compressed with zstd, which is not read here; `zstd -d` unpacks it"
                file.seek(0)
                for entry in entries(file, str(path)):
                    self._rows.execute(INSERT, astuple(entry))
        except FileNotFoundError:
            return "there is no such file"
        except BROKEN as error:
            return " ".join(f"{type(error).__name__}: {error}".split())[:400]
        return None

    def __len__(self) -> int:
        return int(self._ask("SELECT count(*) FROM capture")[0][0])

    def best(self, url: str) -> Entry | None:
        """The best capture of a URL."""
        found = self._ask(BEST, key(url), surt(url))
        return Entry(*found[0]) if found else None

    def first(self, revisit: Entry) -> Entry | None:
        """The capture whose payload a revisit refers to: that URL at that moment, else those bytes, else that URL."""
        found = self._ask(FIRST, key(revisit.first_url or revisit.url), revisit.first_moment, revisit.digest)
        return Entry(*found[0]) if found else None

    def close(self) -> None:
        """Forget it."""
        with self._lock:
            self._rows.close()

    def _ask(self, question: str, *values: str | None) -> list[Any]:
        with self._lock:
            return self._rows.execute(question, values).fetchall()


def warcs(path: Path) -> list[Path]:
    """The file itself, or every WARC below a folder, by name."""
    return sorted(each for each in path.rglob("*.warc*") if each.is_file()) if path.is_dir() else [path]


def entries(file: Any, name: str) -> Iterator[Entry]:
    """Every capture of an open file, in its order. What ends it early, or was wrong with it, is raised (BROKEN)."""
    archive, damaged = Archive(file), 0
    for found in archive:
        fields, url = found.rec_headers, found.rec_headers.get_header("WARC-Target-URI") or ""
        if found.rec_type not in KINDS or not url.startswith(("http://", "https://")):
            continue
        try:
            code = _code(found)
        except Damaged:
            damaged += 1
            continue
        size = archive.get_record_length()  # reads the record to its end
        short = bool(getattr(found.raw_stream, "limit", 0))
        damaged += short
        yield Entry(
            url=key(url),
            surt=surt(url),
            moment=fields.get_header("WARC-Date") or "",
            code=code,
            kind=found.rec_type,
            start=archive.get_record_offset(),
            size=size,
            digest=fields.get_header("WARC-Payload-Digest"),
            first_url=fields.get_header("WARC-Refers-To-Target-URI"),
            first_moment=fields.get_header("WARC-Refers-To-Date"),
            whole=not (short or fields.get_header("WARC-Truncated")),
            file=name,
        )
    if archive.cut or damaged:
        raise Damaged("the file ends within a record" if archive.cut else f"records that cannot be read: {damaged}")


def _code(found: Any) -> int:
    """The HTTP status; a revisit may come without a head, and then says that nothing has changed."""
    if found.rec_type == "revisit" and not found.length:
        return 304
    return record(found).head().code


def key(url: str) -> str:
    """The URL as it would go over the wire, so that its spellings are one."""
    try:
        return read(url, more_ports=ANY_PORT).url
    except Refused:
        return url
