"""Servers that flood, drip, break off and say too much: each ends in time, in bounded memory, with the right status."""

import asyncio
import gzip
import socket
import struct
import time
import tracemalloc
from collections.abc import Awaitable, Callable

import pytest

from sandcrawler.status import Status

from .web import Page, Request, Web, fetched, get, reply, run

A = "http://journal.example.org/a"
HTML = b"<html><title>Nests</title><p>words</p></html>"
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(HTML)
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%s\r\n" % (len(HTML), HTML)
Sends = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def endless(first: bytes, more: bytes) -> Sends:
    async def page(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(more)
            await writer.drain()

    return page


def sends(*pieces: bytes, reset: bool = False) -> Sends:
    """These pieces, in packets of their own; then the end, or a reset."""

    async def page(_: Request, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.03)
        if reset:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    return page


FLOODS: dict[str, tuple[Page, Status]] = {
    "tiny chunks": (endless(CHUNKED, b"1\r\nx\r\n" * 5000), Status.BODY_TOO_LARGE),
    "headers": (endless(OK, b"X-A: " + b"y" * 50 + b"\r\n"), Status.CONNECT_ERROR),
    "one header": (endless(OK + b"Location: ", b"e" * 60_000), Status.CONNECT_ERROR),
    "early answers": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000), Status.CONNECT_ERROR),
    "chunk extension": (endless(CHUNKED + b"5;", b"e" * 60_000), Status.TRUNCATED_BODY),
    "trailers": (endless(CHUNKED + CHUNK + b"0\r\n", b"T: " + b"t" * 1000 + b"\r\n"), Status.SUCCESS),
    "one trailer": (endless(CHUNKED + CHUNK + b"0\r\nT: ", b"t" * 60_000), Status.SUCCESS),
    "redirect's body": (endless(b"HTTP/1.1 302 F\r\nLocation: /b\r\n\r\n", b"x" * 60_000), Status.SUCCESS),
}


@pytest.mark.parametrize("name", FLOODS)
def test_floods_end(name: str) -> None:
    page, status = FLOODS[name]
    tracemalloc.start()
    try:
        seconds = 2 if status is Status.TIMEOUT else 60
        start = time.monotonic()
        capture, _ = get({A: page, A[:-1] + "b": reply(HTML)}, A, seconds=seconds, fetch_body_bytes=1 << 17)
        assert time.monotonic() - start < seconds + 20
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    assert capture.status is status, capture.error_message


TOLERATED: dict[str, Page] = {
    "longer than it says": sends(OK + LENGTH + b"\r\n" + HTML + b"junk"),
    "longer, in another packet": sends(OK + LENGTH + b"\r\n" + HTML, b"junk"),
    "longer, head apart": sends(OK + LENGTH + b"\r\n", HTML + b"junk"),
    "longer, and closes": sends(OK + b"Connection: close\r\n" + LENGTH + b"\r\n" + HTML + b"junk"),
    "junk behind the chunks": sends(CHUNKED + CHUNK + b"0\r\n\r\njunk"),
    "another answer behind it": sends((OK + LENGTH + b"\r\n" + HTML) * 2),
    "chunk extensions and trailers": sends(CHUNKED + b'%x;a=b;c="d"\r\n%s\r\n0\r\nT: x\r\n\r\n' % (len(HTML), HTML)),
    "a blank line first": sends(b"\r\n\r\n" + OK + LENGTH + b"\r\n" + HTML),
    "an early answer first": sends(b"HTTP/1.1 103 E\r\n\r\n" + OK + LENGTH + b"\r\n" + HTML),
    "head in two packets": sends(OK + LENGTH + b"\r", b"\n" + HTML),
    "cookies by the hundred": sends(
        OK + b"".join(b"Set-Cookie: c%d=%s\r\n" % (n, b"v" * 4000) for n in range(200)) + LENGTH + b"\r\n" + HTML
    ),
    "gzip with junk behind it": reply(gzip.compress(HTML) + b"junk", content_encoding="gzip"),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_what_browsers_take_is_taken_and_no_more_of_it(name: str) -> None:
    capture, _ = get({A: TOLERATED[name]}, A)
    assert (capture.status, capture.body) == (Status.SUCCESS, HTML), capture.error_message


REFUSED: dict[str, tuple[Page, Status]] = {
    "reset in a body": (sends(OK + b"Content-Length: 99\r\n\r\nabc", reset=True), Status.TRUNCATED_BODY),
    "reset in a body without length": (sends(OK + b"\r\nabc", reset=True), Status.TRUNCATED_BODY),
    "reset in chunks": (sends(CHUNKED + CHUNK, reset=True), Status.TRUNCATED_BODY),
    "reset in the head": (sends(b"HTTP/1.1 20", reset=True), Status.CONNECT_ERROR),
    "no last chunk": (sends(CHUNKED + CHUNK), Status.TRUNCATED_BODY),
    "HTTP/0.9": (sends(HTML), Status.CONNECT_ERROR),
    "HTTP/2": (sends(b"\0\0\x12\x04\0\0\0\0\0" + bytes(18)), Status.CONNECT_ERROR),
    "two lengths": (sends(OK + LENGTH + b"Content-Length: 5\r\n\r\n" + HTML), Status.CONNECT_ERROR),
    "204 with a body": (sends(b"HTTP/1.1 204 N\r\n" + LENGTH + b"\r\n" + HTML), Status.EMPTY_BLOB),
    "304 with a body": (sends(b"HTTP/1.1 304 N\r\n" + LENGTH + b"\r\n" + HTML), Status.TERMINAL_BAD_STATUS),
    "205 with a body": (sends(b"HTTP/1.1 205 R\r\n" + LENGTH + b"\r\n" + HTML), Status.TERMINAL_BAD_STATUS),
    "another protocol": (
        sends(b"HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
        Status.TERMINAL_BAD_STATUS,
    ),
    "twenty codings": (reply(HTML, content_encoding=", ".join(["gzip"] * 20)), Status.BAD_GZIP_ENCODING),
    "an absurd wait": (reply(b"", 429, retry_after="9" * 400), Status.HOST_BACKOFF),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_answer_is_no_success(name: str) -> None:
    page, status = REFUSED[name]
    capture, _ = get({A: page}, A)
    assert capture.status is status, capture.error_message
    assert capture.error_message


def test_a_tls_handshake_that_drips_ends_in_time() -> None:
    async def work() -> None:
        async def handle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for byte in b"\x16\x03\x03\x00\x7a" + bytes(200):
                writer.write(bytes([byte]))
                await asyncio.sleep(0.1)

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        moves = {("journal.example.org", 443): ("127.0.0.1", server.sockets[0].getsockname()[1])}
        async with Web({}) as web:
            start = time.monotonic()
            capture = await fetched(
                web, "https://journal.example.org/", fetch_connect_to=moves, fetch_connect_seconds=0.5
            )
        assert capture.status in (Status.TIMEOUT, Status.TLS_ERROR)
        assert time.monotonic() - start < 15, "all of it would take twenty seconds"
        server.close()

    run(work())
