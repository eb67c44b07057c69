"""What an archive's index (CDX API) says of one URL, and which of its captures to take. Pure.

Two dialects are read: the Internet Archive's (a JSON array of rows under a header row) and pywb's (a JSON object a
line). Rows are anybody's: one with a wrong number of fields, a moment that is none, or another document's URL is passed
over; a `-` for a status, a digest that is no SHA-1 and a missing WARC are lived with.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.hops import REDIRECTS
from sandcrawler.fetch.judgement import SUCCESSFUL
from sandcrawler.fetch.surt import surt
from sandcrawler.fetch.target import ANY_PORT, read
from sandcrawler.model import WarcPlace

LIMIT = 100
# The last moment there is: closest to it is the newest.
NEWEST = datetime(9999, 12, 31, tzinfo=UTC)
# Our name -> the Internet Archive's and pywb's.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "moment": ("timestamp",),
    "url": ("original", "url"),
    "mimetype": ("mimetype", "mime"),
    "code": ("statuscode", "status"),
    "digest": ("digest",),
    "csize": ("length",),
    "offset": ("offset",),
    "path": ("filename",),
}
REVISIT = "warc/revisit"
BASE32 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
LONGEST_PATH = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """A capture. `code` is None where the index does not know it; `digest`: SHA-1 of the payload, base32."""

    url: str
    moment: str
    code: int | None = None
    digest: str | None = None
    revisit: bool = False
    place: WarcPlace | None = None

    @property
    def when(self) -> datetime:
        return instant(self.moment)


def query(url: str, closest: datetime | None, **more: str) -> str:
    """The query string that asks for the captures of a URL, those nearest to a moment (the newest) first."""
    nearest = (closest or datetime.now(UTC)).strftime("%Y%m%d%H%M%S")
    asked = {"url": url, "output": "json", "limit": str(LIMIT), "sort": "closest", "closest": nearest}
    return urlencode(asked | more)


def rows(body: bytes, url: str) -> list[Row]:
    """The usable rows of an answer. ValueError: it is no answer of an index."""
    read_rows = [row for fields in _records(body) if (row := _row(fields, surt(url))) is not None]
    known = {row.digest: row.code for row in read_rows if row.digest and row.code and not row.revisit}
    return [replace(row, code=row.code or known.get(row.digest or "")) if row.revisit else row for row in read_rows]


def ranked(found: Iterable[Row], url: str, closest: datetime | None) -> list[Row]:
    """The best first: answers before redirects before errors; then the URL as it is spelled; then by time.

    The spelling never outranks the status: of `http://…` that redirects to `https://…`, the page is taken. Where a
    moment is asked for, the nearest wins; else a payload of its own before a revisit, and the newest.
    """
    nearest = closest or NEWEST

    def key(row: Row) -> tuple[int, bool, bool, float, bool]:
        distance = abs((row.when - nearest).total_seconds())
        return (_group(row), _bare(row.url) != _bare(url), row.revisit and not closest, distance, row.place is None)

    return sorted(found, key=key)


def _group(row: Row) -> int:
    if row.code is None:
        return 1 if row.revisit else 4  # a revisit is of something that was worth keeping
    return 0 if row.code in SUCCESSFUL else 2 if row.code in REDIRECTS else 3


def _bare(url: str) -> str:
    """http and https are one spelling: sites moved from one to the other with everything on them."""
    return url.partition("://")[2]


def instant(moment: str) -> datetime:
    """14 digits as a moment. ValueError: they are none."""
    if len(moment) != 14 or not (moment.isascii() and moment.isdigit()):
        raise ValueError(f"{moment[:40]!r} is not YYYYMMDDhhmmss")
    return datetime.strptime(moment, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _records(body: bytes) -> Iterator[Mapping[str, Any]]:
    text = body.decode("utf-8", "replace").strip()
    if text.startswith("["):
        yield from _table(_json(text))
    elif text:
        for line in text.splitlines():
            if not line.startswith("{"):
                raise ValueError(f"not an index: {line[:80]!r}")
            yield _json(line)


def _table(lines: Any) -> Iterator[Mapping[str, Any]]:
    header = lines[0] if lines else []
    if not isinstance(header, list) or not all(isinstance(name, str) for name in header):
        raise ValueError("the index names no fields")
    for line in lines[1:]:
        if isinstance(line, list) and len(line) == len(header):
            yield dict(zip(header, line, strict=True))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {text[:80]!r}") from error


def _row(fields: Mapping[str, Any], key: str) -> Row | None:
    got = {name: _field(fields, names) for name, names in FIELDS.items()}
    try:
        instant(got["moment"])
        url = read(got["url"], more_ports=ANY_PORT).url
    except (ValueError, Refused):
        return None
    if surt(url) != key:
        return None
    code = int(got["code"]) if len(got["code"]) == 3 and got["code"].isdecimal() else None
    return Row(url, got["moment"], code, _digest(got["digest"]), got["mimetype"] == REVISIT, _place(got))


def _field(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(fields[name]) for name in names if fields.get(name) not in (None, "")), "")


def _digest(text: str) -> str | None:
    plain = text.removeprefix("sha1:").upper()
    return plain if len(plain) == 32 and BASE32.issuperset(plain) else None


def _place(got: Mapping[str, str]) -> WarcPlace | None:
    """Where the record stands, if the index tells. A revisit's record has no body, so its place is none."""
    offset, csize, path = got["offset"], got["csize"], got["path"]
    whole = offset.isdecimal() and csize.isdecimal() and max(len(offset), len(csize)) < 18
    usable = path not in ("", "-") and path.isprintable() and len(path) <= LONGEST_PATH
    if got["mimetype"] == REVISIT or not whole or not usable:
        return None
    return WarcPlace(path, int(offset), int(csize))
