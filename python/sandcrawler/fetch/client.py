"""The HTTP client of one document: what it says of itself, its limits, and what of it is shown to a watcher."""

import aiohttp

from sandcrawler.config import Config
from sandcrawler.fetch import decode, exchange
from sandcrawler.fetch.watch import Watch, tracing

HEADER_BYTES = 1 << 16  # one line; content security policies of 10 KB are common
HEADERS = 256


def client(
    config: Config, connector: aiohttp.BaseConnector, jar: aiohttp.CookieJar, watch: Watch | None
) -> aiohttp.ClientSession:
    """A client over shared connections. Nothing is taken from the environment, and no body is decompressed."""
    return aiohttp.ClientSession(
        connector=connector,
        connector_owner=False,
        cookie_jar=jar,
        auto_decompress=False,
        trust_env=False,
        headers={
            "User-Agent": config.fetch_user_agent,
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Language": "en,*;q=0.5",
            "Accept-Encoding": decode.ACCEPTED,
        },
        timeout=aiohttp.ClientTimeout(
            total=None,
            connect=config.fetch_connect_seconds,
            sock_connect=config.fetch_connect_seconds,
            sock_read=config.fetch_read_seconds,
        ),
        max_line_size=HEADER_BYTES,
        max_field_size=HEADER_BYTES,
        max_headers=HEADERS,
        response_class=exchange.Response,
        trace_configs=[tracing(watch)] if watch else None,
    )
