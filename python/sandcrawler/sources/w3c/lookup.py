"""From a reference to the one row that it means.

narrow by kind and number ─► subset match ─► (nothing: the same ignoring case) ─► newest date, then last file name

No nearest date, no other maturity level: a miss is a miss.
"""

from typing import Protocol

from sandcrawler.sources.identifiers import includes
from sandcrawler.sources.w3c.index import Row
from sandcrawler.sources.w3c.pubid import Pubid


class Rows(Protocol):
    """What look-ups need of an index."""

    def numbered(self, kind: str, number: str) -> list[Row]:
        """The rows of this kind and exactly this number."""

    def ignoring_case(self, kind: str, number: str) -> list[Row]:
        """The rows of this kind whose number is equal but for case."""


def find(index: Rows, wanted: Pubid) -> Row | None:
    """The row that an identifier means, or None."""
    rows = [row for row in index.numbered(wanted.kind, wanted.number) if includes(wanted, row.pubid)]
    rows = rows or [
        row for row in index.ignoring_case(wanted.kind, wanted.number) if wanted.date in (None, row.pubid.date)
    ]
    return max(rows, key=lambda row: (date_key(row.pubid.date), row.file), default=None)


def date_key(date: str | None) -> int:
    """Order of dates: none first, then four digits, then days; six digits are a day of the 1900s."""
    if not date:
        return 0
    return int(f"19{date}") if len(date) == 6 else int(date)
