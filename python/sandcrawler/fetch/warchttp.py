"""HTTP responses as WARC writers record them: a head whose bytes stay what they were, a body with or without chunks.

Files come from anywhere: a head has a limit, and a body that ends before its last chunk is not whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sandcrawler.fetch import heads
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.chunks import SIZE, SIZE_LINE_BYTES
from sandcrawler.status import Status

HEAD_BYTES = 1 << 18
PIECE = 1 << 16
EARLY = frozenset({100, 102, 103})

Fields = tuple[tuple[str, str], ...]


class Damaged(Exception):
    """The record cannot be read, or is not whole, or is not what its digest says."""


class Stream(Protocol):
    """What is read from."""

    def read(self, length: int) -> bytes: ...
    def readline(self, length: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class HttpHead:
    """`code`: the HTTP status; `headers` as latin-1 text, nothing lost."""

    code: int
    headers: Fields

    def header(self, name: str) -> str:
        """The first header of this name (any case), else an empty string."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    def all(self, name: str) -> list[str]:
        """Every value of this name."""
        return [value for key, value in self.headers if key.lower() == name]


def read_head(stream: Stream) -> HttpHead:
    """An HTTP response's head, the stream left at the body. Damaged: it is none."""
    lines = [stream.readline(HEAD_BYTES)]
    size = len(lines[0])
    while lines[-1].strip(b"\r\n"):
        lines.append(stream.readline(HEAD_BYTES))
        size += len(lines[-1])
        if size > HEAD_BYTES:
            raise Damaged(f"an HTTP head of more than {HEAD_BYTES} bytes")
    try:
        head = heads.read_head(b"".join(lines))
    except heads.NotHttp as error:
        raise Damaged(str(error)) from error
    return HttpHead(head.code, tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.fields))


def pieces(stream: Stream) -> Iterator[bytes]:
    """All that is left."""
    while piece := stream.read(PIECE):
        yield piece


def unchunked(stream: Stream) -> Iterator[bytes]:
    """A chunked body's own bytes. Many writers undo the chunks and leave the header: what has none is given as it is.

    Refused: it ends before its last chunk. (warcio's reader would hold a whole chunk, and take the cut for the end.)
    """
    line = stream.readline(SIZE_LINE_BYTES)
    found = SIZE.fullmatch(line)
    if not found:
        yield from filter(None, (line,))
        yield from pieces(stream)
    while found and (left := int(found[1], 16)):
        while left and (piece := stream.read(min(left, PIECE))):
            left -= len(piece)
            yield piece
        end = stream.readline(2)
        found = SIZE.fullmatch(stream.readline(SIZE_LINE_BYTES))
        if left or end not in (b"\r\n", b"\n") or not found:
            raise Refused(Status.TRUNCATED_BODY, "the recorded chunks end early")
