"""Two more measures of fetching: slow hosts beside quick ones, and small pages against Scrapy.

    python benchmarks/slots.py [--seconds 10] [--scrapy-pages 2000]

200 hosts whose latency is log-normal (median 200 ms, p99 5 s) are asked, one request to a host at a time, for so many
documents at once as a worker's window holds. `under_way` is how many requests are open on average; `busy` is that as
a share of 64 slots: documents that wait for a slow host hold a place in the window and no slot. Then the same small
pages are fetched by a worker's fetcher (guard, pacing, lists, robots.txt, digests) and by Scrapy, each on one core.
"""

import argparse
import asyncio
import json
import math
import multiprocessing
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

from prometheus_client import REGISTRY

from sandcrawler.config import Config
from sandcrawler.extract.sniff import file_meta
from sandcrawler.fetch.live import Fetcher
from sandcrawler.status import Status

BODY = b"<html><title>Nests</title>" + b"<p>Coastal colonies were counted.</p>" * 100
HOSTS = [f"host{n}.example.org" for n in range(200)]
MEDIAN, P99 = 0.2, 5.0
SIGMA = math.log(P99 / MEDIAN) / 2.326
SLOTS = 64
WINDOWS = (64, 128, 256)
TASKS = 16


def serve(ready: Connection) -> None:
    """Pages at once; /slow after a log-normal time; robots.txt allows all."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(BODY)
    latency = random.Random(1)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                if request.startswith(b"GET /robots.txt"):
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                if request.startswith(b"GET /slow"):
                    await asyncio.sleep(latency.lognormvariate(math.log(MEDIAN), SIGMA))
                writer.write(head + BODY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def config(port: int, parallel: int) -> Config:
    return Config(
        fetch_connect_to={(host, 80): ("127.0.0.1", port) for host in HOSTS},
        fetch_allow_addresses="127.0.0.0/8",
        fetch_host_gap=0,
        fetch_host_parallel=parallel,
    )


def in_turns() -> Iterator[str]:
    while True:
        yield from HOSTS


def at_random() -> Iterator[str]:
    choose = random.Random(2)
    while True:
        yield choose.choice(HOSTS)


def waited() -> float:
    """Seconds that requests of this process waited for their hosts."""
    return REGISTRY.get_sample_value("sandcrawler_fetch_seconds_sum", {"phase": "turn"}) or 0.0


async def under_way(port: int, hosts: Iterator[str], window: int, seconds: float) -> tuple[float, int]:
    """How many requests are open on average, and how many pages came."""
    pages, total = 0, 0.0
    async with Fetcher(config(port, 1)) as fetcher:
        end, before = time.monotonic() + seconds, waited()

        async def work() -> None:
            nonlocal pages, total
            while time.monotonic() < end:
                start = time.monotonic()
                async with fetcher.session() as session:
                    capture = await session.get(f"http://{next(hosts)}/slow", start + 300)
                pages += capture.status is Status.SUCCESS
                total += time.monotonic() - start

        await asyncio.gather(*(work() for _ in range(window)))
        return window * (1 - (waited() - before) / total), pages


async def small(port: int, count: int) -> float:
    """Pages per second of CPU and of the clock."""
    async with Fetcher(config(port, TASKS)) as fetcher:
        left = iter(range(count))

        async def work() -> None:
            for number in left:
                async with fetcher.session() as session:
                    url = f"http://{HOSTS[number % len(HOSTS)]}/page{number}"
                    capture = await session.get(url, time.monotonic() + 30)
                if capture.body is None:
                    raise RuntimeError(capture.error_message)
                file_meta(capture.body, "text/html", capture.terminal_url)

        start = time.process_time()
        await asyncio.gather(*(work() for _ in range(TASKS)))
        return count / (time.process_time() - start)


def scrapy_pages(port: int, count: int) -> float:
    """The same by Scrapy: pages per second of its CPU."""
    done = subprocess.run(
        [sys.executable, "-P", __file__, "--spider", str(port), str(count)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


def spider(port: int, count: int) -> None:
    """Scrapy's process."""
    import scrapy  # noqa: PLC0415  (only this child needs it)
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415

    seen = {"pages": 0, "start": 0.0, "seconds": 0.0}

    class Pages(scrapy.Spider):
        name = "pages"

        async def start(self):  # type: ignore[no-untyped-def]
            seen["start"] = time.process_time()
            for number in range(count):
                host = {"Host": HOSTS[number % len(HOSTS)]}
                yield scrapy.Request(f"http://127.0.0.1:{port}/page{number}", headers=host, dont_filter=True)

        def parse(self, response, **_):  # type: ignore[no-untyped-def]
            seen["pages"] += response.body == BODY

        def closed(self, _reason: str) -> None:
            seen["seconds"] = time.process_time() - seen["start"]

    settings = {"CONCURRENT_REQUESTS": TASKS, "CONCURRENT_REQUESTS_PER_DOMAIN": TASKS, "DOWNLOAD_DELAY": 0}
    more = {"LOG_LEVEL": "ERROR", "ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False, "COOKIES_ENABLED": True}
    crawler = CrawlerProcess({**settings, **more})
    crawler.crawl(Pages)
    crawler.start()
    if seen["pages"] != count:
        raise SystemExit(f"Scrapy got {seen['pages']} of {count} pages")
    print(json.dumps(count / seen["seconds"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--scrapy-pages", type=int, default=2000)
    parser.add_argument("--spider", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.spider:
        return spider(*options.spider)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    for order, hosts in (("in turns", in_turns()), ("at random", at_random())):
        for window in WINDOWS:
            opened, pages = asyncio.run(under_way(port, hosts, window, options.seconds))
            figures = {"under_way": round(opened, 1), "busy": round(min(1, opened / SLOTS), 3), "pages": pages}
            print(json.dumps({"measure": f"hosts {order}, a window of {window}", **figures}))
    us, them = asyncio.run(small(port, options.scrapy_pages)), scrapy_pages(port, options.scrapy_pages)
    print(
        json.dumps(
            {
                "measure": "small pages per second of one core",
                "sandcrawler": round(us),
                "scrapy": round(them),
                "ratio": round(us / them, 2),
            }
        )
    )
    server.terminate()
    return None


if __name__ == "__main__":
    main()
