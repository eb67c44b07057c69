"""The address guard (checklist H43, H44): a canary listens, and nothing reaches it."""

import asyncio
import socket
import time
from ipaddress import ip_network
from typing import Any

import pytest
from aiohttp.abc import ResolveResult

from sandcrawler.config import Config
from sandcrawler.fetch.address import refusal
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.connect import SystemResolver
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.fetch.spn import SpnFetcher
from sandcrawler.model import WantedResource
from sandcrawler.status import Status

from .savepage import Archive, Saved, now
from .test_spn import at_once, public
from .web import Web, get, moved, reply, run

SITE = "http://journal.example.org"
ADDRESSES = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.127.255.255",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "168.63.129.16",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "4000::1",
    "5f00::1",
]


@pytest.mark.parametrize(
    "address",
    ADDRESSES,
)
def test_h43_forbidden_addresses(address: str) -> None:
    assert refusal(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "2a00::1"]
)
def test_public_addresses(address: str) -> None:
    assert refusal(address) is None


def test_exempt_networks_are_exempt_and_what_they_carry_is_not() -> None:
    intranet = (ip_network("10.1.0.0/16"),)
    assert refusal("10.1.2.3", intranet) is None
    assert refusal("10.2.2.3", intranet)
    nat64 = (ip_network("64:ff9b::/96"),)
    assert refusal("64:ff9b::808:808", nat64) is None
    assert refusal("64:ff9b::7f00:1", nat64)
    assert refusal("::ffff:10.1.2.3", intranet)


class Canary:
    """Listens on IPv4 and IPv6 loopback, and counts connections."""

    async def __aenter__(self) -> "Canary":
        self.heard = 0

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.heard += 1
            writer.close()

        self._server = await asyncio.start_server(handle, "0.0.0.0", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        try:
            self._other: Any = await asyncio.start_server(handle, "::1", self.port)
        except OSError:  # no IPv6 here
            self._other = None
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        if self._other:
            self._other.close()


class Rebinding(SystemResolver):
    """A name server under an attacker's control: the first answer is public, every later one is the canary's."""

    def __init__(self, answers: list[list[str]]) -> None:
        super().__init__()
        self.answers = answers
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_UNSPEC) -> list[ResolveResult]:
        found = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [ResolveResult(hostname=host, host=a, port=port, family=family, proto=0, flags=0) for a in found]


SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0x7F.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "00000177.1",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "１２７.0.0.1",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "%31%32%37.0.0.1",
    "12\t7.0.0.1",
    "user:pass@127.0.0.1",
    "journal.example.org@127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
]


def _by_url(host: str, port: int) -> dict[str, Any]:
    return {"url": f"http://{host}:{port}/", "pages": {}}


def _by_redirect(host: str, port: int) -> dict[str, Any]:
    return {"url": f"{SITE}/a", "pages": {f"{SITE}/a": moved(f"http://{host}:{port}/").replace(b"\t", b"%09")}}


@pytest.mark.parametrize("route", [_by_url, _by_redirect])
def test_h43_no_spelling_reaches_the_canary(route: Any) -> None:
    async def work() -> dict[str, Status]:
        found = {}
        async with Canary() as canary, Web({}, address="127.0.0.2") as web:
            for host in SPELLINGS:
                if not host.isascii() and route is _by_redirect:
                    continue  # not in a header
                made = route(host, canary.port)
                web.pages = made["pages"]
                config = web.config(fetch_allow_ports=(canary.port,))
                async with Fetcher(config) as fetcher, fetcher.session() as session:
                    found[host] = (await session.get(made["url"], time.monotonic() + 60)).status
            assert canary.heard == 0
        return found

    # "12<tab>7" in a URL is 127; %09 in a host is no URL at all.
    for host, status in run(work()).items():
        assert status is Status.BLOCKED_ADDRESS or (status is Status.BAD_URL and "\t" in host), host


