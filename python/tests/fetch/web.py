"""Real servers on the loopback that behave, or misbehave, as told: the web of the fetch tests.

`Web` answers for every host name on one plain and one TLS port; CONNECT_TO leads the fetcher there. A page is bytes
(a whole raw response) or a coroutine that is given the writer. Every request is noted.
"""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar

import trustme

from sandcrawler.config import Config
from sandcrawler.fetch.live import Fetcher
from sandcrawler.model import Capture

Page = bytes | Callable[["Request", asyncio.StreamWriter], Awaitable[None]]
Result = TypeVar("Result")


def reply(body: bytes = b"", status: int = 200, **headers: str) -> bytes:
    """A raw HTTP response; `content_length=None` as a header leaves it out."""
    fields = {"content-type": "text/html", "content-length": str(len(body))}
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def moved(to: str, status: int = 302, **headers: str) -> bytes:
    return reply(b"", status, location=to, **headers)


@dataclass(frozen=True)
class Request:
    url: str
    headers: dict[str, str]
    raw: bytes
    at: float
    peer: int


@dataclass
class Web:
    """Pages by URL (scheme://host/path?query); `hosts` are the names that lead here, to `address`.

    On 127.0.0.2, say, it can be reached while all other addresses of the loopback stay forbidden.
    """

    pages: dict[str, Page]
    hosts: tuple[str, ...] = ("journal.example.org", "cdn.example.net", "other.example.com")
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    address: str = "127.0.0.1"

    async def __aenter__(self) -> Self:
        self.ca, context = _certificates(self.hosts)
        self._servers = [
            await asyncio.start_server(self._handle("http"), self.address, 0),
            await asyncio.start_server(self._handle("https"), self.address, 0, ssl=context),
        ]
        self.http, self.https = (server.sockets[0].getsockname()[1] for server in self._servers)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    def config(self, folder: Path | None = None, **more: Any) -> Config:
        ports = {80: self.http, 443: self.https, 8080: self.http}
        settings: dict[str, Any] = {
            "fetch_connect_to": {(h, p): (self.address, to) for h in self.hosts for p, to in ports.items()},
            "fetch_allow_addresses": "127.0.0.0/8" if self.address == "127.0.0.1" else f"{self.address}/32",
            "fetch_host_gap": 0,
            "fetch_host_parallel": 16,
            "fetch_robots": False,  # the tests of robots.txt turn it on
        }
        if folder:
            self.ca.cert_pem.write_to_path(str(folder / "ca.pem"))
            settings["fetch_ca_file"] = folder / "ca.pem"
        return Config(**{**settings, **more})

    def _handle(self, scheme: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            number = self.connections
            try:
                while await self._answer(scheme, reader, writer, number):
                    pass
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        return handle

    async def _answer(
        self, scheme: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> bool:
        raw = await reader.readuntil(b"\r\n\r\n")
        lines = raw.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        url = f"{scheme}://{headers['host']}{lines[0].split(' ')[1]}"
        request = Request(url, headers, raw, time.monotonic(), number)
        self.requests.append(request)
        page = self.pages.get(url, reply(b"not here", 404))
        if not isinstance(page, bytes):
            await page(request, writer)
            return False
        writer.write(page)
        await writer.drain()
        return b"content-length" in page.lower()


@lru_cache
def _certificates(hosts: tuple[str, ...]) -> tuple[trustme.CA, ssl.SSLContext]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*hosts).configure_cert(context)
    return authority, context


def run(work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(work)


async def fetched(web: Web, url: str, seconds: float = 20, folder: Path | None = None, **more: Any) -> Capture:
    """One URL through a fetcher of its own."""
    async with Fetcher(web.config(folder, **more)) as fetcher, fetcher.session() as session:
        return await session.get(url, time.monotonic() + seconds)


def get(pages: dict[str, Page], url: str, seconds: float = 20, **more: Any) -> tuple[Capture, Web]:
    """One URL of a web of these pages: the capture, and the web with what it was asked."""

    async def work() -> tuple[Capture, Web]:
        async with Web(pages) as web:
            return await fetched(web, url, seconds, **more), web

    return run(work())
