"""A worker that only extracts, run as a program by the tests that kill it: `lone_worker.py STEP`.

Prints "ready" when its children work, and the status at the end.
"""

import asyncio
import re
import signal
import sys
import time

from sandcrawler.config import Config
from sandcrawler.ingest.sandbox import Sandbox
from sandcrawler.model import Extracted, Page
from sandcrawler.status import Status


def slow(page: Page) -> Extracted:
    time.sleep(3)
    return Extracted(Status.SUCCESS)


def hang(page: Page) -> Extracted:
    while True:
        pass


def hang_in_c(page: Page) -> Extracted:
    re.match(r"(a*)*b", "a" * 100)  # one call that never returns, and lets no other thread run
    return Extracted(Status.SUCCESS)


STEPS = {name: f"tests.ingest.lone_worker:{name}" for name in ("slow", "hang", "hang_in_c")}


async def main(step: str) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):  # as a worker that finishes what it has
        loop.add_signal_handler(number, lambda: None)
    async with Sandbox(Config(extract_processes=2, extract_seconds=60), STEPS) as sandbox:
        page = Page(b"<p>x</p>", "https://journal.example.org/1")
        answers = [asyncio.ensure_future(sandbox.extract(step, page)) for _ in range(2)]
        await asyncio.sleep(1)
        print("ready", flush=True)
        print(*[(await answer).status for answer in answers], flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
