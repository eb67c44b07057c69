"""Whatever a server sends, and whatever a URL is, the answer is a capture and never an exception."""

import asyncio
import gzip
import random
import time
from typing import Any

import pytest

from sandcrawler.config import Config
from sandcrawler.fetch.live import Fetcher
from sandcrawler.model import Capture
from sandcrawler.status import Status

from .web import Web, run

HOSTS = tuple(f"host{n}.example.org" for n in range(100))  # a refusal by one cools nobody else
PARTS = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 302 Found\r\n",
    b"HTTP/1.0 200\r\n",
    b"HTTP/1.1 101 Switching\r\n",
    b"HTTP/1.1 103 Early\r\n\r\n",
    b"HTTP/9.9 999 X\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: -1\r\n",
    b"Content-Length: 99999999999999999999999\r\n",
    b"Content-Length: 5\r\nContent-Length: 6\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: br, zstd, deflate\r\n",
    b"Content-Encoding: \xff\x00\r\n",
    b'Content-Type: text/html; charset="\xff\r\n',
    b"Content-Type: ;;;=\r\n",
    b"Location: \xff\xfe/\r\n",
    b"Location: http://[::1\r\n",
    b"Location: /%\r\n",
    b'Set-Cookie: a=\x01; domain=.org; path="; expires=Never; max-age=9e99\r\n',
    b"Set-Cookie: " + b"b" * 9000 + b"=\xff\r\n",
    b"Set-Cookie: c=1; Domain=127.0.0.1\r\n",
    b"Retry-After: -1e999\r\n",
    b"Connection: upgrade\r\nUpgrade: websocket\r\n",
    b"X: \r\n folded\r\n",
    b": no name\r\n",
    b"no colon\r\n",
    b"\x00\x01\x02\r\n",
    b"\r\n",
    b"\r\n5\r\nhello\r\n0\r\n\r\n",
    b"\r\nffffffffffffffffffff\r\nhello",
    gzip.compress(b"hello"),
    gzip.compress(b"hello")[:12],
    b"hello",
]


def _response(rng: random.Random) -> bytes:
    whole = b"".join([rng.choice(PARTS[:3]), *rng.choices(PARTS, k=rng.randint(1, 6)), rng.choice(PARTS[-6:])])
    if rng.random() < 0.5:
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        whole = bytes(data)
    return whole[: rng.randint(1, len(whole))] if rng.random() < 0.2 else whole


@pytest.mark.parametrize("seed", range(3))
def test_any_response_ends_in_a_capture(seed: int) -> None:
    rng = random.Random(seed)

    async def page(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(_response(rng))
        await writer.drain()

    async def work() -> list[Capture]:
        urls = [f"http://{host}/" for host in HOSTS]
        async with Web(dict.fromkeys(urls, page), HOSTS) as web:
            config = web.config(fetch_read_seconds=1, fetch_body_bytes=1 << 16)
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                return [await session.get(url, time.monotonic() + 2) for url in urls]

    for capture in run(work()):
        assert capture.status is not Status.SUCCESS or capture.body
        assert capture.status is Status.SUCCESS or capture.error_message
        assert capture.hops[-1] == capture.terminal_url
        repr(capture).encode("utf-8")


def test_any_url_ends_in_a_capture() -> None:
    rng = random.Random(5)
    alphabet = [*"x:/?#@[]%.\\\x00\t \ud800é", "http", "https", "//", "%00", "127.1", ":80", "0x"]

    async def work() -> None:
        async with Fetcher(Config(fetch_host_gap=0)) as fetcher, fetcher.session() as session:
            for _ in range(500):
                url = "".join(rng.choices(alphabet, k=rng.randint(0, 9)))
                capture = await session.get(
                    rng.choice(["", "http://", "https://x.invalid/"]) + url, time.monotonic() + 2
                )
                assert capture.status in (Status.BAD_URL, Status.BLOCKED_ADDRESS, Status.DNS_ERROR, Status.HOST_BACKOFF)
                capture.terminal_url.encode("utf-8", "surrogatepass")

    run(work())
