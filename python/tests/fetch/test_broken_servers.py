"""Servers that speak HTTP badly: what browsers take is taken, what they refuse is refused, each by its status.

Every answer comes twice: in one packet, and in packets of a few bytes. Both must give the same.
"""

import asyncio
import gzip
import socket
import ssl
import warnings
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import brotlicffi
import pytest

from sandcrawler.fetch.codings import zstd
from sandcrawler.fetch.live import Fetcher
from sandcrawler.model import Capture
from sandcrawler.status import Status

from .web import Request, Web, fetched, reply, run

SITE = "http://journal.example.org"
A, B = f"{SITE}/a", f"{SITE}/b"
HTML = b"<html><title>Nests</title><p>" + b"words " * 40 + b"</p></html>"
LENGTH = b"Content-Length: %d\r\n" % len(HTML)
OK = b"HTTP/1.1 200 OK\r\n"
WHOLE = LENGTH + b"\r\n" + HTML
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SIZE = b"%x" % len(HTML)
CHUNK = SIZE + b"\r\n" + HTML + b"\r\n"
ZIPPED = gzip.compress(HTML)
BARE = zlib.compress(HTML)[2:-4]


def coded(coding: bytes, body: bytes) -> bytes:
    return OK + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding, len(body)) + body


def moved(fields: bytes) -> bytes:
    return b"HTTP/1.1 302 Found\r\n%s\r\nContent-Length: 0\r\n\r\n" % fields


