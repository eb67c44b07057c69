"""The bytes that a worker's documents hold together."""

import asyncio
import gzip
import time
from pathlib import Path

import pytest

from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.budget import FREE_BYTES, Budget, Holding, shared
from sandcrawler.fetch.live import Fetcher
from sandcrawler.status import Status

from .savepage import Archive, Saved
from .test_warc import written
from .web import Page, Web, reply, run

SITE = "http://journal.example.org"
LARGE = b"<html>" + b" " * (2 * FREE_BYTES)


def test_who_comes_first_is_served_first() -> None:
    async def work() -> list[str]:
        budget, served = Budget(10), []

        async def one(name: str, size: int) -> None:
            took = await budget.take(size)
            served.append(name)
            await asyncio.sleep(0.01)
            budget.give(took)

        await asyncio.gather(one("a", 8), one("large", 10), one("small", 1))
        assert budget.free == 10
        return served

    assert run(work()) == ["a", "large", "small"], "a small one does not overtake a large one for ever"


def test_more_than_there_is_means_everything() -> None:
    async def work() -> None:
        budget = Budget(10)
        assert await budget.take(50) == 10
        budget.give(10)
        assert budget.free == 10

    run(work())


@pytest.mark.parametrize("served", [False, True])
def test_who_is_cancelled_takes_nothing_and_holds_up_nobody(served: bool) -> None:
    async def work() -> None:
        budget = Budget(10)
        await budget.take(10)
        cancelled = asyncio.ensure_future(budget.take(10))
        after = asyncio.ensure_future(budget.take(3))
        await asyncio.sleep(0)
        if served:
            budget.give(10)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        if not served:
            budget.give(10)
        assert await asyncio.wait_for(after, 30) == 3
        assert budget.free == 7

    run(work())


def test_a_body_pays_for_the_most_it_can_become_and_gives_back_the_rest() -> None:
    async def work() -> None:
        budget = Budget(100 * FREE_BYTES)
        holding = Holding(budget)
        await holding.grow(FREE_BYTES, 50 * FREE_BYTES)
        assert budget.free == budget.size, "small bodies are free"
        await holding.grow(FREE_BYTES + 1, 50 * FREE_BYTES)
        await holding.grow(FREE_BYTES + 2, 50 * FREE_BYTES)
        assert budget.free == 50 * FREE_BYTES
        holding.keep(2 * FREE_BYTES)
        assert budget.free == 98 * FREE_BYTES
        holding.release()
        holding.release()
        assert budget.free == budget.size

    run(work())


@pytest.mark.parametrize("backend", ["live", "wayback", "warc", "live-then-wayback"])
def test_back_ends_share_the_budget(backend: str, tmp_path: Path) -> None:
    """Documents of 8 MiB, of which one fits at a time, from each back end and from two together: all are had."""
    urls = [f"{SITE}/{n}" for n in range(4)]
    gone = reply(LARGE, 404) if backend == "live-then-wayback" else reply(LARGE)

    async def work() -> None:
        captures = {url: [Saved("20200101000000", LARGE)] for url in urls}
        async with Web(dict.fromkeys(urls, gone)) as web, Archive(captures) as archive:
            config = archive.config(
                fetch_connect_to=web.config().fetch_connect_to,
                fetch_bytes_in_flight=2 * FREE_BYTES + 100,
                fetch_body_bytes=3 * FREE_BYTES,
            )
            most = 0

            async def one(url: str) -> Status:
                nonlocal most
                async with fetcher.session() as session:
                    capture = await session.get(url, time.monotonic() + 60)
                    most = max(most, budget.size - budget.free)
                    assert capture.body is not None
                    await asyncio.sleep(0.05)
                    return capture.status

            name = backend
            if backend == "warc":
                html = "200 OK\nContent-Type: text/html"
                name = f"warc:{written(tmp_path / 'a.warc.gz', *(('response', u, html, LARGE, {}) for u in urls))}"
            async with open_fetcher(config, name) as fetcher:
                budget = shared(config)
                async with asyncio.timeout(120):
                    assert await asyncio.gather(*map(one, urls)) == [Status.SUCCESS] * 4
                assert most == len(LARGE)
                assert budget.free == budget.size

    run(work())


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_large_documents_wait_for_each_other_and_that_is_not_their_time(coding: str) -> None:
    body = gzip.compress(LARGE) if coding == "gzip" else LARGE
    pages: dict[str, Page] = {f"{SITE}/{n}": reply(body, content_encoding=coding) for n in range(4)}

    async def work() -> None:
        async with Web(pages) as web:
            settings = web.config(fetch_bytes_in_flight=3 * FREE_BYTES, fetch_body_bytes=3 * FREE_BYTES)
            async with Fetcher(settings) as fetcher:
                budget = shared(settings)
                at_once: list[int] = []

                async def one(url: str) -> Status:
                    async with fetcher.session() as session:
                        capture = await session.get(url, time.monotonic() + 6)
                        at_once.append(budget.free)
                        await asyncio.sleep(2.2)
                        return capture.status

                assert await asyncio.gather(*map(one, pages)) == [Status.SUCCESS] * 4
                assert set(at_once) == {budget.size - len(LARGE)}
                assert budget.free == budget.size

    run(work())


def test_the_next_document_of_a_session_and_a_failure_give_back_what_was_held() -> None:
    cut = reply(LARGE)[: -FREE_BYTES // 2]
    pages: dict[str, Page] = {f"{SITE}/a": reply(LARGE), f"{SITE}/b": reply(b"<html>"), f"{SITE}/cut": _closing(cut)}

    async def work() -> None:
        async with Web(pages) as web, Fetcher(web.config()) as fetcher:
            budget = shared(fetcher.config)
            async with fetcher.session() as session:
                await session.get(f"{SITE}/a")
                assert budget.free == budget.size - len(LARGE)
                await session.get(f"{SITE}/b")
                assert budget.free == budget.size
                assert (await session.get(f"{SITE}/cut")).status is Status.TRUNCATED_BODY
            assert budget.free == budget.size

    run(work())


def _closing(page: bytes) -> Page:
    async def write(_: object, writer: asyncio.StreamWriter) -> None:
        writer.write(page)
        await writer.drain()

    return write
