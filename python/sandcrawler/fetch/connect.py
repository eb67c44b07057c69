"""Where connections are made: the address guard at the socket itself, CONNECT_TO, and trusted roots.

The guard stands twice. When a name or literal is resolved, forbidden addresses are dropped; when a socket is made for
an address, that very address is checked again. There is no second look-up in between, so an answer that changes
(DNS rebinding) changes nothing. Redirects and sub-resources make connections here like everything else.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Network, IPv6Network
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler

from sandcrawler.config import Config
from sandcrawler.fetch import metrics
from sandcrawler.fetch.address import refusal
from sandcrawler.fetch.protocol import Patient
from sandcrawler.fetch.watch import Watch

RESOLVER_THREADS = 32
DNS_SECONDS = 60


class ForbiddenAddress(OSError):
    """No connection: every address that the name has is forbidden."""


class SystemResolver(AbstractResolver):
    """The system's resolver in threads of its own: a slow name server must not hold up other work in threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVER_THREADS, "resolver")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        name = host.encode("ascii")  # as text, Python's own IDN codec would refuse odd but harmless names
        answer = await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: socket.getaddrinfo(name, port, family=family, type=socket.SOCK_STREAM)
        )
        return [
            ResolveResult(hostname=host, host=str(found[0]), port=port, family=kind, proto=proto, flags=0)
            for kind, _, proto, _, found in answer
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class GuardedConnector(aiohttp.TCPConnector):
    """aiohttp's connector with the guard in it, and with CONNECT_TO, which moves the socket and nothing else."""

    def __init__(
        self,
        moved: Mapping[tuple[str, int], tuple[str, int]],
        exempt: tuple[IPv4Network | IPv6Network, ...],
        tls: ssl.SSLContext,
        resolver: AbstractResolver,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(
            ssl=tls,
            resolver=resolver,
            ttl_dns_cache=DNS_SECONDS,
            socket_factory=self._open,
            limit=0,  # the hosts' slots and the worker's window are the limits
        )
        self._factory = partial(Patient, loop=self._loop)  # type: ignore[assignment]
        self._moved = moved
        self._exempt = exempt
        self._watch = watch

    async def _resolve_host(self, host: str, port: int, traces: Any = None) -> list[ResolveResult]:
        name = host.rstrip(".")
        host, port = self._moved.get((name, port), (host, port))
        if name == "localhost" or name.endswith(".localhost"):  # whatever a name server says (RFC 6761)
            host = "127.0.0.1"
        start = time.monotonic()
        found = await super()._resolve_host(host, port, traces=traces)
        seconds = time.monotonic() - start
        metrics.DNS.observe(seconds)
        reasons = [refusal(each["host"], self._exempt) for each in found]
        allowed = [each for each, reason in zip(found, reasons, strict=True) if not reason]
        if self._watch:
            verdicts = (f"{each['host']} ({reason or 'allowed'})" for each, reason in zip(found, reasons, strict=True))
            self._watch("*", f"{name} is {', '.join(verdicts)}; looked up in {seconds:.3f} s")
        if found and not allowed:
            raise ForbiddenAddress("; ".join(dict.fromkeys(filter(None, reasons))))
        return allowed

    async def _wrap_create_connection(self, *args: Any, **kwargs: Any) -> tuple[asyncio.Transport, ResponseHandler]:
        """aiohttp's, timed: it asks for the protocol between connecting and TLS."""
        moments = [time.monotonic()]

        def connected() -> Any:
            moments.append(time.monotonic())
            return args[0]()

        transport, protocol = await super()._wrap_create_connection(connected, *args[1:], **kwargs)
        tcp, tls = moments[-1] - moments[0], time.monotonic() - moments[-1]
        metrics.CONNECT.observe(tcp)
        secure = transport.get_extra_info("ssl_object")
        if secure:
            metrics.TLS.observe(tls)
        if self._watch:
            self._watch("*", f"connected to {transport.get_extra_info('peername')[0]} in {tcp:.3f} s")
            if secure:
                self._watch("*", f"{secure.version()}, {secure.cipher()[0]}, certificate trusted; in {tls:.3f} s")
        return transport, protocol

    def _open(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, proto, _, address = info
        reason = refusal(address[0], self._exempt)
        if reason:
            raise ForbiddenAddress(reason)
        return socket.socket(family, kind, proto)


def connector(config: Config, resolver: AbstractResolver, watch: Watch | None = None) -> GuardedConnector:
    """The connector of one worker, within a running loop."""
    tls = ssl.create_default_context()
    if config.fetch_ca_file:
        tls.load_verify_locations(config.fetch_ca_file)
    return GuardedConnector(config.fetch_connect_to, config.fetch_allow_addresses, tls, resolver, watch)