@pytest.mark.parametrize(
    ("backend", "route"),
    [
        *((backend, route) for backend in ("wayback", "spn", "wayback-then-live") for route in ("url", "redirect")),
        ("live-then-wayback", "url"),
    ],
)
def test_h43_no_back_end_reaches_it_or_tells_an_archive_of_it(backend: str, route: str) -> None:
    """An archive is told of nothing that is this network's own; a redirect that it has may still lead there."""

    async def work() -> dict[str, Status]:
        found = {}
        async with Canary() as canary, Archive(address="127.0.0.2") as archive:
            settings = archive.config(fetch_allow_ports=(canary.port,), fetch_connect_seconds=2)
            for host in SPELLINGS:
                url = f"http://{host}:{canary.port}/"
                if route == "redirect":
                    if not host.isascii() or "\t" in host:
                        continue  # not in a header
                    moved_to = Saved(now(), b"", 302, {"Location": url})
                    url = f"{SITE}/a"
                    archive.captures = {url: [moved_to]}
                archive.asked.clear()
                fetcher = open_fetcher(settings, backend)
                if backend == "spn":
                    fetcher = SpnFetcher(settings, sleeper=at_once, addresses=public)
                async with fetcher, fetcher.session() as session:
                    found[host] = (await session.get(url, time.monotonic() + 60)).status
                asked = {value for each in archive.asked for value in each[2].values()}
                assert not any(str(canary.port) in value for value in asked), (host, asked)
            assert canary.heard == 0
        return found

    statuses = run(work())
    assert len(statuses) > 24
    assert set(statuses.values()) == {Status.BLOCKED_ADDRESS}, statuses


def test_h43_nor_does_a_sub_resource() -> None:
    async def work() -> None:
        async with Canary() as canary:
            config = Config(fetch_allow_ports=(canary.port,), fetch_host_gap=0)
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                url = f"http://127.0.0.1:{canary.port}/x.png"
                found, missing = await capture_resources(
                    session, [WantedResource(url=url, resource_type="image")], time.monotonic() + 60, Bounds(4)
                )
            assert found == ()
            assert [each.status for each in missing] == [Status.BLOCKED_ADDRESS]
            assert canary.heard == 0

    run(work())


def test_h43_connect_to_is_checked_too() -> None:
    capture, web = get({f"{SITE}/a": reply(b"x")}, f"{SITE}/a", fetch_allow_addresses="10.0.0.0/8")
    assert capture.status is Status.BLOCKED_ADDRESS
    assert "127.0.0.1 is loopback" in (capture.error_message or "")
    assert web.connections == 0


@pytest.mark.parametrize(
    "answers",
    [
        [["127.0.0.1"]],
        [["::1", "127.0.0.1"]],
        [["10.0.0.7", "127.0.0.1", "::ffff:127.0.0.1"]],
        [["192.0.2.1"], ["127.0.0.1"]],
    ],
)
def test_h44_answers_of_the_name_server(answers: list[list[str]]) -> None:
    async def work() -> None:
        async with Canary() as canary:
            config = Config(fetch_allow_ports=(canary.port,), fetch_host_gap=0)
            async with Fetcher(config) as fetcher:
                fetcher._connector._resolver = Rebinding(answers)  # type: ignore[union-attr]
                for _ in range(3):
                    async with fetcher.session() as session:
                        capture = await session.get(f"http://rebind.example.org:{canary.port}/", time.monotonic() + 60)
                        assert capture.status is Status.BLOCKED_ADDRESS
                    fetcher._connector.clear_dns_cache()  # type: ignore[union-attr]
            assert canary.heard == 0

    run(work())


def test_h44_a_socket_is_checked_by_itself() -> None:
    """Even an address that no look-up check saw gets no socket."""

    async def work() -> None:
        async with Fetcher(Config()) as fetcher:
            with pytest.raises(OSError, match="loopback"):
                fetcher._connector._open((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80)))  # type: ignore[union-attr]

    run(work())


def test_ports_are_a_table() -> None:
    for port, status in ((22, Status.BLOCKED_ADDRESS), (0, Status.BLOCKED_ADDRESS), (9200, Status.BLOCKED_ADDRESS)):
        capture, web = get({}, f"{SITE}:{port}/")
        assert (capture.status, web.connections) == (status, 0)
    assert get({f"{SITE}:8080/": reply(b"x")}, f"{SITE}:8080/")[0].status is Status.SUCCESS
    capture, _ = get({f"{SITE}/a": moved("http://journal.example.org:6379/")}, f"{SITE}/a")
    assert (capture.status, capture.hops) == (Status.BLOCKED_ADDRESS, (f"{SITE}/a",))


def test_connect_to_works_for_hosts_that_are_addresses() -> None:
    async def work() -> None:
        async with Web({"http://8.8.8.8/a": reply(b"x")}, hosts=("8.8.8.8", "2001:4860::1")) as web:
            web.pages["http://[2001:4860::1]/a"] = reply(b"y")
            async with Fetcher(web.config()) as fetcher, fetcher.session() as session:
                assert (await session.get("http://8.8.8.8/a")).body == b"x"
                assert (await session.get("http://[2001:4860::1]/a")).body == b"y"
            assert [request.headers["host"] for request in web.requests] == ["8.8.8.8", "[2001:4860::1]"]

    run(work())


def test_proxies_and_passwords_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert get({f"{SITE}/a": reply(b"x")}, f"{SITE}/a")[0].status is Status.SUCCESS
