"""aiohttp's side of a connection, made as patient as browsers are, and not more trusting than that.

A message ends where its head says. What a server sends after that end (a body longer than its Content-Length, a body of
a 204, junk behind the last chunk) is dropped with the connection. aiohttp would lose the whole message if all of it
came in one packet, and keep it if not; so the head is handed on by itself, and the message is there before the junk.

A body without a length ends with the connection. If that was broken off the body is not whole, and nobody else says so.
"""

import aiohttp
from aiohttp.client_proto import ResponseHandler

END_OF_HEAD = b"\r\n\r\n"


class Patient(ResponseHandler):
    """See above."""

    def data_received(self, data: bytes) -> None:
        """The next bytes; the head of a message on its own."""
        waiting = self._payload is None or self._payload.is_eof()
        end = data.find(END_OF_HEAD) + len(END_OF_HEAD) if waiting else 0
        if len(END_OF_HEAD) <= end < len(data):
            super().data_received(data[:end])
            data = data[end:]
        super().data_received(data)
        if error := self.exception():
            self._end(error)

    def connection_lost(self, exc: BaseException | None) -> None:
        """The end, by an error where there is one."""
        if exc is not None:
            self._end(exc)
        super().connection_lost(exc)

    def _end(self, error: BaseException) -> None:
        """A body that is still on its way will not be whole; aiohttp leaves its reader waiting."""
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(aiohttp.ClientPayloadError(f"the connection was lost: {error}"))
