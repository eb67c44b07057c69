"""A stream → its rows, each with its number: JSON lines, JSON documents with lists in them, CSV, plain lines.

Never the whole file in memory: a line or a value may have 64 MiB. A row that cannot be read is a `BadRow` in its place
and reading goes on behind it; where a broken archive ends, the last row says so.
"""

import csv
import io
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage
from sandcrawler.sources.requests import BadRow, Numbered
from sandcrawler.sources.streams import BROKEN, members
from sandcrawler.sources.values import looks_like_values, values

LINE_BYTES = 64 << 20
RECORD_LINES = 1000  # of a row of a table: more are a quote that is not closed
BOM = b"\xef\xbb\xbf"
csv.field_size_limit(LINE_BYTES)

Read = Callable[[io.BufferedReader], Iterator[Numbered]]
# The first row's cells -> where each field is, and whether that row is data already.
Header = Callable[[list[str]], tuple[Mapping[str, int], bool]]


def whole(read: Read, stream: io.BufferedReader) -> Iterator[Numbered]:
    """All rows of a stream; those of an archive's members are numbered MEMBER:NUMBER, and a broken one costs itself."""
    where: int | str = 0
    said = False
    try:
        for name, part in members(stream):
            where, said = f"{name}:0" if name else 0, False
            try:
                for number, value in read(part):
                    where = f"{name}:{number}" if name else number
                    yield where, value
            except BROKEN as error:
                said = True  # where the archive breaks in a member, it breaks once more behind it
                yield where, _broken(error)
    except BROKEN as error:
        if not said:
            yield where, _broken(error)


def _broken(error: Exception) -> BadRow:
    return BadRow(f"the input is broken behind this row: {error or type(error).__name__}")


def lines(stream: io.BufferedReader) -> Iterator[tuple[int, bytes | BadRow]]:
    """Lines that are not blank, without their ends; one that is too long is passed over."""
    number = 0
    while line := stream.readline(LINE_BYTES):
        number += 1
        if number == 1 and line.startswith(BOM):
            line = line[len(BOM) :]
        if len(line) == LINE_BYTES and not line.endswith(b"\n"):
            while (rest := stream.readline(LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield number, BadRow(f"the line has more than {LINE_BYTES} bytes")
        elif line and not line.isspace():
            yield number, line


def json_rows(stream: io.BufferedReader) -> Iterator[Numbered]:
    """JSON objects: one a line, or in lists, or in a list under `items`, `results` or `message.items`."""
    head = stream.peek(4096)
    for number, value in values(stream) if looks_like_values(head) else json_lines(stream):
        if isinstance(value, BadRow):
            yield number, value
            continue
        if isinstance(value, dict) and not ("items" in value or "results" in value or "message" in value):
            yield number, value  # nearly all are: the shortest way
            continue
        for inner in unwrapped(value):
            yield number, inner


def json_lines(stream: io.BufferedReader) -> Iterator[Numbered]:
    """One JSON object a line."""
    for number, line in lines(stream):
        if isinstance(line, BadRow):
            yield number, line
            continue
        yield number, _loaded(line)


def _loaded(line: bytes) -> Any:
    """A line's object. The quick parser refuses lone surrogates, so only U+0000 is left to clean behind it."""
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return wire.clean(value) if b"\\u0000" in line else value
    try:
        return wire.loads(line)  # slower and more patient, and it says what is wrong
    except InvalidMessage as error:
        return BadRow(str(error))


def unwrapped(value: Any) -> Iterator[Any]:
    """The records inside an answer of an API; a record by itself is its own."""
    if not isinstance(value, dict):
        yield BadRow(f"a JSON object is needed, this is {type(value).__name__}")
        return
    inner = value
    if "message" in inner and isinstance(inner["message"], dict):
        inner = inner["message"]
    for name in ("items", "results"):
        if isinstance(inner.get(name), list):
            for item in inner[name]:
                yield from unwrapped(item) if isinstance(item, dict) else [BadRow("a record is no JSON object")]
            return
    yield inner


def text_rows(stream: io.BufferedReader) -> Iterator[Numbered]:
    """Plain lines; those that begin with # are comments."""
    for number, line in lines(stream):
        if isinstance(line, BadRow):
            yield number, line
        elif not line.startswith(b"#"):
            yield number, wire.clean_text(line.decode("utf-8", "replace").strip())


def csv_rows(stream: io.BufferedReader, delimiter: str) -> Iterator[tuple[int, list[str] | BadRow]]:
    """Cells, without blanks around them; the number is that of the row's last line.

    A quote that is never closed would swallow the rest of the file: its line is a bad row, and the next is read again.
    """
    feed = _Feed(stream)
    quoting: Any = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
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
        if feed.cut:
            feed.go_back()
            yield feed.number, BadRow("not CSV: a quote that opens here is not closed")
            reader = csv.reader(feed, delimiter=delimiter, quoting=quoting)
        elif any(cells):
            yield feed.number, [wire.clean_text(cell).strip() for cell in cells]
    if feed.error is not None:
        raise feed.error


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
