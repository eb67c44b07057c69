"""The chunked transfer coding as browsers read it: careless chunks in, strict ones out.

Lines may end without CR, extensions and trailers may be anything, since nobody reads them; and when the last chunk is
there the body is whole, whether or not its blank line comes. A size that is no number, or data that goes on where its
end should be, is broken: nobody knows then what belongs to the body.
"""

import re
from enum import Enum

SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
# From one chunk's end to the next one's data, as it nearly always is.
USUAL = re.compile(rb"\r\n(0*[1-9A-Fa-f][0-9A-Fa-f]{0,14})\r\n")
SIZE_LINE_BYTES = 1 << 12
TRAILER_BYTES = 1 << 16
LAST = b"0\r\n\r\n"
BLANK = (b"\r\n", b"\n")


class BrokenChunks(Exception):
    """What comes is no chunk."""


class Awaited(Enum):
    """What the next line is."""

    SIZE = "a chunk's size"
    END = "a chunk's end"
    TRAILER = "a trailer, or the end"
    NOTHING = "nothing, the body is whole"


class Chunks:
    """One body's chunks. `spare`: whether more came than belongs to it."""

    def __init__(self) -> None:
        self.awaited, self.spare = Awaited.SIZE, False
        self._left = 0  # of the chunk's data
        self._line = b""
        self._trailed = 0
        self._ended = False

    def feed(self, data: bytes) -> bytes:
        """The next bytes, what is the body's in one strict chunk; what comes behind it is gone. BrokenChunks."""
        body, at = list[bytes](), 0
        while at < len(data) and self.awaited is not Awaited.NOTHING:
            if self._left:
                body.append(data[at : at + self._left])
                at += len(body[-1])
                self._left -= len(body[-1])
            elif self.awaited is Awaited.END and not self._line and (found := USUAL.match(data, at)):
                at, self._left = found.end(), int(found[1], 16)
            else:
                end = data.find(b"\n", at) + 1 or len(data)
                self._take(data[at:end])
                at = end
        self.spare = at < len(data)
        whole = b"".join(body)
        return (b"%x\r\n%s\r\n" % (len(whole), whole) if whole else b"") + self._last()

    def end(self) -> bytes:
        """No more comes: what ends the body, if all of it is there."""
        self._finish(self.awaited is Awaited.TRAILER)
        return self._last()

    def _finish(self, whole: bool) -> None:
        if whole:
            self.awaited, self._ended = Awaited.NOTHING, True

    def _last(self) -> bytes:
        ended, self._ended = self._ended, False
        return LAST if ended else b""

    def _take(self, piece: bytes) -> None:
        """A line, or a part of one."""
        self._line += piece
        if self.awaited is Awaited.TRAILER:
            self._trailed += len(piece)
            self._finish(self._line in BLANK or self._trailed > TRAILER_BYTES)
        elif len(self._line) > SIZE_LINE_BYTES:
            raise BrokenChunks(f"{self.awaited.value} of more than {SIZE_LINE_BYTES} bytes")
        elif piece.endswith(b"\n"):
            self._read(self._line)
        if piece.endswith(b"\n"):
            self._line = b""

    def _read(self, line: bytes) -> None:
        """The line behind a chunk, or its first."""
        if self.awaited is Awaited.END:
            if line not in BLANK:
                raise BrokenChunks(f"data goes on where its chunk ends: {line[:40]!r}")
            self.awaited = Awaited.SIZE
            return
        found = SIZE.fullmatch(line)
        if not found:
            raise BrokenChunks(f"no chunk size: {line[:40]!r}")
        self._left = int(found[1], 16)
        self.awaited = Awaited.END if self._left else Awaited.TRAILER
