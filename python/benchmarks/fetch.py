"""How fast pages are fetched, against bare aiohttp in the same run, and sub-resources against one after another.

    python benchmarks/fetch.py [--seconds 3]

Prints a JSON line for each measure. The server runs in a process of its own on the loopback, so the clients' share of
one core is what is measured.
"""

import argparse
import asyncio
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection

import aiohttp

from sandcrawler.config import Config
from sandcrawler.extract.sniff import file_meta
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.model import WantedResource
from sandcrawler.status import Status

BODY = b"<html><title>Nests</title>" + b"<p>Coastal colonies were counted.</p>" * 100
TASKS = 16
DELAY = 0.1
RESOURCES = 20
HOSTS = [f"host{n}.example.org" for n in range(8)]


def serve(ready: Connection) -> None:
    """Pages at once; /slow/… after DELAY seconds."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(BODY)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                if request.startswith(b"GET /slow"):
                    await asyncio.sleep(DELAY)
                writer.write(head + BODY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def config(port: int) -> Config:
    return Config(
        fetch_connect_to={(host, 80): ("127.0.0.1", port) for host in HOSTS},
        fetch_allow_addresses="127.0.0.0/8",
        fetch_host_gap=0,
        fetch_host_parallel=TASKS,
    )


async def per_second(seconds: float, one: Callable[[int], Awaitable[None]]) -> float:
    """Pages per second by TASKS tasks."""
    end, count = time.perf_counter() + seconds, 0

    async def work(task: int) -> None:
        nonlocal count
        while time.perf_counter() < end:
            await one(task)
            count += 1

    await asyncio.gather(*map(work, range(TASKS)))
    return count / seconds


async def bare(port: int, seconds: float) -> float:
    async with aiohttp.ClientSession() as http:

        async def one(_: int) -> None:
            async with http.get(f"http://127.0.0.1:{port}/page") as response:
                if await response.read() != BODY:
                    raise RuntimeError("a wrong page")

        return await per_second(seconds, one)


async def documents(port: int, seconds: float) -> float:
    """As a worker does it: a session for each page, guard, pacing, decoding; and the digests."""
    async with Fetcher(config(port)) as fetcher:

        async def one(task: int) -> None:
            async with fetcher.session() as session:
                capture = await session.get(f"http://{HOSTS[task % len(HOSTS)]}/page", time.monotonic() + 10)
            if capture.status is not Status.SUCCESS or capture.body is None:
                raise RuntimeError(capture.error_message)
            file_meta(capture.body, "text/html", capture.terminal_url)

        return await per_second(seconds, one)


async def resources(port: int, parallel: int) -> float:
    """Seconds for one page's sub-resources from four hosts."""
    wanted = [
        WantedResource(url=f"http://{HOSTS[n % 4]}/slow/{n}.png", resource_type="image") for n in range(RESOURCES)
    ]
    async with Fetcher(config(port)) as fetcher, fetcher.session() as session:
        start = time.perf_counter()
        found, missing = await capture_resources(session, wanted, time.monotonic() + 60, Bounds(parallel))
        if missing or len(found) != RESOURCES:
            raise RuntimeError(missing)
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=3)
    seconds = parser.parse_args().seconds
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    plain, whole = asyncio.run(bare(port, seconds)), asyncio.run(documents(port, seconds))
    print(
        json.dumps(
            {
                "measure": "pages per second",
                "aiohttp": round(plain),
                "sandcrawler": round(whole),
                "ratio": round(whole / plain, 2),
            }
        )
    )
    at_once = config(port).ingest_resources_parallel
    serial, parallel = asyncio.run(resources(port, 1)), asyncio.run(resources(port, at_once))
    print(
        json.dumps(
            {
                "measure": f"{RESOURCES} sub-resources at {DELAY} s from 4 hosts, seconds",
                "serial": round(serial, 3),
                "parallel": round(parallel, 3),
                "ratio": round(serial / parallel, 1),
            }
        )
    )
    server.terminate()


if __name__ == "__main__":
    main()
