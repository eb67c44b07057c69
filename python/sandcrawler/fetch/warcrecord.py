"""One record of a WARC, read where it stands, piece by piece; what HTTP is in it is read by `warchttp`.

warcio finds and unpacks the record. Files come from anywhere: WARC heads have a limit as HTTP's have, and a block that
is shorter than it says, or not what its digest says, is damaged.
"""

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

from sandcrawler.fetch.warchttp import EARLY, HEAD_BYTES, PIECE, Damaged, HttpHead, pieces, read_head, unchunked

PACKED = 1 << 12  # so much is unpacked at a time: at most a thousand times as much


class _Reader(DecompressingBufferedReader):  # type: ignore[misc]
    """warcio's reader, which would take lines, and heads, of any length. `left`: how much a head may still have."""

    left: float = HEAD_BYTES

    def readline(self, length: int | None = None) -> bytes:
        line: bytes = super().readline(length if self.left == inf else HEAD_BYTES)
        self.left -= len(line)
        if self.left <= 0:
            raise Damaged(f"a head of more than {HEAD_BYTES} bytes")
        return line


class Archive(ArchiveIterator):  # type: ignore[misc]
    """The records of an open file, their blocks unread. Iterating raises what warcio does, or Damaged.

    `cut`: in the end, whether the file ends within a record.
    """

    cut = False

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, no_record_parse=True)
        self.reader = _Reader(self.fh, block_size=PACKED)

    def close(self) -> None:
        """No more records. A gzip member that has not ended is a file that was cut, which warcio passes over."""
        packed = self.reader.decompressor if self.reader else None
        self.cut = packed is not None and not getattr(packed, "eof", True)
        super().close()

    def _next_record(self, next_line: bytes | None) -> Any:
        self.reader.left = HEAD_BYTES
        found = super()._next_record(next_line)
        self.reader.left = inf  # who reads the block has limits of his own
        return found

    def _consume_blanklines(self) -> Any:
        self.reader.left = HEAD_BYTES
        return super()._consume_blanklines()


class Block:
    """A record's block: counted and hashed as it is read."""

    def __init__(self, stream: Any, digest: str | None) -> None:
        self._stream = stream
        algorithm, _, self._wanted = (digest or "").partition(":")
        self._hash = hashlib.new(algorithm) if algorithm in ("sha1", "sha256", "md5") and self._wanted else None

    def read(self, length: int) -> bytes:
        return self._noted(self._stream.read(length))

    def readline(self, length: int) -> bytes:
        return self._noted(self._stream.readline(length))

    def check(self) -> None:
        """After the last byte. Damaged: it is not what it should be."""
        while self.read(PIECE):
            pass
        if getattr(self._stream, "limit", 1):
            raise Damaged("the record ends before its end")
        if self._hash and self._wanted.upper() not in (
            base64.b32encode(self._hash.digest()).decode(),
            self._hash.hexdigest().upper(),
        ):
            raise Damaged("the block is not what its digest says")

    def _noted(self, data: bytes) -> bytes:
        if self._hash:
            self._hash.update(data)
        return data


@dataclass(frozen=True, slots=True)
class Record:
    """A record that is being read. `size`: bytes of its block."""

    kind: str
    content_type: str
    size: int
    truncated: str | None
    block: Block

    def head(self) -> HttpHead:
        """Its HTTP head; a `resource` has none, and is what a server would have sent with 200.

        Early answers (100, 103) are passed over: what follows them is a head again.
        """
        if self.kind == "resource":
            return HttpHead(200, (("Content-Type", self.content_type),))
        head = read_head(self.block)
        while head.code in EARLY:
            head = read_head(self.block)
        return head

    def body(self, head: HttpHead) -> Iterator[bytes]:
        """The body after the head, chunks undone, in pieces. Damaged where the record turns out to be so.

        Refused: the last chunk is missing.
        """
        chunked = "chunked" in head.header("transfer-encoding").lower()
        yield from unchunked(self.block) if chunked else pieces(self.block)
        self.block.check()


@contextmanager
def opened(path: Path, offset: int) -> Iterator[Record]:
    """The record that begins at this byte of the file. Damaged: none does."""
    with path.open("rb") as file:
        yield record(_at(file, offset))


def _at(file: BinaryIO, offset: int) -> Any:
    file.seek(offset)
    try:
        return next(iter(Archive(file)))
    except (ArchiveLoadFailed, StopIteration, EOFError, ValueError) as error:
        raise Damaged(f"no WARC record: {error}") from error


def record(found: Any) -> Record:
    """warcio's record as ours. Damaged: its length makes no sense."""
    fields = found.rec_headers
    if found.length is None:
        raise Damaged("a record without a length")
    return Record(
        kind=found.rec_type or "",
        content_type=fields.get_header("Content-Type") or "",
        size=int(found.length),
        truncated=fields.get_header("WARC-Truncated"),
        block=Block(found.raw_stream, fields.get_header("WARC-Block-Digest")),
    )