TAKEN: dict[str, bytes] = {
    # lengths and framing (RFC 9112, 6.3)
    "the same length twice": OK + LENGTH + WHOLE,
    "a list of the same length": OK + b"Content-Length: %d, %d\r\n\r\n" % (len(HTML), len(HTML)) + HTML,
    "an empty length": OK + b"Content-Length:\r\n\r\n" + HTML,
    "chunks and a length": OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK + b"0\r\n\r\n",
    "identity and a length": OK + b"Transfer-Encoding: identity\r\n" + WHOLE,
    "chunked twice": OK + b"Transfer-Encoding: chunked\r\n" + CHUNKED[len(OK) :] + CHUNK + b"0\r\n\r\n",
    "Chunked": OK + b"Transfer-Encoding: Chunked\r\n\r\n" + CHUNK + b"0\r\n\r\n",
    "gzip as a transfer coding": OK
    + b"Transfer-Encoding: gzip, chunked\r\n\r\n%x\r\n" % len(ZIPPED)
    + ZIPPED
    + b"\r\n0\r\n\r\n",
    # lines
    "LF alone": OK.replace(b"\r", b"") + LENGTH.replace(b"\r", b"") + b"\n" + HTML,
    "LF among CRLF": OK + b"X: y\n" + WHOLE,
    "two CR": OK + b"X: y\r\r\n" + WHOLE,
    "a CR in a line": OK + b"X: y\rZ: b\r\n" + WHOLE,
    "a folded line": OK + b"Content-Type: text/html;\r\n\tcharset=utf-8\r\n" + WHOLE,
    "folded at once": OK + b" folded\r\n" + WHOLE,
    "no colon": OK + b"no colon here\r\n" + WHOLE,
    "a blank before the colon": OK + b"Content-Length : %d\r\n\r\n" % len(HTML) + HTML,
    "a blank in the name": OK + b"X A: y\r\n" + WHOLE,
    "an odd name": OK + b"X(\xe9)/b@c: y\r\n" + WHOLE,
    "no name": OK + b": y\r\n" + WHOLE,
    "no value": OK + b"X-A:\r\n" + WHOLE,
    "bytes": OK + b"X-A: \xff\xfe\x01\x00\r\n" + WHOLE,
    # status lines
    "blank lines first": b"\r\n\n" + OK + WHOLE,
    "no reason": b"HTTP/1.1 200\r\n" + WHOLE,
    "bytes for a reason": b"HTTP/1.1 200 \xff\xe9\x01\r\n" + WHOLE,
    "small letters": b"http/1.1 200 ok\r\n" + WHOLE,
    "two blanks": b"HTTP/1.1  200  OK\r\n" + WHOLE,
    "no version": b"HTTP 200 OK\r\n" + WHOLE,
    "HTTP/1.0 to the end": b"HTTP/1.0 200 OK\r\n\r\n" + HTML,
    "HTTP/2.0": b"HTTP/2.0 200 OK\r\n" + WHOLE,
    "HTTP/2": b"HTTP/2 200\r\n" + WHOLE,
    "early answers": b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 102 P\r\nX: y\r\n\r\nHTTP/1.1 103 E\r\n\r\n" + OK + WHOLE,
    "a length of an early answer": b"HTTP/1.1 100 C\r\nContent-Length: 0\r\n\r\n" + OK + WHOLE,
    # chunks
    "an extension": CHUNKED + SIZE + b';a="b c\xff\r\n' + HTML + b"\r\n0;x\r\n\r\n",
    "great letters, zeros, blanks": CHUNKED + b"000" + SIZE.upper() + b"  \r\n" + HTML + b"\r\n000\r\n\r\n",
    "LF behind the chunks": CHUNKED + (CHUNK + b"0\r\n\r\n").replace(b"\r", b""),
    "no last line": CHUNKED + CHUNK + b"0\r\n",
    "trailers": CHUNKED + CHUNK + b"0\r\nX: y\r\nno colon\r\n\r\n",
    "trailers without an end": CHUNKED + CHUNK + b"0\r\nX: y\r\n",
    # content codings
    "x-gzip": coded(b"x-gzip", ZIPPED),
    "GZIP, identity": coded(b"GZIP, identity", ZIPPED),
    "gzip said twice": coded(b"gzip\r\nContent-Encoding: gzip", ZIPPED),
    "none": coded(b"none", HTML),
    "utf-8": coded(b"utf-8", HTML),
    "an empty coding": coded(b"", HTML),
    "gzip that is none": coded(b"gzip", HTML),
    "junk behind gzip": coded(b"gzip", ZIPPED + b"garbage"),
    "gzip in members": coded(b"gzip", b"".join(gzip.compress(HTML[n : n + 9]) for n in range(0, len(HTML), 9))),
    "zeros between members": coded(b"gzip", gzip.compress(HTML[:9]) + bytes(99) + gzip.compress(HTML[9:]) + bytes(9)),
    "deflate": coded(b"deflate", zlib.compress(HTML)),
    "bare deflate": coded(b"deflate", BARE),
    "deflate that is gzip": coded(b"deflate", ZIPPED),
    "br": coded(b"br", brotlicffi.compress(HTML)),
    "zstd": coded(b"zstd", zstd.compress(HTML)),
    "zstd that is none": coded(b"zstd", HTML),
    # types
    "types that differ": OK + b"Content-Type: text/plain\r\nContent-Type: text/html\r\n" + WHOLE,
    "no type": OK + b"Content-Type: ;;;\r\n" + WHOLE,
    "an upgrade offered": OK + b"Upgrade: h2,h2c\r\nConnection: Upgrade\r\n" + WHOLE,
}
REFUSED: dict[str, tuple[bytes, Status, str]] = {
    "two lengths": (OK + b"Content-Length: 5\r\n" + WHOLE, Status.CONNECT_ERROR, "length of the body is unclear"),
    "a list of two": (OK + b"Content-Length: 5, 6\r\n\r\n" + HTML, Status.CONNECT_ERROR, "unclear"),
    "a signed length": (OK + b"Content-Length: +5\r\n\r\n" + HTML, Status.CONNECT_ERROR, "unclear"),
    "a length below zero": (OK + b"Content-Length: -1\r\n\r\n" + HTML, Status.CONNECT_ERROR, "unclear"),
    "another protocol": (b"ICY 200 OK\r\n" + WHOLE, Status.CONNECT_ERROR, "no HTTP status line"),
    "two digits": (b"HTTP/1.1 20 OK\r\n" + WHOLE, Status.CONNECT_ERROR, "no HTTP status line"),
    "four digits": (b"HTTP/1.1 2000 OK\r\n" + WHOLE, Status.CONNECT_ERROR, "no HTTP status line"),
    "nothing": (b"", Status.CONNECT_ERROR, "closed without an answer"),
    "half a head": (OK + b"X: y", Status.CONNECT_ERROR, ""),
    "only early answers": (b"HTTP/1.1 103 E\r\n\r\n" * 200, Status.CONNECT_ERROR, "early answers"),
    "no body": (OK + LENGTH + b"\r\n", Status.TRUNCATED_BODY, "received 0 of"),
    "no last chunk": (CHUNKED + CHUNK, Status.TRUNCATED_BODY, "ended early"),
    "half a size": (CHUNKED + CHUNK + b"0", Status.TRUNCATED_BODY, "ended early"),
    "a size in other words": (CHUNKED + b"0x" + CHUNK, Status.TRUNCATED_BODY, "no chunk size"),
    "a chunk that goes on": (CHUNKED + SIZE + b"\r\n" + HTML + b"0\r\n\r\n", Status.TRUNCATED_BODY, "where its chunk"),
    "chunks that are none": (CHUNKED + HTML + b"\n", Status.TRUNCATED_BODY, "no chunk size"),
    "gzip with a wrong sum": (coded(b"gzip", ZIPPED[:-8] + bytes(8)), Status.BAD_GZIP_ENCODING, "broken"),
    "gzip without its end": (coded(b"gzip", ZIPPED[:-8]), Status.BAD_GZIP_ENCODING, "too early"),
    "a member cut": (coded(b"gzip", ZIPPED + ZIPPED[:-9]), Status.BAD_GZIP_ENCODING, "too early"),
    "deflate that is none": (coded(b"deflate", HTML), Status.BAD_GZIP_ENCODING, "broken"),
    "br that is none": (coded(b"br", HTML), Status.BAD_GZIP_ENCODING, "broken"),
    "204 with a body": (b"HTTP/1.1 204 N\r\n" + WHOLE, Status.EMPTY_BLOB, ""),
    "304 unasked": (b"HTTP/1.1 304 N\r\n" + WHOLE, Status.TERMINAL_BAD_STATUS, "without a condition"),
    "205 with a body": (b"HTTP/1.1 205 R\r\n" + WHOLE, Status.TERMINAL_BAD_STATUS, "HTTP 205"),
    "206 unasked": (b"HTTP/1.1 206 P\r\nContent-Range: bytes 0-9/99\r\n" + WHOLE, Status.TERMINAL_BAD_STATUS, "206"),
    "300 with a body": (b"HTTP/1.1 300 M\r\nLocation: /b\r\n" + WHOLE, Status.TERMINAL_BAD_STATUS, "300"),
    "an empty Location": (moved(b"Location:"), Status.BAD_REDIRECT, "without a Location"),
    "no Location": (b"HTTP/1.1 302 F\r\n" + WHOLE, Status.BAD_REDIRECT, "without a Location"),
    "two Locations": (moved(b"Location: /b\r\nLocation: /c"), Status.BAD_REDIRECT, "2 different"),
    "a script": (moved(b"Location: javascript:alert(1)"), Status.BAD_URL, "redirect to javascript:"),
}
LED: dict[str, bytes] = {
    "the same twice": moved(b"Location: /b\r\nlocation:  /b"),
    "a fragment": moved(b"Location: /b#there"),
    "a tab": moved(b"Location: /\tb"),
    "great letters": moved(b"LOCATION: HTTP://JOURNAL.example.org:/b"),
    "backslashes": moved(b"Location: http:\\\\journal.example.org\\b"),
    "dots": moved(b"Location: /x/../y/./../b"),
    "folded": moved(b"Location:\r\n /b"),
    "a user": moved(b"Location: http://me:secret@journal.example.org/b"),
    "without a length": b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\nmoved",
    "with a broken body": b"HTTP/1.1 302 Found\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
}


