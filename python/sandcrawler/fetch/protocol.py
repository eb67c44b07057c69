"""aiohttp's side of a connection, made as patient as browsers are, and not more trusting than that.

A head is handed on when it is whole, in words that aiohttp's strict parser takes (`heads`), chunks likewise (`chunks`).
A message ends where its head says. What a server sends after that end (a body longer than its Content-Length, a body of
a 204, junk behind the last chunk) is dropped with the connection.

A body without a length ends with the connection. If that was broken off the body is not whole, and nobody else says so.
"""

import asyncio
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import BadHttpMessage

from sandcrawler.fetch.chunks import BrokenChunks, Chunks
from sandcrawler.fetch.heads import END, END_BYTES, HEAD_BYTES, Head, NotHttp, framing, read_head, strict

BODILESS = frozenset({204, 304})
SWITCHING = 101
MOST_EARLY = 100


class Patient(ResponseHandler):
    """See above. `head`: that of the answer to the last request, once it is there; `address`: the peer's."""

    head: Head | None = None
    address: str | None = None
    _waiting = False  # for a head
    _start = bytearray()  # of a head
    _early = 0
    _chunks: Chunks | None = None
    _left: int | None = None  # of a body whose length was said

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The peer is there."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else None

    def set_response_params(self, **params: Any) -> None:
        """A request goes out; aiohttp then hands over what came before it."""
        self.head, self._waiting, self._start, self._early = None, True, bytearray(), 0
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """The next bytes; none, where aiohttp goes on with those it has."""
        if not data or self._parser is None or self._upgraded:
            super().data_received(data)
            return
        try:
            while data and self._waiting:
                data = self._head(data)
            if data:
                self._body(data)
        except NotHttp as error:
            self._refuse(BadHttpMessage(str(error)))
        except BrokenChunks as error:
            self._end(error)
            self._refuse(BadHttpMessage(str(error)))
        if failure := self.exception():
            self._end(failure)

    def _head(self, data: bytes) -> bytes:
        """Bytes of a head; what follows it."""
        seen = max(0, len(self._start) - END_BYTES)
        self._start += data if self._start else data.lstrip(b"\r\n")
        found = END.search(self._start, seen)
        if not found:
            if len(self._start) > HEAD_BYTES:
                raise NotHttp(f"a head of more than {HEAD_BYTES} bytes")
            self._reschedule_timeout()
            return b""
        head, rest = read_head(bytes(self._start[: found.end()])), bytes(self._start[found.end() :])
        self._start = bytearray()
        body = framing(head)
        self._early += 1
        if self._early > MOST_EARLY:
            raise NotHttp(f"more than {MOST_EARLY} early answers")
        if head.code >= 200 or head.code == SWITCHING:
            self.head, self._waiting = head, False
            self._left = 0 if head.code in BODILESS else body.length
            self._chunks = Chunks() if body.chunked and self._left is None else None
            if body.contradicts:
                self.force_close()
        super().data_received(strict(head, body))
        return rest

    def _body(self, data: bytes) -> None:
        """Bytes behind the head."""
        if self._chunks is not None:
            passed, spare = self._chunks.feed(data), self._chunks.spare
        else:
            passed = data[: self._left]
            spare = len(data) > len(passed)
            self._left = None if self._left is None else self._left - len(passed)
        if spare:
            self.force_close()
        if passed:
            super().data_received(passed)
        elif not spare:
            self._reschedule_timeout()
        elif self.transport is not None:  # the message is there; the connection may lie idle since
            self.transport.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """The end, by an error where there is one."""
        if exc is not None:
            self._end(exc)
        super().connection_lost(exc)

    def _refuse(self, error: Exception) -> None:
        """The answer is none."""
        self.set_exception(error)
        if self.transport is not None:
            self.transport.close()

    def _end(self, error: BaseException) -> None:
        """A body that is still on its way will not be whole; aiohttp leaves its reader waiting."""
        words = str(error) if isinstance(error, BrokenChunks) else f"the connection was lost: {error}"
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(aiohttp.ClientPayloadError(words))
