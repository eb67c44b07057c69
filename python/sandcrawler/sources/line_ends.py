"""Texts whose lines end in carriage returns, as spreadsheets and old Macs write them → lines as all else has them."""

import io
from typing import Any

LOOK = 1 << 16


def with_line_ends(stream: io.BufferedReader) -> io.BufferedReader:
    """The stream, with line feeds where it begins as a text that has carriage returns only."""
    head = stream.peek(LOOK)
    if b"\r" not in head[:-1] or b"\n" in head:  # one at the very end may have its line feed behind it
        return stream
    return io.BufferedReader(_LineFeeds(stream), LOOK)


class _LineFeeds(io.RawIOBase):
    """Every carriage return as a line feed; errors of the stream below come through."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.read1(min(len(buffer), 1 << 12)).replace(b"\r", b"\n")
        buffer[: len(piece)] = piece
        return len(piece)
