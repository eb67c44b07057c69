"""Limits on time that leave out what a document waits for its neighbours."""

import asyncio
import time

import pytest

from sandcrawler.fetch.allowance import allowed, uncounted, waited


def test_time_that_counts_is_limited() -> None:
    async def work() -> None:
        async with allowed(0.05):
            await asyncio.sleep(60)

    start = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(work())
    assert time.monotonic() - start < 30


def test_waiting_puts_off_every_limit_that_it_is_in() -> None:
    async def work() -> float:
        async with allowed(1.8), allowed(1.5):
            with uncounted():
                await asyncio.sleep(2)
            await asyncio.sleep(0.05)
            return waited()

    assert asyncio.run(work()) > 1.9


def test_after_waiting_the_rest_of_the_time_counts() -> None:
    async def work() -> None:
        async with allowed(0.2):
            with uncounted():
                await asyncio.sleep(0.3)
            await asyncio.sleep(60)

    start = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(work())
    assert 0.4 < time.monotonic() - start < 30


def test_tasks_that_wait_at_the_same_time_put_off_once() -> None:
    async def wait() -> None:
        with uncounted():
            await asyncio.sleep(1)

    async def work() -> float:
        async with allowed(60), asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(wait())
        async with allowed(60):
            await asyncio.gather(*(wait() for _ in range(5)))
            return waited()

    assert 0.95 < asyncio.run(work()) < 4, "five times would be five"


def test_no_limit_and_no_waiting() -> None:
    async def work() -> float:
        with uncounted():
            await asyncio.sleep(0)
        async with allowed(None):
            with uncounted():
                await asyncio.sleep(0)
        return waited()

    assert asyncio.run(work()) == 0


def test_a_wait_that_outlives_its_limit_changes_nothing() -> None:
    """A task that was started within a limit may go on after it (another document's robots.txt)."""

    async def wait() -> None:
        with uncounted():
            await asyncio.sleep(0.1)

    async def work() -> None:
        async with allowed(0.05):
            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
        await task

    asyncio.run(work())
