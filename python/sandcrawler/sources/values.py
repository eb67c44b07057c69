"""JSON values that do not stand one on a line → one after another, without holding the document.

Lists are opened, however deep they stand one in another, and so is the object around a list of `items`: what comes out
are the objects in them. Commas and closing brackets between values are passed over. A value that is broken but whole
(its brackets match) is one bad row; where no end can be found, the rest is.
"""

import codecs
import io
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage
from sandcrawler.sources.requests import BadRow, Numbered
from sandcrawler.sources.streams import Salvage

CHUNK = 1 << 20
VALUE_CHARACTERS = 64 << 20
LOOK = 64  # characters in which `{"items": [` fits

_BETWEEN = re.compile(r"[\s,\[\]}\ufeff]+")
_ITEMS = re.compile(r'\{\s*"(?:items|results)"\s*:\s*\[')
_LIST = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[|\{\s*"(?:items|results)"\s*:\s*\[|\{\s*\r?\n)')
_LOOSE = re.compile(r"[\n,]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|["\[\]{}]', re.DOTALL)  # a quote alone: of a string that is cut
_NEXT = re.compile(r"\n\s*(?=\{)")


def looks_like_values(head: bytes) -> bool:
    """Whether a document begins with a list, with `{"items": [`, or with an object spread over lines."""
    return _LIST.match(head) is not None


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class _Window:
    """The text around the current place: `at` in `text`, which is read on as needed."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = Salvage(stream)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line, self._counted = 1, 0
        self.text = ""
        self.at = 0
        self.ended = False

    def more(self) -> bool:
        """Read on, twice as much each time that is not enough; False at the end or where a value is too long."""
        if self.ended or len(self.text) - self.at > VALUE_CHARACTERS:
            return False
        self.line()
        piece = self._stream.read(max(CHUNK, len(self.text) - self.at))
        self.ended = not piece
        self.text = self.text[self.at :] + self._decoder.decode(piece, final=self.ended)
        self.at = self._counted = 0
        return True

    def fail(self) -> None:
        """Raise what broke the stream, if anything did."""
        if self._stream.error is not None:
            raise self._stream.error

    def line(self) -> int:
        """The number of the line at the current place."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def recover(self) -> None:
        """Behind a value without end: to the next line that begins as one, however far that is."""
        while not (found := _NEXT.search(self.text, self.at)):
            self.at = max(self.at, len(self.text) - LOOK)  # a line's end may wait for its beginning
            if not self.more():
                self.at = len(self.text)
                return
        self.at = found.end()

    def skip(self) -> bool:
        """To the next value; False where there is none."""
        while True:
            if found := _BETWEEN.match(self.text, self.at):
                self.at = found.end()
            if len(self.text) - self.at < LOOK and self.more():
                continue
            if opening := _ITEMS.match(self.text, self.at):
                self.at = opening.end()
            else:
                return self.at < len(self.text)


def values(stream: io.BufferedReader) -> Iterator[Numbered]:
    """The objects of a document, each with the number of the line where it begins, and which one of that line it is."""
    window, last, place = _Window(stream), 0, 1
    while window.skip():
        line = window.line()
        place = place + 1 if line == last else 1
        last = line
        yield (line if place == 1 else f"{line}, value {place}"), _next(window)
    window.fail()


def _next(window: _Window) -> Any:
    """The value at the current place, which moves behind it."""
    while True:
        try:
            value, end = _DECODER.raw_decode(window.text, window.at)
        except (ValueError, RecursionError) as error:
            end = _end(window.text, window.at)
            if end < 0 and window.more():
                continue
            if end < 0:
                window.fail()  # this value is cut
                window.at += 1
                window.recover()
            else:
                window.at = end
            return BadRow(f"not JSON: {error}")
        if end == len(window.text) and window.text[window.at] != "{" and window.more():
            continue
        written = window.text[window.at : end]
        window.at = end
        try:
            wire.check([value], wire.DEEPEST + 1)
        except InvalidMessage as error:
            return BadRow(str(error))
        return wire.clean(value) if "\\u" in written else value


def _end(text: str, at: int) -> int:
    """Where the value at a place ends by its brackets; -1 where the text ends before it does."""
    if text[at] not in "{[":
        found = _LOOSE.search(text, at)
        return found.start() if found else -1
    depth = 0
    for token in _TOKEN.finditer(text, at):
        mark = token.group()
        if mark == '"':
            return -1
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if not depth:
                return token.end()
    return -1
