"""Tables: CSV and TSV → rows by field, each with its number, and a quote that is never closed costs its line only."""

import csv
import io
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sandcrawler import wire
from sandcrawler.sources.requests import BadRow, Numbered
from sandcrawler.sources.rows import BOM, LINE_BYTES
from sandcrawler.sources.streams import BROKEN

RECORD_LINES = 1000  # of a row: more are a quote that is not closed
csv.field_size_limit(LINE_BYTES)

# The first row's cells -> where each field is, and whether that row is data already.
Header = Callable[[list[str]], tuple[Mapping[str, int], bool]]


def csv_rows(stream: io.BufferedReader, delimiter: str) -> Iterator[tuple[int, list[str] | BadRow]]:
    """Cells, without blanks around them; the number is that of the row's last line.

    A quote that is never closed would swallow the rest of the file, or all up to the next cell in quotes: its line is
    a bad row, and the next is read again.
    """
    feed = _Feed(stream)
    quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(feed, delimiter=delimiter, quoting=quoting)
    while True:
        feed.record.clear()
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield feed.number, BadRow(f"not CSV: {error}")
            continue
        if feed.cut or (len(feed.record) > 1 and not _is_closed(feed.record, delimiter)):
            feed.go_back()
            yield feed.number, BadRow("not CSV: a quote that opens here is not closed")
            reader = csv.reader(feed, delimiter=delimiter, quoting=quoting)
        elif any(cells):
            yield feed.number, [wire.clean_text(cell).strip() for cell in cells]
    if feed.error is not None:
        raise feed.error


def _is_closed(record: list[str], delimiter: str) -> bool:
    """Whether what ends the quotes of a record of several lines ends cells: else it begins one, lines further down."""
    try:
        return bool(list(csv.reader(record, delimiter=delimiter, strict=True)))
    except csv.Error:
        return False


class _Feed:
    """The lines of a table. Those of the record under way are held, so that all but its first can be given again."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._again: deque[str] = deque()
        self.record: list[str] = []
        self.number = self._size = 0
        self.cut = False  # the record is too long, or the table ended in it
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._size = self._size + len(self.record[-1]) if self.record else 0
        is_long = len(self.record) >= RECORD_LINES or self._size > LINE_BYTES
        line = "" if is_long else self._again.popleft() if self._again else self._line()
        if not line:
            self.cut = bool(self.record)
            raise StopIteration
        self.number += 1
        self.record.append(line)
        return line

    def _line(self) -> str:
        try:
            line = self._stream.readline(LINE_BYTES) if self.error is None else b""
        except BROKEN as error:
            self.error, line = error, b""
        return (line if self.number else line.removeprefix(BOM)).decode("utf-8", "replace")

    def go_back(self) -> None:
        """Behind the record's first line."""
        self._again.extendleft(reversed(self.record[1:]))
        self.number -= len(self.record) - 1
        self.cut = False


def table_rows(stream: io.BufferedReader, delimiter: str, header: Header) -> Iterator[Numbered]:
    """Rows of a table as {field: cell}, cells without text left out."""
    places: Mapping[str, int] | None = None
    for number, cells in csv_rows(stream, delimiter):
        if isinstance(cells, BadRow):
            yield number, cells
            continue
        if places is None:
            places, is_data = header(cells)
            if not is_data:
                continue
        yield number, {field: cells[place] for field, place in places.items() if place < len(cells) and cells[place]}