def sends(page: bytes, size: int) -> Callable[[Request, asyncio.StreamWriter], Awaitable[None]]:
    async def send(_: Request, writer: asyncio.StreamWriter) -> None:
        for start in range(0, len(page), size):
            writer.write(page[start : start + size])
            await asyncio.sleep(0)
            await writer.drain()

    return send


def both(page: bytes) -> Capture:
    """What comes of this answer, however it is cut into packets."""

    async def work() -> list[Capture]:
        pages = {A: sends(page, len(page) or 1), f"{A}2": sends(page, 7), f"{A}3": sends(page, 1)}
        async with Web({**pages, B: reply(HTML)}) as web:
            fetcher = Fetcher(web.config(fetch_read_seconds=10))
            async with fetcher, fetcher.session() as session:
                return [await session.get(url) for url in pages]

    whole, *cut = run(work())
    for other in cut:
        assert (other.status, other.body, other.status_code) == (whole.status, whole.body, whole.status_code)
    return whole


@pytest.mark.parametrize("name", TAKEN)
def test_what_browsers_take(name: str) -> None:
    capture = both(TAKEN[name])
    assert (capture.status, capture.body) == (Status.SUCCESS, HTML), capture.error_message


@pytest.mark.parametrize("name", REFUSED)
def test_what_browsers_refuse(name: str) -> None:
    page, status, words = REFUSED[name]
    capture = both(page)
    assert capture.status is status, capture.error_message
    assert words in (capture.error_message or "")
    assert "Error: " not in (capture.error_message or "")  # no names of a library's exceptions


