"""What a fetcher does, told line by line to somebody who watches, as `curl -v` does.

A watcher gets a mark and a line: `*` what was decided or measured, `>` what was sent, `<` what came. Without a watcher
nothing of this is made.
"""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import aiohttp

Watch = Callable[[str, str], None]


def tracing(watch: Watch) -> aiohttp.TraceConfig:
    """aiohttp's hooks, each told as lines. Times are seconds since the request was begun."""

    async def begun(_: Any, request: SimpleNamespace, __: Any) -> None:
        request.began = time.monotonic()
        request.received = 0

    async def reused(_: Any, __: SimpleNamespace, ___: Any) -> None:
        watch("*", "an open connection is used again")

    async def sent(_: Any, __: SimpleNamespace, head: aiohttp.TraceRequestHeadersSentParams) -> None:
        watch(">", f"{head.method} {head.url.raw_path_qs} HTTP/1.1")
        for name, value in head.headers.items():
            watch(">", f"{name}: {value}")

    async def headed(_: Any, request: SimpleNamespace, end: aiohttp.TraceRequestEndParams) -> None:
        response = end.response
        version = response.version or aiohttp.HttpVersion11
        watch("<", f"HTTP/{version.major}.{version.minor} {response.status} {response.reason or ''}".rstrip())
        for name, value in response.raw_headers:
            watch("<", f"{name.decode('latin-1')}: {value.decode('latin-1')}")
        watch("*", f"the head came after {_since(request)}")

    async def failed(_: Any, request: SimpleNamespace, end: aiohttp.TraceRequestExceptionParams) -> None:
        watch("*", f"{type(end.exception).__name__} after {_since(request)}")

    config = aiohttp.TraceConfig()
    config.on_request_start.append(begun)
    config.on_connection_reuseconn.append(reused)
    config.on_request_headers_sent.append(sent)
    config.on_request_end.append(headed)
    config.on_request_exception.append(failed)
    return config


def _since(request: SimpleNamespace) -> str:
    return f"{time.monotonic() - request.began:.3f} s"
