"""What recording costs, and how fast a WARC is indexed and read: `python benchmarks/warc.py`.

Pages with 20 images of 30 KB on the loopback, fetched with and without a recorder in one run; then 5,000 records of
30 KB indexed and read by URL. Bodies are random, which is the dearest case for gzip.
"""

import asyncio
import random
import tempfile
import time
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from sandcrawler.config import Config
from sandcrawler.demo.documents import Answer
from sandcrawler.demo.server import running
from sandcrawler.fetch.base import Exchange
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.recording import Recording
from sandcrawler.fetch.warc import WarcFetcher
from sandcrawler.fetch.warcfile import WarcFile

HOST, PARTS, PAGES, RECORDS = "http://journal.example.org", 20, 40, 5_000
BODY = random.Random(0).randbytes(30_000)


async def fetch(config: Config, record: bool) -> tuple[float, float]:
    """Wall and CPU seconds for all pages, one after another."""
    wall, cpu = time.perf_counter(), time.process_time()
    async with Fetcher(config) as fetcher:
        for page in range(PAGES):
            recording = Recording(config) if record else None
            async with fetcher.session(recording) as session:
                await asyncio.gather(*(session.get(f"{HOST}/{n}?{page}") for n in range(PARTS + 1)))
            if recording:
                await recording.file()
                await recording.close()
    return time.perf_counter() - wall, time.process_time() - cpu


def answers() -> dict[str, Answer]:
    urls = [f"{HOST}/{n}?{page}" for n in range(PARTS + 1) for page in range(PAGES)]
    return {url: Answer(url=url, type="image/png", body=url.encode() + BODY) for url in urls}


async def read(path: Path, size: int, config: Config) -> dict[str, Any]:
    begin = time.perf_counter()
    async with WarcFetcher(config, str(path)) as fetcher, fetcher.session() as session:
        indexed = time.perf_counter()
        for number in range(0, RECORDS, 10):
            assert (await session.get(f"{HOST}/{number}")).body
        done = time.perf_counter()
    return {"index": f"{size / 1e6 / (indexed - begin):.0f} MB/s", "reads": f"{RECORDS / 10 / (done - indexed):.0f}/s"}


def write(path: Path) -> None:
    with path.open("wb") as file:
        warc = WarcFile(file, {"software": "benchmark"})
        for number in range(RECORDS):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
            exchange = Exchange(f"{HOST}/{number}", datetime.now(UTC), None, b"GET / HTTP/1.1\r\n\r\n", head)
            warc.add(exchange, BytesIO(b"%d" % number + BODY), None, revisits=False)


def main() -> None:
    with running(answers().values()) as web:
        config = Config(
            fetch_connect_to=web.connect_to,  # type: ignore[arg-type]
            fetch_allow_addresses="127.0.0.0/8",  # type: ignore[arg-type]
            fetch_host_gap=0,
            fetch_host_parallel=16,
            fetch_robots=False,
        )
        asyncio.run(fetch(config, record=False))
        for record in (False, True):
            wall, cpu = asyncio.run(fetch(config, record=record))
            print(f"record={record}: {1000 * wall / PAGES:.1f} ms and {1000 * cpu / PAGES:.1f} CPU-ms a page")
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        path = Path(folder, "b.warc.gz")
        write(path)
        print(f"write: {RECORDS / (time.perf_counter() - begin):.0f} exchanges/s")
        print(asyncio.run(read(path, path.stat().st_size, Config())))


if __name__ == "__main__":
    main()
