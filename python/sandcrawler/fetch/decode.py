"""A body as it arrives: content codings undone, and the size of the result bounded all the time.

A megabyte can hold a gigabyte: pieces run through all codings one after another, and `Body` stops as soon as more than
its cap has come out. So memory holds the cap and a few pieces. Text that is gzip once more inside its declared coding
(a stored .gz, compressed again by a proxy) is undone as well, under the same cap.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

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


class Body:
    """A body as it arrives. `feed` and `finish` raise Refused: body-too-large or bad-gzip-encoding."""

    def __init__(self, content_encodings: Iterable[str], cap: int, *, text: bool) -> None:
        words = [word.strip().lower() for each in content_encodings for word in each.split(",")]
        codings = [CODINGS[word] for word in reversed(words) if word in CODINGS]
        if len(codings) > MOST_CODINGS:
            raise Refused(Status.BAD_GZIP_ENCODING, f"{len(codings)} content codings")
        self._decoders: list[Decoder] = [Recognised(coding) for coding in ([*codings, gzip] if text else codings)]
        self._cap = cap
        self._raw = 0
        self._decoded = io.BytesIO()  # getvalue() shares its buffer: no second copy of a large body

    def feed(self, data: bytes) -> None:
        """The next bytes from the wire."""
        self._raw += len(data)
        if self._raw > self._cap:
            raise Refused(Status.BODY_TOO_LARGE, f"more than {self._cap} bytes")
        with _broken_is_refused():
            self._run(data, 0)

    def finish(self) -> bytes:
        """The whole body, after the last byte."""
        with _broken_is_refused():
            for index, decoder in enumerate(self._decoders):
                for piece in decoder.finish():
                    self._run(piece, index + 1)
        return self._decoded.getvalue()

    def so_far(self) -> bytes:
        """What has come out until now."""
        return self._decoded.getvalue()

    def _run(self, data: bytes, index: int) -> None:
        """Pieces through the decoders from `index` on, depth first, so that only one piece of each is held."""
        if index == len(self._decoders):
            self._decoded.write(data)
            if self._decoded.tell() > self._cap:
                raise Refused(Status.BODY_TOO_LARGE, f"more than {self._cap} bytes")
        else:
            for piece in self._decoders[index].feed(data):
                if piece:
                    self._run(piece, index + 1)
