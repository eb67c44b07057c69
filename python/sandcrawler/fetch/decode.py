"""A body as it arrives: content codings undone, and the size of the result bounded all the time.

A megabyte can hold a gigabyte: pieces run through all codings one after another, and `Body` stops as soon as more than
its cap has come out. So memory holds the cap and a few pieces, or what a sink of another kind keeps of them. Text that
is gzip once more inside its declared coding (a stored .gz, compressed again by a proxy) is undone as well, under the
same cap.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.codings import BROKEN, CODINGS, Decoder, Recognised, gzip
from sandcrawler.status import Status

ACCEPTED = "gzip, deflate, br, zstd"
MOST_CODINGS = 4


@contextmanager
def _broken_is_refused() -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise Refused(Status.BAD_GZIP_ENCODING, f"the content coding is broken: {error}") from error


class Sink(Protocol):
    """Where a body goes as it comes out."""

    def write(self, data: bytes, /) -> object:
        """The next bytes."""
        ...

    def tell(self) -> int:
        """How many there were."""
        ...

    def getvalue(self) -> bytes:
        """What was kept of them."""
        ...


class Body:
    """A body as it arrives. `feed` and `finish` raise Refused: body-too-large or bad-gzip-encoding."""

    def __init__(self, content_encodings: Iterable[str], cap: int, *, text: bool, sink: Sink | None = None) -> None:
        words = [word.strip().lower() for each in content_encodings for word in each.split(",")]
        codings = [CODINGS[word] for word in reversed(words) if word in CODINGS]
        if len(codings) > MOST_CODINGS:
            raise Refused(Status.BAD_GZIP_ENCODING, f"{len(codings)} content codings")
        self._decoders: list[Decoder] = [Recognised(coding) for coding in ([*codings, gzip] if text else codings)]
        self._cap = cap
        self._raw = 0
        # getvalue() shares its buffer: no second copy of a large body
        self._decoded: Sink = io.BytesIO() if sink is None else sink

    @property
    def coded(self) -> bool:
        """Whether more may come out than goes in."""
        return bool(self._decoders)

    @property
    def size(self) -> int:
        """How many bytes have come out until now."""
        return self._decoded.tell()

    def feed(self, data: bytes) -> None:
        """The next bytes from the wire."""
        for _ in self.feeding(data):
            pass

    def feeding(self, data: bytes) -> Iterator[int]:
        """The same in steps, after each of which the size is told."""
        self._raw += len(data)
        if self._raw > self._cap:
            raise Refused(Status.BODY_TOO_LARGE, f"more than {self._cap} bytes")
        with _broken_is_refused():
            yield from self._run(data, 0)

    def finish(self) -> bytes:
        """The whole body, after the last byte, or what its sink kept."""
        with _broken_is_refused():
            for index, decoder in enumerate(self._decoders):
                for piece in decoder.finish():
                    for _ in self._run(piece, index + 1):
                        pass
        return self._decoded.getvalue()

    def so_far(self) -> bytes:
        """What has come out until now."""
        return self._decoded.getvalue()

    def _run(self, data: bytes, index: int) -> Iterator[int]:
        """Pieces through the decoders from `index` on, depth first, so that only one piece of each is held."""
        if index == len(self._decoders):
            self._decoded.write(data)
            if self._decoded.tell() > self._cap:
                raise Refused(Status.BODY_TOO_LARGE, f"more than {self._cap} bytes")
            yield self._decoded.tell()
        else:
            for piece in self._decoders[index].feed(data):
                if piece:
                    yield from self._run(piece, index + 1)
