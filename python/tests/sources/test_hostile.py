"""Servers and dumps that mean harm: what they send ends as an error of ours, in bounded time and memory."""

import gzip
import io
import tarfile
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socket import create_server, socket

import pytest

from sandcrawler.sources import http
from sandcrawler.sources.failures import Failure, HttpError
from sandcrawler.sources.http import Answer, Client
from sandcrawler.sources.requests import BadRow
from sandcrawler.sources.rows import json_rows, whole
from sandcrawler.sources.streams import decoded

Say = Callable[[socket], None]


@contextmanager
def saying(say: Say) -> Iterator[str]:
    """A server that does as it likes with each connection, once it was asked something."""
    with create_server(("127.0.0.1", 0)) as server:

        def run() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        connection.recv(65536)
                        say(connection)

        threading.Thread(target=run, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def sends(head: str, body: bytes = b"") -> Say:
    return lambda connection: connection.sendall(f"HTTP/1.1 {head}\r\n\r\n".encode("latin-1") + body)


def failure(url: str) -> Failure:
    with pytest.raises(HttpError) as caught:
        Client("tests/1", retries={}).get(url)
    return caught.value.failure


@pytest.mark.parametrize(
    "location", ["http://[::1", "file:///etc/passwd", "ftp://x/", "http://a:b:c/", "http://a..b/", "http://x:99999/"]
)
def test_a_redirect_to_what_is_no_address_leads_nowhere(location: str) -> None:
    with saying(sends(f"302 Found\r\nLocation: {location}\r\nContent-Length: 0")) as url:
        assert failure(url) is Failure.NOWHERE


@pytest.mark.parametrize("framing", ["Content-Length: 1000000", "Transfer-Encoding: chunked", "Connection: close"])
def test_a_body_that_drips_for_ever_ends(framing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BODY_SECONDS", 0.3)

    def drip(connection: socket) -> None:
        connection.sendall(f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode())
        while True:
            connection.sendall(b"1\r\nx\r\n" if "chunked" in framing else b"x")
            time.sleep(0.05)

    with saying(drip) as url:
        start = time.monotonic()
        assert failure(url) is Failure.TIMEOUT
        assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("codings", "pack"), [("gzip", gzip.compress), ("gzip, gzip", lambda body: gzip.compress(gzip.compress(body)))]
)
def test_a_bomb_is_put_down_at_the_limit(
    codings: str, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "BODY_BYTES", 1 << 20)
    bomb = pack(bytes(64 << 20))
    with saying(sends(f"200 OK\r\nContent-Encoding: {codings}\r\nContent-Length: {len(bomb)}", bomb)) as url:
        tracemalloc.start()
        try:
            assert failure(url) is Failure.PARSE
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_bodies_in_many_small_pieces_are_whole(framing: str, pack: Callable[[bytes], bytes]) -> None:
    """Pieces of a coding that give nothing yet are no end."""
    body = bytes(range(256)) * 20
    sent = pack(body)
    size = {"length": f"Content-Length: {len(sent)}", "chunked": "Transfer-Encoding: chunked"}
    head = size.get(framing, "Connection: close") + ("\r\nContent-Encoding: gzip" if pack is gzip.compress else "")

    def say(connection: socket) -> None:
        connection.sendall(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode())
        for at in range(0, len(sent), 7):
            piece = sent[at : at + 7]
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if framing == "chunked" else piece)
        connection.sendall(b"0\r\n\r\n" if framing == "chunked" else b"")

    with saying(say) as url:
        assert Client("tests/1", retries={}).get(url).body == body


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b"\xff", b"", b"[1,"])
def test_json_that_no_reader_takes_is_not_readable(body: bytes) -> None:
    with pytest.raises(HttpError) as caught:
        Answer("https://api.example.org/", 200, {}, body).json()
    assert caught.value.failure is Failure.PARSE


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_name_that_fills_the_memory_is_a_broken_archive(kind: bytes) -> None:
    """A few kilobytes of gzip may hold the name of a member in gigabytes, which tarfile reads whole."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, 64 << 20
    dump = io.BytesIO(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(info.size)))
    tracemalloc.start()
    try:
        found = [value for _, value in whole(json_rows, decoded(dump))]
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert [type(value) for value in found] == [BadRow]


def test_long_names_that_are_real_are_read() -> None:
    out, data = io.BytesIO(), b'{"a": 1}'
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            info = tarfile.TarInfo("folder/" * 200 + "ä.json")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        assert [value for _, value in whole(json_rows, decoded(io.BytesIO(out.getvalue())))] == [{"a": 1}]
        out.seek(0)
        out.truncate()
