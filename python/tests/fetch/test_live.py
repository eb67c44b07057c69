"""One response at a time, from servers that misbehave (checklist H46, H47, H49, H53, H54) and from old ones."""

import asyncio
import gzip
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from sandcrawler.fetch.live import Fetcher
from sandcrawler.status import Status

from .web import Page, Web, fetched, get, moved, reply, run

SITE = "http://journal.example.org"
SECURE = "https://journal.example.org"
HTML = b"<html><title>Nests</title></html>"
A = f"{SITE}/a"


@pytest.mark.parametrize("status", [200, 203, 226])
def test_successes(status: int) -> None:
    assert get({A: reply(HTML, status)}, A)[0].status is Status.SUCCESS


@pytest.mark.parametrize("status", [201, 202, 206, 400, 401, 403, 404, 410, 418, 451, 500, 502, 599])
def test_bad_statuses_keep_a_whole_body(status: int) -> None:
    capture, _ = get({A: reply(HTML, status)}, A)
    assert (capture.status, capture.status_code, capture.body) == (Status.TERMINAL_BAD_STATUS, status, HTML)
    assert capture.error_message == f"HTTP {status}"


@pytest.mark.parametrize(
    "page", [reply(b""), b"HTTP/1.1 204 X\r\n\r\n", reply(gzip.compress(b""), content_encoding="gzip")]
)
def test_h54_an_empty_body(page: bytes) -> None:
    capture, _ = get({A: page}, A)
    assert (capture.status, capture.body) == (Status.EMPTY_BLOB, None)


@pytest.mark.parametrize(
    "page",
    [
        b"HTTP/1.0 200 OK\r\n\r\n" + HTML,  # no type, no length: until the end
        b"HTTP/1.0 200 OK\nContent-Type: text/html\n\n" + HTML,  # bare line ends
        b"HTTP/1.1 200\r\nContent-Length: %d\r\n\r\n" % len(HTML) + HTML,  # no reason
        b"HTTP/1.1 200 OK\r\nServer: caf\xe9\r\nContent-Length: %d\r\n\r\n" % len(HTML) + HTML,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\r\nConnection: close\r\n\r\n" + HTML,
        b"HTTP/1.1 200 OK\r\nContent-Type: nonsense\r\nContent-Encoding: nonsense\r\nConnection: close\r\n\r\n" + HTML,
        b"HTTP/1.1 200 OK\r\nSet-Cookie: \xff=;;;=\r\nConnection: close\r\n\r\n" + HTML,
        b"HTTP/1.1 200 OK\r\nContent-Security-Policy: " + b"x" * 20000 + b"\r\nConnection: close\r\n\r\n" + HTML,
        b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + HTML,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x;ext=1\r\n" % len(HTML)
        + HTML
        + b"\r\n0\r\nT: x\r\n\r\n",
    ],
)
def test_old_and_careless_servers(page: bytes) -> None:
    capture, _ = get({A: _closing(page)}, A)
    assert (capture.status, capture.body) == (Status.SUCCESS, HTML), capture.error_message


def _closing(page: bytes) -> Page:
    async def write(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(page)
        await writer.drain()

    return write


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"hello\r\n\r\n",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300 + b"\r\n",  # too many headers
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",  # too long a header
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: y\r\n",  # cut in the head
    ],
)
def test_what_is_not_http(page: bytes) -> None:
    capture, _ = get({A: _closing(page)}, A)
    assert capture.status is Status.CONNECT_ERROR
    assert capture.error_message


def test_nobody_listens() -> None:
    capture, _ = get({}, A, fetch_connect_to={("journal.example.org", 80): ("127.0.0.1", 1)})
    assert capture.status is Status.CONNECT_ERROR


def test_no_such_name() -> None:
    capture, _ = get({}, "http://nowhere.invalid/")
    assert capture.status is Status.DNS_ERROR
    assert "nowhere.invalid" in (capture.error_message or "")


def test_h46_a_dripping_body_ends_at_the_deadline() -> None:
    async def drip(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    start = time.monotonic()
    capture, _ = get({A: drip}, A, seconds=1.5)
    assert (capture.status, capture.body) == (Status.TIMEOUT, None)
    assert time.monotonic() - start < 30


def test_h46_so_does_a_dripping_head() -> None:
    async def drip(_: Any, writer: asyncio.StreamWriter) -> None:
        for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)

    assert get({A: drip}, A, seconds=1.5)[0].status is Status.TIMEOUT


