"""The sandbox against extractors that hang, crash and eat memory, among good ones."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.fetch.allowance import allowed
from sandcrawler.ingest import sandbox
from sandcrawler.ingest.sandbox import Sandbox, extract_once
from sandcrawler.model import Extracted, Page
from sandcrawler.status import Status

MIB = 1 << 20
PAGE = Page(b"<html><title>Nests</title><p>Short.</p></html>", "https://journal.example.org/1")


def good(page: Page) -> Extracted:
    return Extracted(Status.SUCCESS, page.url)


def hang(page: Page) -> Extracted:
    while True:
        pass


def abort(page: Page) -> Extracted:
    os.abort()


def exhaust(page: Page) -> Extracted:
    hoard = [bytearray(256 * MIB)]
    while True:
        hoard.append(bytearray(256 * MIB))


def raise_error(page: Page) -> Extracted:
    raise ValueError("not a page")


STEPS = {name: f"{__name__}:{name}" for name in ("good", "hang", "abort", "exhaust", "raise_error")}
EXPECTED = {
    "good": Status.SUCCESS,
    "hang": Status.EXTRACT_TIMEOUT,
    "abort": Status.EXTRACT_CRASH,
    "exhaust": Status.EXTRACT_CRASH,
    "raise_error": Status.EXTRACT_CRASH,
}


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forkserver child finds this module by the parent's sys.path."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def config(**settings: object) -> Config:
    return Config(**{"extract_processes": 2, "extract_seconds": 20, "extract_bytes": 1024 * MIB, **settings})


def test_a_hostile_page_becomes_a_status_and_its_neighbours_do_not_notice() -> None:
    order = ["good", "hang", "good", "abort", "good", "exhaust", "good", "raise_error", "good"]

    async def run() -> list[Extracted]:
        async with Sandbox(config(), STEPS) as sandbox:
            return await asyncio.gather(*(sandbox.extract(step, PAGE) for step in order))

    answers = asyncio.run(run())
    assert [answer.status for answer in answers] == [EXPECTED[step] for step in order]
    assert all(answer.error_message for answer in answers)


def test_the_pool_goes_on_after_every_child_was_killed() -> None:
    async def run() -> list[Status]:
        async with Sandbox(config(extract_seconds=4), STEPS) as sandbox:
            await asyncio.gather(*(sandbox.extract("hang", PAGE) for _ in range(4)))
            return [(await sandbox.extract("good", PAGE)).status for _ in range(3)]

    assert asyncio.run(run()) == [Status.SUCCESS] * 3


def test_a_cancelled_call_frees_its_child() -> None:
    async def run() -> Status:
        async with Sandbox(config(extract_processes=1, extract_seconds=60), STEPS) as sandbox:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await sandbox.extract("hang", PAGE)
            return (await asyncio.wait_for(sandbox.extract("good", PAGE), 60)).status

    assert asyncio.run(run()) is Status.SUCCESS


def test_no_process_is_left_behind() -> None:
    async def run() -> set[int]:
        async with Sandbox(config(), STEPS) as sandbox:
            await asyncio.gather(*(sandbox.extract("good", PAGE) for _ in range(4)))
            hanging = asyncio.ensure_future(sandbox.extract("hang", PAGE))
            await asyncio.sleep(0.5)
            children = {child.pid for child in psutil.Process().children(recursive=True)}
            del hanging
            return children

    children = asyncio.run(run())
    extracting = [pid for pid in children if psutil.pid_exists(pid) and _works(pid)]
    assert children
    assert not extracting


def _works(pid: int) -> bool:
    """A process that still computes (the fork server and the resource tracker only wait)."""
    try:
        process = psutil.Process(pid)
        before = process.cpu_times().user
        time.sleep(0.2)
        return process.cpu_times().user - before > 0.1
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("step", EXPECTED)
def test_one_page_in_one_child(step: str) -> None:
    assert extract_once(step, PAGE, config(), STEPS).status is EXPECTED[step]


def test_one_child_is_cheap() -> None:
    extract_once("good", PAGE, config(), STEPS)

    def seconds(work: Callable[[], object]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    once = min(seconds(lambda: extract_once("good", PAGE, config(), STEPS)) for _ in range(5))
    program = [sys.executable, "-c", "import sandcrawler.extract.document"]
    assert once < seconds(lambda: subprocess.run(program, check=True)), "a fork of what is loaded already"


def test_real_extraction_in_the_pool() -> None:
    async def run() -> Extracted:
        async with Sandbox(config(extract_seconds=60)) as sandbox:
            return await sandbox.extract("html", PAGE)

    answer = asyncio.run(run())
    assert answer.html_biblio is not None
    assert answer.html_biblio.title == "Nests"


def test_operators_rules_reach_the_children(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("||cdn.example.net^\n")
    page = Page(b"<html><img src='https://cdn.example.net/a.png'><img src='/b.png'></html>", PAGE.url)
    answer = extract_once("html", page, config(extract_rules=rules, extract_seconds=60))
    assert [one.url for one in answer.wanted] == ["https://journal.example.org/b.png"]


def test_rules_that_cannot_be_read_are_told_at_the_start(tmp_path: Path) -> None:
    settings = config(extract_rules=tmp_path / "none.txt")
    with pytest.raises(ConfigurationError, match="EXTRACT_RULES"):
        Sandbox(settings)
    with pytest.raises(ConfigurationError, match="EXTRACT_RULES"):
        extract_once("good", PAGE, settings, STEPS)


def test_waiting_for_a_child_is_not_the_page_s_own_time() -> None:
    """Pages that hang hold every child for 8 s; their neighbours have four seconds each, and keep them."""

    async def page(sandbox: Sandbox, step: str, seconds: float) -> Extracted:
        async with allowed(seconds):
            return await sandbox.extract(step, PAGE)

    async def run() -> list[Extracted]:
        async with Sandbox(config(extract_processes=1, extract_seconds=4), STEPS) as sandbox:
            hanging = [page(sandbox, "hang", 120) for _ in range(2)]
            return await asyncio.gather(*hanging, *(page(sandbox, "good", 4) for _ in range(3)))

    statuses = [answer.status for answer in asyncio.run(run())]
    assert statuses == [Status.EXTRACT_TIMEOUT] * 2 + [Status.SUCCESS] * 3


def test_no_more_pages_are_copied_to_children_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> int:
        async with Sandbox(config(extract_processes=2, extract_seconds=60), STEPS) as sandbox:
            given = []
            schedule = sandbox._pool.schedule

            def count(*args: Any, **more: Any) -> Any:
                given.append(1)
                return schedule(*args, **more)

            monkeypatch.setattr(sandbox._pool, "schedule", count)
            pages = [asyncio.ensure_future(sandbox.extract("hang", PAGE)) for _ in range(5)]
            await asyncio.sleep(0.5)
            for page in pages:
                page.cancel()
            first = len(given)
            await asyncio.gather(*pages, return_exceptions=True)
            return first

    assert asyncio.run(run()) == 2


def _until_broken(sandbox: Sandbox) -> None:
    """Until the pool has noticed that its children are gone."""
    patience = time.monotonic() + 60
    while sandbox._pool.active:
        assert time.monotonic() < patience
        time.sleep(0.1)


def test_children_that_die_by_themselves_are_no_page_s_fault() -> None:
    """Something kills children that have no page: the pool is broken, which is ours; the next page gets a new one."""

    async def run() -> tuple[Status, int]:
        async with Sandbox(config(), STEPS) as sandbox:
            await sandbox.extract("good", PAGE)
            for child in sandbox._pool._pool_manager.worker_manager.workers.values():
                os.kill(child.pid or 0, signal.SIGKILL)
            await asyncio.to_thread(_until_broken, sandbox)
            faults = 0
            while True:
                try:
                    return (await sandbox.extract("good", PAGE)).status, faults
                except Unavailable:
                    faults += 1
                    assert faults < 3

    status, faults = asyncio.run(run())
    assert status is Status.SUCCESS
    assert faults == 1


def test_children_that_cannot_start_are_no_page_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation stops the worker at its start, in place of a time-out for every page."""
    monkeypatch.setattr(sandbox, "START_SECONDS", 5.0)

    async def enter() -> None:
        async with Sandbox(Config(extract_processes=1), {"html": "sandcrawler.no_such_module:extract"}):
            pass

    with pytest.raises(Unavailable, match="do not start"):
        asyncio.run(enter())
    with pytest.raises(Unavailable, match="does not start"):
        extract_once("html", PAGE, config(), {"html": "sandcrawler.no_such_module:extract"})