@pytest.mark.parametrize("name", LED)
def test_where_a_location_leads(name: str) -> None:
    capture = both(LED[name])
    assert (capture.status, capture.hops, capture.body) == (Status.SUCCESS, (A, B), HTML)


POISON = reply(b"<html>poison</html>")
BEHIND: dict[str, tuple[bytes, bytes]] = {
    "in its packet": (reply(HTML) + POISON, b""),
    "half of it": (reply(HTML) + POISON[:40], b""),
    "a moment later": (reply(HTML), POISON),
    "behind chunks": (CHUNKED + CHUNK + b"0\r\n\r\n" + POISON, b""),
    "behind chunks, later": (CHUNKED + CHUNK + b"0\r\n\r\n", POISON),
    "behind a 204": (b"HTTP/1.1 204 N\r\n\r\n" + POISON, b""),
    "behind a redirect": (moved(b"Location: /c") + POISON, b""),
    "where chunks hide a length": (CHUNKED[:-2] + b"Content-Length: 5\r\n\r\n" + CHUNK + b"0\r\n\r\n", POISON),
}


@pytest.mark.parametrize("name", BEHIND)
def test_what_is_behind_an_answer_is_not_the_next_one(name: str) -> None:
    """A connection on which too much came is not used again, whoever would ask over it."""
    first, later = BEHIND[name]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while (await reader.readuntil(b"\r\n\r\n")).startswith(b"GET /b"):
                writer.write(reply(HTML))
            writer.write(first)
            if later:
                await writer.drain()
                await asyncio.sleep(0.02)
                writer.write(later)
            await reader.read()
        writer.close()

    async def work() -> None:
        async with await asyncio.start_server(handle, "127.0.0.1", 0) as server, Web({}) as web:
            moves = {("journal.example.org", 80): ("127.0.0.1", server.sockets[0].getsockname()[1])}
            fetcher = Fetcher(web.config(fetch_connect_to=moves, fetch_read_seconds=10))
            async with fetcher, fetcher.session() as session:
                await session.digest(A)
                await asyncio.sleep(0.1)
                assert (await session.get(B)).body == HTML

    run(work())


def refuse(listening: socket.socket, tls: ssl.SSLContext) -> None:
    """One handshake that fails; unlike asyncio's servers, this one says why."""
    peer, _ = listening.accept()
    with peer, suppress(OSError):
        tls.wrap_socket(peer, server_side=True)


def test_tls_of_old_is_refused_and_a_connection_that_breaks_off_is_told_from_one_that_ends(tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + (LENGTH if asked.startswith(b"GET /length") else b"") + b"\r\n" + HTML[:99])
        await writer.drain()
        writer.transport.abort()  # without the farewell that TLS asks for

    async def work() -> None:
        async with Web({}) as web:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            web.ca.issue_cert("journal.example.org").configure_cert(tls)
            old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            web.ca.issue_cert("journal.example.org").configure_cert(old)
            old.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings(action="ignore"):
                old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1

            async def said(path: str, port: int) -> Capture:
                moves = {("journal.example.org", 443): ("127.0.0.1", port)}
                url = f"https://journal.example.org/{path}"
                return await fetched(web, url, folder=tmp_path, fetch_connect_to=moves)

            async with await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls) as server:
                port = server.sockets[0].getsockname()[1]
                cut = await said("length", port)
                assert (cut.status, cut.body) == (Status.TRUNCATED_BODY, None)
                ended = await said("end", port)
                assert (ended.status, ended.body) == (Status.SUCCESS, HTML[:99])  # as in browsers
            with socket.create_server(("127.0.0.1", 0)) as listening:
                refusing = asyncio.create_task(asyncio.to_thread(refuse, listening, old))
                refused = await said("old", listening.getsockname()[1])
                await refusing
            assert refused.status is Status.TLS_ERROR, refused.error_message

    run(work())
