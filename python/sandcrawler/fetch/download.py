"""A large file of the web on this machine's disk, through the address guard, piece by piece."""

import tempfile
from typing import IO

import aiohttp
from yarl import URL

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch import faults
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.connect import SystemResolver, connector
from sandcrawler.fetch.target import read
from sandcrawler.status import Status

LARGEST = 64 << 30
PIECE = 1 << 20


async def downloaded(url: str, config: Config) -> IO[bytes]:
    """A temporary file with what the URL has, gone when it is closed. ConfigurationError: it cannot be had."""
    file, resolver = tempfile.NamedTemporaryFile(suffix=".warc"), SystemResolver()  # noqa: SIM115  (the caller's)
    try:
        target = read(url, more_ports=config.fetch_allow_ports)
        async with aiohttp.ClientSession(
            connector=connector(config, resolver),
            auto_decompress=False,
            trust_env=False,
            headers={"User-Agent": config.fetch_user_agent, "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=config.fetch_connect_seconds, sock_read=config.fetch_read_seconds
            ),
        ) as http:
            await _copy(http, target.url, file)
    except BaseException as error:
        file.close()
        if isinstance(error, (Refused, *faults.CAUGHT)):
            raise ConfigurationError(f"{url}: it cannot be fetched: {faults.text(error)}") from error
        raise
    finally:
        await resolver.close()
    return file


async def _copy(http: aiohttp.ClientSession, url: str, file: IO[bytes]) -> None:
    size = 0
    async with http.get(URL(url, encoded=True), raise_for_status=True) as response:
        async for piece in response.content.iter_chunked(PIECE):
            size += len(piece)
            if size > LARGEST:
                raise Refused(Status.BODY_TOO_LARGE, f"more than {LARGEST} bytes")
            file.write(piece)
    file.flush()
