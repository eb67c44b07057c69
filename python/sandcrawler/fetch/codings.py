"""The content codings of the web, each undone piece by piece, and what a wrong label looks like.

A decoder gives at most PIECE bytes at a time, however much its input expands to. gzip and zstd are recognised by their
first bytes; a body that is labelled so and is not stays as it came: servers label plain pages gzip, and browsers show
them. Data that begins right and then breaks, or ends too early, raises one of BROKEN.
"""

import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import brotlicffi

try:
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14
except ImportError:
    from backports import zstd

PIECE = 1 << 16
ZSTD_WINDOW_LOG = 23  # 8 MiB, the most that a content coding may ask for (RFC 9659)
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Decoder(Protocol):
    """One coding being undone: bytes in, pieces out; `finish` raises where the data ended too early."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...
    def finish(self) -> Iterator[bytes]: ...


class _Zlib:
    """zlib data of one shape; gzip may have several members, zeros between them, and what follows them is padding."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._stream = zlib.decompressobj(wbits)
        self._between = b""  # what may be the beginning of another member

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream.eof:
                data = self._between = (self._between + data).lstrip(b"\0")
                if self._wbits != _GZIP_BITS or len(data) < len(GZIP_MAGIC) or not data.startswith(GZIP_MAGIC):
                    self._between = data[: len(GZIP_MAGIC)]
                    return
                self._stream, self._between = zlib.decompressobj(self._wbits), b""
            yield self._stream.decompress(data, PIECE)
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        while not self._stream.eof and (piece := self._stream.decompress(b"", PIECE)):
            yield piece

    def finish(self) -> Iterator[bytes]:
        if not self._stream.eof:
            raise EOFError("the compressed data ends too early")
        return iter(())


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotlicffi.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream.is_finished():
            return
        yield self._stream.process(data, output_buffer_limit=PIECE)
        while not self._stream.can_accept_more_data() and not self._stream.is_finished():
            yield self._stream.process(b"", output_buffer_limit=PIECE)

    def finish(self) -> Iterator[bytes]:
        if not self._stream.is_finished():
            raise EOFError("the compressed data ends too early")
        return iter(())


class _Zstd:
    """zstd frames; several may follow each other."""

    def __init__(self) -> None:
        self._stream = self._frame()

    @staticmethod
    def _frame() -> Any:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._stream.eof:
                if not data:
                    return
                self._stream = self._frame()
            yield self._stream.decompress(data, PIECE)
            data = self._stream.unused_data if self._stream.eof else b""
            if not data and (self._stream.eof or self._stream.needs_input):
                return

    def finish(self) -> Iterator[bytes]:
        if not self._stream.eof:
            raise EOFError("the compressed data ends too early")
        return iter(())


class Recognised:
    """A decoder chosen by the first bytes; without one, the bytes stay as they came."""

    def __init__(self, choose: Callable[[bytes], Decoder | None]) -> None:
        self._choose = choose
        self._head = b""
        self._decoder: Decoder | None = None
        self._chosen = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not self._chosen:
            self._head += data
            if len(self._head) < len(ZSTD_MAGIC):
                return
            data = self._start()
        yield from self._decoder.feed(data) if self._decoder else (data,)

    def finish(self) -> Iterator[bytes]:
        if not self._chosen:
            data = self._start()
            yield from self._decoder.feed(data) if self._decoder else (data,)
        if self._decoder:
            yield from self._decoder.finish()

    def _start(self) -> bytes:
        self._chosen, self._decoder, head = True, self._choose(self._head), self._head
        self._head = b""
        return head


_GZIP_BITS, _ZLIB_BITS, _RAW_BITS = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


def gzip(head: bytes) -> Decoder | None:
    return _Zlib(_GZIP_BITS) if head.startswith(GZIP_MAGIC) else None


def _deflate(head: bytes) -> Decoder | None:
    """zlib as the standard says, or the bare deflate data that many servers send, or what is plainly gzip."""
    if not head or head.startswith(GZIP_MAGIC):  # no deflate data begins so
        return gzip(head)
    wrapped = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2], "big") % 31 == 0
    return _Zlib(_ZLIB_BITS if wrapped else _RAW_BITS)


def _brotli(head: bytes) -> Decoder | None:
    return _Brotli() if head else None


def _zstd(head: bytes) -> Decoder | None:
    return _Zstd() if head.startswith(ZSTD_MAGIC) else None


# Other words (identity, none, utf-8, …) are no coding: the bytes stay as they came.
CODINGS: dict[str, Callable[[bytes], Decoder | None]] = {
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

BROKEN: tuple[type[Exception], ...] = (zlib.error, brotlicffi.error, zstd.ZstdError, EOFError)
