"""What went over the wire, put together from what aiohttp keeps of it.

A response's head is the server's own lines in their order (`heads`); folded lines are one. The transfer coding is
undone, so the header that announces it is renamed.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import TYPE_CHECKING

import aiohttp

from sandcrawler.fetch import faults
from sandcrawler.fetch.base import Exchange, Refused, Take
from sandcrawler.fetch.heads import Head
from sandcrawler.fetch.intake import Incoming
from sandcrawler.fetch.protocol import Patient
from sandcrawler.status import Status

if TYPE_CHECKING:
    from aiohttp.connector import Connection

# Why a body is not whole, in the words of WARC-Truncated; other reasons are "unspecified".
TRUNCATED = {
    Status.BODY_TOO_LARGE: "length",
    Status.TIMEOUT: "time",
    Status.TRUNCATED_BODY: "disconnect",
}
UNSPECIFIED = "unspecified"
SMALL_BODY = 1 << 16
DRAIN_SECONDS = 2.0


class Response(aiohttp.ClientResponse):
    """A response that remembers head and sender: a short one gives its connection back before anyone can ask."""

    address: str | None = None
    head: Head | None = None

    async def start(self, connection: "Connection") -> aiohttp.ClientResponse:
        protocol = connection.protocol
        started = await super().start(connection)
        if isinstance(protocol, Patient):
            self.address, self.head, protocol.head = protocol.address, protocol.head, None
        return started


def exchange(response: aiohttp.ClientResponse, url: str, when: datetime) -> Exchange:
    """The exchange behind a response whose head has arrived."""
    info = response.request_info
    sent = [b"%s: %s" % (name.encode(), value.encode()) for name, value in info.headers.items()]
    return Exchange(
        url=url,
        when=when,
        address=getattr(response, "address", None),
        request=b"\r\n".join([f"{info.method} {info.url.raw_path_qs} HTTP/1.1".encode(), *sent]) + b"\r\n\r\n",
        response=response.head.recorded if isinstance(response, Response) and response.head else b"",
    )


def headers(response: aiohttp.ClientResponse) -> tuple[tuple[str, str], ...]:
    """The server's own headers, their bytes as latin-1 text."""
    given = response.head.fields if isinstance(response, Response) and response.head else response.raw_headers
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in given)


def incoming(response: aiohttp.ClientResponse) -> Incoming:
    """The body behind a head; its connection goes unless it is read to its end."""
    # Undone in reverse: a transfer coding other than chunks is as rare as it is allowed.
    transfer = [value for value in response.headers.getall("Transfer-Encoding", []) if value != "chunked"]
    encodings = [*response.headers.getall("Content-Encoding", []), *transfer]
    return Incoming(response.headers.get("Content-Type", ""), encodings, response.content_length, _pieces(response))


async def _pieces(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except TimeoutError:
        raise
    except (aiohttp.ClientError, OSError) as error:
        raise Refused(Status.TRUNCATED_BODY, f"the body ended early: {faults.text(error)}") from error
    finally:
        if not response.content.at_eof():
            response.close()


def truncated(response: aiohttp.ClientResponse, status: Status) -> str | None:
    """Why the body of a response that is done with is not whole, or None where it is."""
    return None if response.content.at_eof() else TRUNCATED.get(status, UNSPECIFIED)


async def drain(response: aiohttp.ClientResponse, take: Take | None) -> None:
    """Read a redirect's small body, so that the connection can be used again; else the connection goes.

    A body of unknown length is read for the recorder alone, for a moment: nothing else depends on it.
    """
    length = response.content_length
    if (length is None and take is None) or (length or 0) > SMALL_BODY:
        response.close()
        return
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            size = 0
            async for piece in response.content.iter_any():
                size += len(piece)
                if take:
                    take.feed(piece)
                if size > SMALL_BODY:
                    response.close()
                    return
    except (aiohttp.ClientError, OSError, TimeoutError):
        response.close()