def test_silence_ends_at_the_read_limit() -> None:
    async def silent(_: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    start = time.monotonic()
    capture, _ = get({A: silent}, A, seconds=60, fetch_read_seconds=1.5)
    assert capture.status is Status.TIMEOUT
    assert time.monotonic() - start < 30

    async def stops(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        await asyncio.sleep(60)

    capture, _ = get({A: stops}, A, seconds=60, fetch_read_seconds=1.5)
    assert (capture.status, capture.status_code) == (Status.TIMEOUT, 200)


def test_a_tls_handshake_that_never_comes() -> None:
    async def work() -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(60)

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with Web({}) as web:
            moves = {("journal.example.org", 443): ("127.0.0.1", port)}
            capture = await fetched(web, f"{SECURE}/a", fetch_connect_to=moves, fetch_connect_seconds=0.3)
        assert capture.status is Status.TIMEOUT
        server.close()

    start = time.monotonic()
    run(work())
    assert time.monotonic() - start < 30


def test_a_deadline_that_has_passed() -> None:
    capture, _ = get({A: reply(HTML)}, A, seconds=-1)
    assert capture.status in (Status.TIMEOUT, Status.HOST_BACKOFF)


def test_h47_an_endless_body_is_cut() -> None:
    async def endless(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    capture, _ = get({A: endless}, A, fetch_body_bytes=1 << 20)
    assert (capture.status, capture.body, capture.status_code) == (Status.BODY_TOO_LARGE, None, 200)


def test_h47_a_false_length() -> None:
    capture, _ = get({A: _closing(reply(HTML, content_length="5"))}, A)
    assert (capture.status, capture.body) == (Status.SUCCESS, HTML[:5])  # as in browsers
    capture, _ = get({A: _closing(reply(HTML, content_length="99999999999"))}, A)
    assert (capture.status, capture.body) == (Status.TRUNCATED_BODY, None)


@pytest.mark.parametrize(
    "page",
    [
        reply(HTML, content_length=str(len(HTML) + 1)),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello",
        reply(gzip.compress(HTML), content_encoding="gzip", content_length="999"),
    ],
)
def test_h49_cut_bodies(page: bytes) -> None:
    capture, _ = get({A: _closing(page)}, A)
    assert (capture.status, capture.body, capture.status_code) == (Status.TRUNCATED_BODY, None, 200)


def test_h49_a_broken_chunk_is_no_success() -> None:
    page = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"
    capture, _ = get({A: _closing(page)}, A)
    assert (capture.status, capture.body) == (Status.TRUNCATED_BODY, None)


def test_h49_cut_and_mislabelled_gzip() -> None:
    data = gzip.compress(HTML)
    assert get({A: reply(data, content_encoding="gzip")}, A)[0].body == HTML
    assert get({A: reply(data[:-4], content_encoding="gzip")}, A)[0].status is Status.BAD_GZIP_ENCODING
    assert get({A: reply(HTML, content_encoding="gzip")}, A)[0].body == HTML
    assert get({A: reply(gzip.compress(data), content_encoding="gzip")}, A)[0].body == HTML
    assert get({A: reply(data, content_type="application/gzip")}, A)[0].body == data


async def _says_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()
    writer.close()


def test_h53_certificates(tmp_path: Path) -> None:
    async def work() -> None:
        pages: dict[str, Page] = {f"{SECURE}/a": reply(HTML), "https://wrong.example.org/a": reply(HTML)}
        async with Web(pages) as web:
            assert (await fetched(web, f"{SECURE}/a", folder=tmp_path)).body == HTML
            unknown = await fetched(web, f"{SECURE}/a")
            assert unknown.status is Status.TLS_ERROR
            assert "certificate verify failed" in (unknown.error_message or "")
            moves = {("wrong.example.org", 443): ("127.0.0.1", web.https)}
            wrong = await fetched(web, "https://wrong.example.org/a", folder=tmp_path, fetch_connect_to=moves)
            assert wrong.status is Status.TLS_ERROR
            assert "wrong.example.org" in (wrong.error_message or "")
            async with await asyncio.start_server(_says_http, "127.0.0.1", 0) as plain:
                moves = {("journal.example.org", 443): ("127.0.0.1", plain.sockets[0].getsockname()[1])}
                assert (await fetched(web, f"{SECURE}/a", fetch_connect_to=moves)).status is Status.TLS_ERROR
        assert [request.url for request in web.requests] == [f"{SECURE}/a"]

    run(work())


def test_h53_an_expired_certificate(tmp_path: Path) -> None:
    past = datetime.now(UTC) - timedelta(days=1)
    issue = trustme.CA.issue_cert

    def expired(self: trustme.CA, *names: str) -> trustme.LeafCert:
        return issue(self, *names, not_after=past)

    async def work() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trustme.CA, "issue_cert", expired)
            async with Web({f"{SECURE}/a": reply(HTML)}, hosts=("journal.example.org",)) as web:
                capture = await fetched(web, f"{SECURE}/a", folder=tmp_path)
        assert capture.status is Status.TLS_ERROR
        assert "expired" in (capture.error_message or "")

    run(work())


def test_connections_are_used_again_and_cookies_are_not() -> None:
    async def work() -> None:
        pages: dict[str, Page] = {A: moved("/b", set_cookie="id=1"), f"{SITE}/b": reply(HTML)}
        async with Web(pages) as web, Fetcher(web.config()) as fetcher:
            for _ in range(3):
                async with fetcher.session() as session:
                    assert (await session.get(A)).status is Status.SUCCESS
        assert web.connections == 1
        assert [request.headers.get("cookie") for request in web.requests] == [None, "id=1"] * 3

    run(work())


@pytest.mark.parametrize(
    ("kind", "undone"), [("text/html", True), ("application/jats+xml", True), ("image/png", False)]
)
def test_h48_gzip_in_gzip_is_undone_for_text(kind: str, undone: bool) -> None:
    data = gzip.compress(HTML)
    capture, _ = get({A: reply(gzip.compress(data), content_encoding="gzip", content_type=kind)}, A)
    assert capture.body == (HTML if undone else data)


def test_raw_header_bytes_are_kept() -> None:
    capture, _ = get({A: reply(HTML, x_name="caf\xe9")}, A)
    assert capture.header("X-Name") == "caf\xe9"


def test_a_cancelled_caller_is_cancelled() -> None:
    async def slow(_: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def work() -> None:
        async with Web({A: slow}) as web:
            task = asyncio.create_task(fetched(web, A))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(work())
