"""Politeness to one host by all documents of a worker (checklist H50, H51)."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from sandcrawler.fetch.hosts import FORGET_SECONDS, FORGET_TROUBLE_SECONDS, CoolingDown, Hosts
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.slots import Slots
from sandcrawler.model import Capture
from sandcrawler.status import Status

from .web import Page, Web, reply, run

SITE = "http://journal.example.org"
HTML = b"<html></html>"


async def _all(web: Web, urls: list[str], seconds: float = 60, **more: Any) -> list[Capture]:
    async with Fetcher(web.config(**more)) as fetcher:

        async def one(url: str) -> Capture:
            async with fetcher.session() as session:
                return await session.get(url, time.monotonic() + seconds)

        return await asyncio.gather(*map(one, urls))


def test_a_server_sees_the_gap() -> None:
    async def work() -> None:
        urls = [f"{SITE}/{n}" for n in range(8)]
        async with Web({url: reply(HTML) for url in urls}) as web:
            begun = time.monotonic()
            captures = await _all(web, urls, fetch_host_gap=0.2)
        assert {capture.status for capture in captures} == {Status.SUCCESS}
        # One may come late, when connecting took its time, and the next close behind it; none comes before its turn.
        for turn, arrival in enumerate(sorted(request.at for request in web.requests)):
            assert arrival - begun > turn * 0.2 - 0.01

    run(work())


@pytest.mark.parametrize("parallel", [1, 3])
def test_so_many_at_a_time_and_other_hosts_go_on(parallel: int) -> None:
    at_once: list[int] = []
    running = 0

    async def page(_: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal running
        running += 1
        at_once.append(running)
        await asyncio.sleep(0.2)
        running -= 1
        writer.write(reply(HTML))

    async def work() -> None:
        urls = [f"{SITE}/{n}" for n in range(6)]
        pages: dict[str, Page] = dict.fromkeys(urls, page)
        async with Web({**pages, "http://cdn.example.net/x": reply(HTML)}) as web:
            await _all(web, [*urls, "http://cdn.example.net/x"], fetch_host_parallel=parallel)
        places = [request.url for request in web.requests]
        assert places.index("http://cdn.example.net/x") <= parallel

    run(work())
    assert max(at_once) == parallel


def _date(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("3", 55, 61), ("300", 295, 301), ("in 400 s", 350, 401), ("315360000", 890, 901), ("junk", 55, 61), ("", 55, 61)],
)
def test_h50_the_whole_host_is_left_alone(status: int, header: str, least: float, most: float) -> None:
    value = _date(400) if header == "in 400 s" else header  # of now, not of when the tests were collected

    async def work() -> None:
        pages: dict[str, Page] = {
            f"{SITE}/a": reply(b"slow down", status, retry_after=value),
            f"{SITE}/b": reply(HTML),
            "http://cdn.example.net/x": reply(HTML),
        }
        async with Web(pages) as web, Fetcher(web.config(fetch_host_patience=10)) as fetcher:
            async with fetcher.session() as session:
                first = await session.get(f"{SITE}/a")
            async with fetcher.session() as session:
                second = await session.get(f"{SITE}/b")
                third = await session.get("http://cdn.example.net/x")
        assert (first.status, first.status_code) == (Status.HOST_BACKOFF, status)
        assert (second.status, second.status_code) == (Status.HOST_BACKOFF, None)
        assert third.status is Status.SUCCESS
        for capture in (first, second):
            assert capture.retry_at is not None
            assert least < (capture.retry_at - datetime.now(UTC)).total_seconds() < most
        assert [request.url for request in web.requests] == [f"{SITE}/a", "http://cdn.example.net/x"]

    run(work())


def test_h51_a_burst_of_403_is_throttling_and_one_is_a_page() -> None:
    async def work() -> None:
        async with Web({f"{SITE}/{n}": reply(b"no", 403) for n in range(9)}) as web:
            config = web.config(fetch_host_patience=10)
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                statuses = [(await session.get(f"{SITE}/{n}")).status for n in range(9)]
            assert statuses == [Status.TERMINAL_BAD_STATUS] * 4 + [Status.HOST_BACKOFF] * 5
            assert len(web.requests) == 5

    run(work())


def test_h51_a_success_between_them_ends_the_burst() -> None:
    async def work() -> None:
        pages = {f"{SITE}/{n}": reply(b"x", 403 if n % 2 else 200) for n in range(20)}
        async with Web(dict(pages)) as web, Fetcher(web.config()) as fetcher, fetcher.session() as session:
            statuses = [(await session.get(url)).status for url in pages]
        assert Status.HOST_BACKOFF not in statuses

    run(work())


def test_a_host_that_is_down_does_not_use_up_everybody_s_time() -> None:
    async def work() -> None:
        async with Web({}) as web:
            nobody = {("journal.example.org", 80): ("127.0.0.1", 1)}
            config = web.config(fetch_connect_to=nobody, fetch_host_patience=10)
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                statuses = [(await session.get(f"{SITE}/{n}")).status for n in range(5)]
        assert statuses == [Status.CONNECT_ERROR] * 3 + [Status.HOST_BACKOFF] * 2

    run(work())


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


async def _turn(hosts: Hosts, name: str, deadline: float | None = None, answer: int = 200) -> None:
    async with hosts.turn(name, deadline) as host:
        host.heard(answer, None)


def test_the_gap_is_kept_across_sixteen_tasks_even_if_they_wake_late() -> None:
    async def work() -> None:
        clock = Clock()

        async def oversleep(seconds: float) -> None:
            await asyncio.sleep(0)
            clock.now += seconds + 0.3 * (int(clock.now) % 3)

        hosts = Hosts(1, 16, 30, clock, oversleep)
        starts: list[float] = []

        async def one() -> None:
            async with hosts.turn("a"):
                starts.append(clock.now)

        await asyncio.gather(*(one() for _ in range(16)))
        assert len(starts) == 16
        assert all(later - earlier >= 1 - 1e-9 for earlier, later in pairwise(starts))

    run(work())


def test_a_short_rest_is_sat_out_and_a_long_one_is_not() -> None:
    async def work() -> None:
        clock = Clock()
        hosts = Hosts(0, 1, 30, clock, clock.sleep)
        await _turn(hosts, "a", answer=429)
        with pytest.raises(CoolingDown) as caught:
            await _turn(hosts, "a")
        assert caught.value.seconds == 60
        clock.now += 45
        with pytest.raises(CoolingDown):
            await _turn(hosts, "a", deadline=clock.now + 5)
        await _turn(hosts, "a")
        assert clock.now >= 1060

    run(work())


def test_five_barren_rounds_and_the_host_is_left_alone_for_an_hour() -> None:
    async def work() -> None:
        clock = Clock()
        hosts = Hosts(0, 1, 30, clock, clock.sleep)
        for _ in range(5):
            await _turn(hosts, "a", answer=503)
            clock.now += 1000
        with pytest.raises(CoolingDown, match="5 rounds") as caught:
            await _turn(hosts, "a")
        clock.now += caught.value.seconds
        await _turn(hosts, "a")

    run(work())


def test_one_document_after_another_is_finished() -> None:
    """Ten documents of one host with nine parts each, in time for half of them: five whole ones, not ten halves."""

    async def work() -> None:
        names = [[f"{SITE}/{d}/{part}" for part in range(10)] for d in range(10)]

        async def page(_: Any, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.01)
            writer.write(reply(HTML))

        async with Web({url: page for urls in names for url in urls}) as web:
            config = web.config(fetch_host_parallel=1, fetch_host_gap=0.05)
            async with Fetcher(config) as fetcher:
                deadline = time.monotonic() + 2.8

                async def document(urls: list[str]) -> list[Status]:
                    async with fetcher.session() as session:
                        first = await session.get(urls[0], deadline)
                        rest = await asyncio.gather(*(session.get(url, deadline) for url in urls[1:]))
                    return [capture.status for capture in (first, *rest)]

                found = await asyncio.gather(*map(document, names))
        whole = [statuses for statuses in found if set(statuses) == {Status.SUCCESS}]
        halves = [statuses for statuses in found if Status.SUCCESS in statuses[1:] and statuses not in whole]
        assert len(whole) >= 2
        assert len(halves) <= 2
        assert {status for statuses in found for status in statuses} <= {
            Status.SUCCESS,
            Status.HOST_BACKOFF,
            Status.TIMEOUT,
        }

    run(work())


def test_a_place_is_not_lost_when_its_taker_is_cancelled() -> None:
    async def work() -> None:
        slots = Slots(1)
        await slots.acquire()
        tasks = [asyncio.create_task(slots.acquire(order)) for order in (2, 1, 3)]
        await asyncio.sleep(0)
        slots.release()  # goes to order 1, which is cancelled at the same moment
        tasks[1].cancel()
        await asyncio.sleep(0.01)
        assert [task.done() for task in tasks] == [True, True, False]
        tasks[2].cancel()
        slots.release()
        await asyncio.wait_for(slots.acquire(), 30)

    run(work())


def test_no_turn_before_the_time_limit() -> None:
    async def work() -> None:
        clock = Clock()
        hosts = Hosts(100, 1, 30, clock, clock.sleep)
        await _turn(hosts, "a")
        with pytest.raises(CoolingDown, match="no free turn"):
            await _turn(hosts, "a", deadline=clock.now + 50)
        await _turn(hosts, "a", deadline=clock.now + 150)
        assert clock.now == 1100

    run(work())


def test_idle_hosts_are_forgotten() -> None:
    async def work() -> None:
        clock = Clock()
        hosts = Hosts(0, 1, 30, clock, clock.sleep)
        await _turn(hosts, "bad", answer=429)
        for n in range(2000):
            clock.now += 1
            await _turn(hosts, f"host-{n}")
        assert len(hosts) < 3 * FORGET_SECONDS
        assert "bad" in hosts._hosts
        clock.now += FORGET_TROUBLE_SECONDS
        for n in range(300):
            await _turn(hosts, f"last-{n}")
        assert "bad" not in hosts._hosts

    run(work())
