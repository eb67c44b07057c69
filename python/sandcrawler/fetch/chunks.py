"""The chunked transfer coding as browsers read it: careless chunks in, strict ones out.

Lines may end without CR, extensions and trailers may be anything, since nobody reads them; and when the last chunk is
there the body is whole, whether or not its blank line comes with it. A size that is no number, or data that goes on
where its end should be, is broken: nobody knows then what belongs to the body.
"""

import re
from enum import Enum

SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
# From one chunk's end to the next one's data, as it nearly always is.
USUAL = re.compile(rb"\r\n(0*[1-9A-Fa-f][0-9A-Fa-f]{0,14})\r\n")
SIZE_LINE_BYTES = 1 << 12
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
    """One body's chunks. `spare`: whether more came than belongs to it, or may still come."""

    def __init__(self) -> None:
        self.awaited, self.spare = Awaited.SIZE, False
        self._left = 0  # of the chunk's data
        self._line = b""

    @property
    def whole(self) -> bool:
        """Whether all of the body was there."""
        return self.awaited is Awaited.NOTHING

    def feed(self, data: bytes) -> bytes:
        """The next bytes, what is the body's in one strict chunk; what comes behind it is gone. BrokenChunks."""
        if self.whole:
            self.spare = True
            return b""
        body, at = list[bytes](), 0
        while at < len(data) and not self.whole:
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
        # Whole: who waits for the blank line may wait for ever.
        self.spare = at < len(data) or self.awaited is Awaited.TRAILER
        if self.awaited is Awaited.TRAILER:
            self.awaited = Awaited.NOTHING
        joined = b"".join(body)
        return (b"%x\r\n%s\r\n" % (len(joined), joined) if joined else b"") + (LAST if self.whole else b"")

    def _take(self, piece: bytes) -> None:
        """A line, or a part of one."""
        self._line += piece
        if self.awaited is not Awaited.TRAILER and len(self._line) > SIZE_LINE_BYTES:
            raise BrokenChunks(f"{self.awaited.value} of more than {SIZE_LINE_BYTES} bytes")
        if piece.endswith(b"\n"):
            line, self._line = self._line, b""
            self._read(line)

    def _read(self, line: bytes) -> None:
        """A whole line."""
        if self.awaited is Awaited.TRAILER:
            self.awaited = Awaited.NOTHING if line in BLANK else Awaited.TRAILER
            return
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
