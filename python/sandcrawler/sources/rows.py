"""A stream → its rows, each with its number: JSON lines, JSON documents with lists in them, plain lines.

Never the whole file in memory: a line or a value may have 64 MiB. A row that cannot be read is a `BadRow` in its place
and reading goes on behind it; where a broken archive ends, the last row says so.
"""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_core import from_json

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage
from sandcrawler.sources.line_ends import with_line_ends
from sandcrawler.sources.requests import BadRow, Numbered
from sandcrawler.sources.streams import BROKEN, members
from sandcrawler.sources.values import looks_like_values, values

LINE_BYTES = 64 << 20
BOM = b"\xef\xbb\xbf"
# Between two objects on one line.
SEVERAL = re.compile(rb"\}\s*\{")

Read = Callable[[io.BufferedReader], Iterator[Numbered]]


def whole(read: Read, stream: io.BufferedReader) -> Iterator[Numbered]:
    """All rows of a stream; those of an archive's members are numbered MEMBER:NUMBER, and a broken one costs itself."""
    where: int | str = 0
    said = False
    try:
        for name, part in members(stream):
            where, said = f"{name}:0" if name else 0, False
            try:
                for number, value in read(with_line_ends(part)):
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
        for place, inner in enumerate(unwrapped(value), 1):
            yield (number if place == 1 else f"{number}, record {place}"), inner


def json_lines(stream: io.BufferedReader) -> Iterator[Numbered]:
    """One JSON object a line."""
    for number, line in lines(stream):
        if isinstance(line, BadRow):
            yield number, line
            continue
        value = loaded(line)
        if isinstance(value, BadRow) and SEVERAL.search(line):
            yield from _each(number, line)
        else:
            yield number, value


def _each(number: int, line: bytes) -> Iterator[Numbered]:
    """The objects of a line that has several, one behind the other."""
    for place, (_, value) in enumerate(values(io.BufferedReader(io.BytesIO(line))), 1):
        yield (number if place == 1 else f"{number}, value {place}"), value


def loaded(line: bytes) -> Any:
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
