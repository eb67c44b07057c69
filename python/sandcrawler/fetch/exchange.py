"""What went over the wire, put together from what aiohttp keeps of it.

Header names and values are the server's own bytes in their order; the blanks around them are gone, and folded lines
are one. aiohttp undoes the chunked transfer coding, so the header that announces it is renamed: a reader that trusted
it would look for chunks in a body that has none.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import TYPE_CHECKING

import aiohttp

from sandcrawler.fetch import faults
from sandcrawler.fetch.base import Exchange, Refused, Take
from sandcrawler.fetch.intake import Incoming
from sandcrawler.status import Status

if TYPE_CHECKING:
    from aiohttp.connector import Connection

RENAMED = {b"transfer-encoding": b"X-Archive-Orig-Transfer-Encoding"}

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
    """A response that remembers who sent it: a short answer gives its connection back before anyone can ask."""

    address: str | None = None

    async def start(self, connection: "Connection") -> aiohttp.ClientResponse:
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport else None
        self.address = peer[0] if peer else None
        return await super().start(connection)


def exchange(response: aiohttp.ClientResponse, url: str, when: datetime) -> Exchange:
    """The exchange behind a response whose head has arrived."""
    info, version = response.request_info, response.version or aiohttp.HttpVersion11
    sent = [(name.encode(), value.encode()) for name, value in info.headers.items()]
    got = [(RENAMED.get(name.lower(), name), value) for name, value in response.raw_headers]
    reason = (response.reason or "").encode("utf-8", "surrogateescape")
    return Exchange(
        url=url,
        when=when,
        address=getattr(response, "address", None),
        request=head(f"{info.method} {info.url.raw_path_qs} HTTP/1.1".encode(), sent),
        response=head(b"HTTP/%d.%d %d %s" % (*version, response.status, reason), got),
    )


def incoming(response: aiohttp.ClientResponse) -> Incoming:
    """The body behind a head; its connection goes unless it is read to its end."""
    encodings = response.headers.getall("Content-Encoding", [])
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


def head(first: bytes, fields: list[tuple[bytes, bytes]]) -> bytes:
    """First line and headers up to the blank line; no line end can hide within them."""
    lines = [first, *(b"%s: %s" % field for field in fields)]
    return b"\r\n".join(_one_line(line) for line in lines) + b"\r\n\r\n"


def _one_line(line: bytes) -> bytes:
    return line.replace(b"\r", b" ").replace(b"\n", b" ").replace(b"\0", b" ")
