"""The server answers over real sockets as the table says."""

import asyncio
import socket
import ssl
import time
import urllib.request
from urllib.parse import urljoin, urlsplit

import aiohttp
import pytest
from yarl import URL

from sandcrawler.config import Config
from sandcrawler.demo.documents import Answer, answers, documents
from sandcrawler.demo.server import LOOPBACK, Access, Web, running, serve

A = Answer(url="http://a.example.org/x?y=%2F&z", body=b"x", type="text/plain")


async def get(session: aiohttp.ClientSession, web: Web, url: str) -> tuple[aiohttp.ClientResponse, bytes]:
    parts = urlsplit(url)
    here = f"http://{LOOPBACK}:{web.port}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    async with session.get(
        URL(here, encoded=True), headers={"Host": parts.netloc}, allow_redirects=False, auto_decompress=False
    ) as response:
        return response, await response.read()


async def ask(web: Web, *urls: str) -> list[tuple[aiohttp.ClientResponse, bytes]]:
    async with aiohttp.ClientSession() as session:
        return await asyncio.gather(*(get(session, web, url) for url in urls))


def test_every_url_answers_as_the_table_says() -> None:
    async def check() -> None:
        async with serve() as web:
            got = await ask(web, *(answer.url for answer in answers()))
        for answer, (response, body) in zip(answers(), got, strict=True):
            assert response.status == answer.status, answer.url
            assert body == answer.body, answer.url
            assert response.headers.get("Location") == answer.location
            assert answer.type is None or response.headers["Content-Type"] == answer.type

    asyncio.run(check())


def test_a_slow_page_takes_its_time_and_holds_up_nobody() -> None:
    slow = Answer(url="http://slow.example.org/", body=b"abc" * 100, delay=1.0, drip=1.0)
    quick = Answer(url="http://quick.example.org/", body=b"abc")

    async def timed(web: Web, url: str) -> tuple[float, bytes]:
        start = time.monotonic()
        [(_, body)] = await ask(web, url)
        return time.monotonic() - start, body

    async def check() -> None:
        async with serve([slow, quick]) as web:
            (slow_seconds, body), (quick_seconds, _) = await asyncio.gather(timed(web, slow.url), timed(web, quick.url))
        assert body == slow.body
        assert slow_seconds >= 1.8  # 2, and timers that wake up a little early
        assert quick_seconds < 1.8, "it did not wait for the slow one"

    asyncio.run(check())


def test_a_dripped_body_arrives_in_pieces() -> None:
    slow = Answer(url="http://slow.example.org/", body=b"a" * 1000, drip=0.5)
    with running([slow]) as web, socket.create_connection((LOOPBACK, web.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: slow.example.org\r\nConnection: close\r\n\r\n")
        pieces = iter(lambda: client.recv(65536), b"")
        assert sum(1 for _ in pieces) > 3  # a reader that is slow gets several of them together


@pytest.mark.parametrize("document", [d for d in documents() if len(d.answers) > 1 and d.answers[0].location])
def test_redirects_lead_where_the_table_says(document: object) -> None:
    async def walk(web: Web, url: str) -> list[str]:
        seen: list[str] = []
        while url not in seen:
            seen.append(url)
            [(response, _)] = await ask(web, url)
            if "Location" not in response.headers:
                return seen
            url = urljoin(url, response.headers["Location"])
        return [*seen, url]

    async def check() -> None:
        async with serve() as web:
            hops = await walk(web, document.url)  # type: ignore[attr-defined]
        terminal = document.expected.terminal  # type: ignore[attr-defined]
        assert hops[-1] == (terminal or hops[0])
        assert len(hops) >= (2 if terminal else 3)

    asyncio.run(check())


def test_copies_unknown_urls_hosts_and_robots() -> None:
    own = Answer(url="http://b.example.org/robots.txt", body=b"User-agent: *\nDisallow: /\n", type="text/plain")

    async def check() -> None:
        async with serve([A, own]) as web:
            got = await ask(
                web,
                A.url + "&copy=17",
                "http://A.example.org:80/x?y=%2F&z",
                "http://a.example.org/x",
                "http://c.example.org/",
                "http://a.example.org/robots.txt",
                own.url,
            )
        assert [response.status for response, _ in got] == [200, 200, 404, 404, 200, 200]
        assert [body for _, body in got[:2]] == [b"x", b"x"]
        assert b"Allow: /" in got[4][1]
        assert got[5][1] == own.body

    asyncio.run(check())


def test_distinct_copies_have_bytes_of_their_own() -> None:
    page = Answer(url="http://a.example.org/", body=b"<p>x</p>", type="text/html; charset=utf-8")
    image = Answer(url="http://a.example.org/i", body=b"GIF", type="image/gif")
    empty = Answer(url="http://a.example.org/e", type="text/html")

    async def check() -> None:
        async with serve([page, image, empty], distinct=True) as web:
            got = await ask(web, page.url, *(f"{url}?copy=2" for url in (page.url, image.url, empty.url)))
        assert [body for _, body in got] == [b"<p>x</p>", b"<p>x</p><!-- copy 2 -->", b"GIF", b""]

    asyncio.run(check())


def test_the_thread_serves_and_ends_and_logs() -> None:
    seen: list[Access] = []
    with running([A], log=seen.append) as web:
        request = urllib.request.Request(f"http://{LOOPBACK}:{web.port}/x?y=%2F&z", headers={"Host": "a.example.org"})
        with urllib.request.urlopen(request) as response:
            assert response.read() == b"x"
    assert [(access.url, access.status) for access in seen] == [("http://a.example.org/x?y=%2F&z", 200)]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, web.port), timeout=30)


def test_ending_does_not_wait_for_a_slow_page() -> None:
    endless = Answer(url="http://a.example.org/", delay=60.0)
    start = time.monotonic()
    with running([endless]) as web:
        client = socket.create_connection((LOOPBACK, web.port))
        client.sendall(b"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n")
        time.sleep(0.2)
    client.close()
    assert time.monotonic() - start < 30


def test_a_taken_port_is_said_in_the_callers_thread() -> None:
    with running([A]) as web, pytest.raises(OSError, match="address already in use"), running([A], port=web.port):
        pass


def test_connect_to_is_a_setting() -> None:
    with running() as web:
        table = Config(fetch_connect_to=web.connect_to).fetch_connect_to  # type: ignore[arg-type]
    assert table["doi.example.org", 80] == (LOOPBACK, web.port)
    assert len(table) == len(web.hosts)


def test_tls_under_a_throwaway_authority() -> None:
    with running([A], tls=True) as web:
        assert web.tls_port is not None
        assert f"a.example.org:443:{LOOPBACK}:{web.tls_port}" in web.connect_to.split(",")
        context = ssl.create_default_context(cafile=str(web.ca_file))
        with (
            socket.create_connection((LOOPBACK, web.tls_port)) as plain,
            context.wrap_socket(plain, server_hostname="a.example.org") as secure,
        ):
            secure.sendall(b"GET /x?y=%2F&z HTTP/1.1\r\nHost: a.example.org\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: secure.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\nx")
