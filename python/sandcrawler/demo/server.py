"""A small web on the loopback: many host names, one port, every answer from a table.

    async with serve() as web:        # in an event loop
    with running() as web:            # from ordinary code: the server has its own thread and loop
        web.connect_to                # for SANDCRAWLER_FETCH_CONNECT_TO: every host leads here

The answers default to the example site; tests and benchmarks hand in their own. The host comes from the Host header,
so nothing resolves names. Each host has a robots.txt that allows all, unless the table gives another. With
`tls=True` the same answers also stand behind TLS, under a throw-away authority (`ca_file`; needs trustme).
"""

import asyncio
import ssl
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from sandcrawler.demo.documents import Answer, answers, hosts, original

LOOPBACK = "127.0.0.1"
ROBOTS = b"User-agent: *\nAllow: /\n"
# Pieces of a dripped body: enough that a reader sees a trickle, few enough that the loop hardly notices.
DRIPS = 20
# How long the end waits for answers that are under way (for aiohttp, 0 means for ever).
GRACE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Access:
    """One line of the access log: what was asked, by whom, and the status of the answer."""

    url: str
    status: int
    user_agent: str


AccessLog = Callable[[Access], None]


@dataclass(frozen=True, slots=True)
class Web:
    """A running server. `connect_to` is a value for SANDCRAWLER_FETCH_CONNECT_TO."""

    hosts: tuple[str, ...]
    port: int
    tls_port: int | None = None
    ca_file: Path | None = None

    @property
    def connect_to(self) -> str:
        """Every host's port 80 (and 443, with TLS) led to this server."""
        ports = {80: self.port} | ({443: self.tls_port} if self.tls_port else {})
        return ",".join(f"{host}:{near}:{LOOPBACK}:{far}" for host in self.hosts for near, far in ports.items())


def _ignore(_: Access) -> None:
    pass


@asynccontextmanager
async def serve(
    site: Iterable[Answer] | None = None,
    *,
    port: int = 0,
    tls: bool = False,
    distinct: bool = False,
    log: AccessLog = _ignore,
) -> AsyncIterator[Web]:
    """Serve these answers (the example site's, if none are given) until the block ends. Port 0 takes a free one.

    `distinct`: copies (`?copy=17`) of HTML and XML differ in their bytes, instead of being one document at many URLs.
    """
    known = tuple(site if site is not None else answers())
    names = hosts(known)
    runner = web.ServerRunner(
        web.Server(_handler(known, distinct, log), access_log=None), shutdown_timeout=GRACE_SECONDS
    )
    await runner.setup()
    with ExitStack() as stack:
        try:
            await web.TCPSite(runner, LOOPBACK, port).start()
            ca_file = None
            if tls:
                context, ca_file = stack.enter_context(_authority(names))
                await web.TCPSite(runner, LOOPBACK, 0, ssl_context=context).start()
            ports = [address[1] for address in runner.addresses]
            yield Web(tuple(names), ports[0], ports[1] if tls else None, ca_file)
        finally:
            await runner.cleanup()


@contextmanager
def running(
    site: Iterable[Answer] | None = None,
    *,
    port: int = 0,
    tls: bool = False,
    distinct: bool = False,
    log: AccessLog = _ignore,
) -> Iterator[Web]:
    """`serve` for ordinary code, in a thread of its own. `log` is called from that thread."""
    started: list[Web | BaseException] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def work() -> None:
        async with serve(site, port=port, tls=tls, distinct=distinct, log=log) as opened:
            started.append(opened)
            ready.set()
            await stop.wait()

    def body() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(work())
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread, if it still waits)
            started.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=body, name="example-web", daemon=True)
    thread.start()
    ready.wait()
    opened = started[0]
    if isinstance(opened, BaseException):
        thread.join()
        raise opened
    try:
        yield opened
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def _handler(
    site: Iterable[Answer], distinct: bool, log: AccessLog
) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """The answer to any request; 404 for what the table does not know."""
    by_url = {_without_scheme(answer.url): answer for answer in site}
    robots = {host: Answer(url=f"http://{host}/robots.txt", type="text/plain", body=ROBOTS) for host in hosts(site)}

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        host = (request.host or "").partition(":")[0].lower()
        url, copy = original(host + request.raw_path)
        answer = by_url.get(url)
        if answer and copy and distinct:
            answer = answer.marked(copy)
        if answer:
            answer = answer.unless(request.headers)
        if answer is None and request.raw_path == "/robots.txt":
            answer = robots.get(host)
        if answer is None:
            answer = Answer(url=str(request.url), status=404, type="text/plain", body=b"Not found\n")
        log(
            Access(f"{request.scheme}://{host}{request.raw_path}", answer.status, request.headers.get("User-Agent", ""))
        )
        return await _respond(request, answer)

    return handle


async def _respond(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
    if answer.delay:
        await asyncio.sleep(answer.delay)
    if not answer.drip:
        return web.Response(status=answer.status, headers=answer.sent_headers(), body=answer.body)
    response = web.StreamResponse(status=answer.status, headers=answer.sent_headers())
    response.content_length = len(answer.body)
    await response.prepare(request)
    size = max(1, -(-len(answer.body) // DRIPS))
    for start in range(0, len(answer.body), size):
        await response.write(answer.body[start : start + size])
        await asyncio.sleep(answer.drip / DRIPS)
    await response.write_eof()
    return response


def _without_scheme(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")


@contextmanager
def _authority(names: Iterable[str]) -> Iterator[tuple[ssl.SSLContext, Path]]:
    """A server context whose certificate stands for these names, and the file of the authority that signed it."""
    import trustme  # noqa: PLC0415  (of the test extra; the demo speaks plain HTTP)

    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    with tempfile.TemporaryDirectory(prefix="sandcrawler-web-") as folder:
        ca_file = Path(folder) / "ca.pem"
        ca_file.write_bytes(authority.cert_pem.bytes())
        yield context, ca_file
