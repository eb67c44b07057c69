"""robots.txt by RFC 9309 (checklist H52)."""

import asyncio
import time
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
import structlog

from sandcrawler.fetch import robots
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.robots import Robots
from sandcrawler.fetch.robotstxt import product_token, readable, select
from sandcrawler.fetch.target import Target
from sandcrawler.model import Capture
from sandcrawler.status import Status

from .test_hosts import Clock
from .web import Page, Web, get, moved, reply, run

SITE = "http://journal.example.org"
HTML = reply(b"<html></html>")
ROBOTS = f"{SITE}/robots.txt"
OPEN, SHUT = f"{SITE}/open/1", f"{SITE}/shut/1"
RULES = reply(b"User-agent: *\nDisallow: /shut\n")


def ask(robots_txt: Page | None, url: str = SHUT, **more: Any) -> tuple[Capture, Web]:
    pages: dict[str, Page] = {OPEN: HTML, SHUT: HTML}
    if robots_txt is not None:
        pages[ROBOTS] = robots_txt
    return get(pages, url, fetch_robots=True, **more)


def asked(web: Web) -> list[str]:
    return [request.url for request in web.requests]


def test_what_is_disallowed_is_not_asked_for() -> None:
    capture, web = ask(RULES)
    assert (capture.status, capture.hops, capture.body) == (Status.BLOCKED_ROBOTS, (SHUT,), None)
    assert capture.error_message == f"{ROBOTS} does not allow this URL (group '*')"
    assert asked(web) == [ROBOTS]


def test_what_is_allowed_is() -> None:
    capture, web = ask(RULES, OPEN)
    assert capture.status is Status.SUCCESS
    assert asked(web) == [ROBOTS, OPEN]


def test_an_operator_may_turn_it_off() -> None:
    capture, web = get({ROBOTS: RULES, SHUT: HTML}, SHUT, fetch_robots=False)
    assert capture.status is Status.SUCCESS
    assert asked(web) == [SHUT]


@pytest.mark.parametrize("exempt", ["journal.example.org", "other.example,EXAMPLE.org"])
def test_exempt_hosts_are_logged(exempt: str) -> None:
    with structlog.testing.capture_logs() as lines:
        capture, web = ask(RULES, fetch_robots_exempt=exempt)
    assert capture.status is Status.SUCCESS
    assert asked(web) == [SHUT]
    assert [line["host"] for line in lines if "exempt" in line["event"]] == ["journal.example.org"]


@pytest.mark.parametrize("exempt", ["ournal.example.org", "example.com", "x.journal.example.org"])
def test_other_hosts_are_not_exempt(exempt: str) -> None:
    assert ask(RULES, fetch_robots_exempt=exempt)[0].status is Status.BLOCKED_ROBOTS


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 300])
def test_h52_4xx_allows(status: int) -> None:
    assert ask(reply(b"User-agent: *\nDisallow: /", status))[0].status is Status.SUCCESS


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 599])
def test_h52_5xx_disallows_for_now(status: int) -> None:
    capture, web = ask(reply(b"", status))
    assert capture.status is Status.BLOCKED_ROBOTS
    assert f"HTTP {status}" in (capture.error_message or "")
    assert "for now" in (capture.error_message or "")
    assert capture.retry_at is not None
    assert capture.status_code is None
    assert asked(web) == [ROBOTS]


def test_429_is_throttling() -> None:
    capture, web = ask(reply(b"", 429, retry_after="100"))
    assert (capture.status, capture.retry_at is None) == (Status.HOST_BACKOFF, False)
    assert asked(web) == [ROBOTS]


async def _cut(_: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n")
    await writer.drain()


@pytest.mark.parametrize("page", [_cut, reply(b"User-agent: *", content_encoding="gzip")])
def test_a_broken_robots_txt_disallows_for_now(page: Page) -> None:
    if isinstance(page, bytes):
        page = reply(b"\x1f\x8b\x08broken", content_encoding="gzip")
    capture, web = ask(page, OPEN)
    assert capture.status is Status.BLOCKED_ROBOTS
    assert asked(web) == [ROBOTS]


@pytest.mark.parametrize(
    "body", [b"", b"<html>no such page</html>", b"\xff\xfe\x00", b"Disallow: /", b"User-agent: *\n"]
)
def test_files_without_rules_allow(body: bytes) -> None:
    assert ask(reply(body))[0].status is Status.SUCCESS


def test_h52_the_first_500_kib_count() -> None:
    inside = b"User-agent: *\nDisallow: /shut\n" + b"# padding\n" * 200_000
    outside = b"User-agent: *\nAllow: /x\n" + b"# padding\n" * 52_000 + b"Disallow: /shut\n"
    assert len(inside) > robots.READ_BYTES
    assert ask(reply(inside))[0].status is Status.BLOCKED_ROBOTS
    assert ask(reply(outside))[0].status is Status.SUCCESS


def test_an_endless_robots_txt_is_cut() -> None:
    async def endless(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nUser-agent: *\nDisallow: /shut\n")
        while True:
            writer.write(b"# and so on\n" * 1000)
            await writer.drain()

    assert ask(endless)[0].status is Status.BLOCKED_ROBOTS


def _chain(length: int) -> dict[str, Page]:
    steps = [ROBOTS, *(f"http://other.example.com/{n}" for n in range(1, length)), "http://cdn.example.net/robots.txt"]
    return {**{here: moved(there) for here, there in pairwise(steps)}, steps[-1]: RULES, SHUT: HTML, OPEN: HTML}


@pytest.mark.parametrize(
    ("redirects", "status"), [(1, Status.BLOCKED_ROBOTS), (5, Status.BLOCKED_ROBOTS), (6, Status.SUCCESS)]
)
def test_h52_five_redirects_are_followed(redirects: int, status: Status) -> None:
    assert get(_chain(redirects), SHUT, fetch_robots=True)[0].status is status


@pytest.mark.parametrize("to", [ROBOTS, "", "ftp://journal.example.org/robots.txt", "http://journal.example.org:22/r"])
def test_redirects_that_lead_nowhere_allow(to: str) -> None:
    assert ask(moved(to))[0].status is Status.SUCCESS


def test_a_redirect_to_a_forbidden_address_is_not_asked() -> None:
    capture, web = ask(moved("http://169.254.169.254/robots.txt"))
    assert capture.status is Status.BLOCKED_ROBOTS
    assert asked(web) == [ROBOTS]


def test_every_hop_is_checked() -> None:
    shut = "https://other.example.com/shut/2"
    pages: dict[str, Page] = {ROBOTS: reply(b"", 404), OPEN: moved(shut.replace("https", "http"))}
    pages["http://other.example.com/robots.txt"] = RULES
    capture, web = get(pages, OPEN, fetch_robots=True)
    assert (capture.status, capture.terminal_url) == (Status.BLOCKED_ROBOTS, "http://other.example.com/shut/2")
    assert asked(web) == [ROBOTS, OPEN, "http://other.example.com/robots.txt"]


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://nowhere.invalid/a", Status.DNS_ERROR),
        ("http://127.0.0.1/a", Status.BLOCKED_ADDRESS),
        ("http://2130706433/a", Status.BLOCKED_ADDRESS),
    ],
)
def test_no_answer_at_all_is_the_documents_too(url: str, status: Status) -> None:
    async def work() -> Capture:
        async with Web({}) as web:
            config = web.config(fetch_allow_addresses="", fetch_robots=True)
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                capture = await session.get(url)
            assert web.connections == 0
            return capture

    capture = run(work())
    assert capture.status is status
    assert (capture.error_message or "").startswith("robots.txt: ")


def test_documents_of_one_host_ask_once() -> None:
    async def slow(_: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(RULES)
        await writer.drain()

    async def work() -> None:
        urls = [f"{SITE}/open/{n}" for n in range(16)]
        async with Web({ROBOTS: slow, **dict.fromkeys(urls, HTML)}) as web:
            async with Fetcher(web.config(fetch_robots=True)) as fetcher:

                async def one(url: str) -> Capture:
                    async with fetcher.session() as session:
                        return await session.get(url, time.monotonic() + 60)

                captures = await asyncio.gather(*map(one, urls))
            assert {capture.status for capture in captures} == {Status.SUCCESS}
            assert asked(web).count(ROBOTS) == 1
            assert asked(web)[0] == ROBOTS

    run(work())


def test_a_document_without_time_does_not_take_the_answer_from_the_others() -> None:
    async def slow(_: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(RULES)
        await writer.drain()

    async def work() -> None:
        async with Web({ROBOTS: slow, OPEN: HTML}) as web, Fetcher(web.config(fetch_robots=True)) as fetcher:
            async with fetcher.session() as first, fetcher.session() as second:
                now = time.monotonic()
                got = await asyncio.gather(first.get(OPEN, now + 0.1), second.get(OPEN, now + 60))
            assert [capture.status for capture in got] == [Status.TIMEOUT, Status.SUCCESS]
            assert asked(web) == [ROBOTS, OPEN]

    run(work())


def test_crawl_delay_is_kept_up_to_a_limit() -> None:
    async def work(limit: float) -> list[float]:
        rules, begun = reply(b"User-agent: *\nCrawl-delay: 1\n"), time.monotonic()
        async with Web({ROBOTS: rules, OPEN: HTML, SHUT: HTML}) as web:
            config = web.config(fetch_robots=True, fetch_crawl_delay=limit)
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                await asyncio.gather(*(session.get(url) for url in (OPEN, SHUT, OPEN)))
        return [request.at - begun for request in web.requests[1:]]

    # None comes before its turn; how late it comes is a matter of the machine.
    assert all(moment > turn * 0.99 for turn, moment in enumerate(run(work(30))))
    first, _, last = run(work(0.05))
    assert last - first < 1.9


def test_robots_txt_is_asked_for_politely() -> None:
    async def work() -> None:
        async with Web({ROBOTS: RULES, OPEN: HTML}) as web:
            config = web.config(fetch_robots=True, fetch_host_gap=0.3, fetch_user_agent="harvest/1 (+http://x.org/)")
            begun = time.monotonic()
            async with Fetcher(config) as fetcher, fetcher.session() as session:
                assert (await session.get(OPEN)).status is Status.SUCCESS
        first, second = web.requests
        assert second.at - begun > 0.29
        assert first.headers["user-agent"] == "harvest/1 (+http://x.org/)"

    run(work())


def test_cookies_are_not_shared_with_robots_txt() -> None:
    async def work() -> None:
        async with (
            Web({ROBOTS: reply(b"", set_cookie="a=1"), OPEN: HTML}) as web,
            Fetcher(web.config(fetch_robots=True)) as fetcher,
            fetcher.session() as session,
        ):
            await session.get(OPEN)
        assert "cookie" not in web.requests[1].headers

    run(work())


def _robots(answers: list[tuple[int, bytes]], clock: Clock, **more: Any) -> tuple[Robots, list[str]]:
    urls: list[str] = []

    async def fetch(target: Target, _: int) -> Capture:
        urls.append(target.url)
        code, body = answers.pop(0) if answers else (404, b"")
        status = Status.SUCCESS if code == 200 else Status.TERMINAL_BAD_STATUS
        when = datetime.now(UTC)
        return Capture(target.url, status, (target.url,), when, target.url, code, body=body)

    return Robots(Web.config(_web(), **{"fetch_robots": True, **more}), fetch, clock), urls


def _web() -> Web:
    web = Web({})
    web.http = web.https = 1
    return web


def _target(site: str, path: str = "/") -> Target:
    return Target(site + path, site.split("/")[2].partition(":")[0], 80)


@pytest.mark.parametrize(("code", "seconds"), [(200, 24 * 3600), (404, 24 * 3600), (500, 300)])
def test_how_long_an_answer_is_kept(code: int, seconds: float) -> None:
    async def work() -> None:
        clock = Clock()
        known, urls = _robots([(code, b"")] * 2, clock)
        target = _target("http://a.org")
        assert known.known(target) is None
        await known.learn(target, 0)
        clock.now += seconds - 1
        assert known.known(target) is not None
        clock.now += 2
        assert known.known(target) is None
        await known.learn(target, 0)
        assert urls == ["http://a.org/robots.txt"] * 2

    run(work())


def test_scheme_and_port_make_a_site_of_their_own() -> None:
    async def work() -> None:
        known, urls = _robots([], Clock())
        for site in ("http://a.org", "https://a.org", "http://a.org:8080"):
            assert known.known(_target(site)) is None
            await known.learn(_target(site), 0)
            assert known.known(_target(site, "/x?y")) is not None
        assert len(urls) == 3

    run(work())


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        large = b"User-agent: *\n" + b"Disallow: /abcdefgh\n" * 1000
        known, _ = _robots([(200, large)] * 30, Clock())
        for n in range(300):
            await known.learn(_target(f"http://{n}.org"), 0)
        assert len(known._sites) <= 100
        assert sum(rules.size for rules in known._sites.values()) == known._bytes <= 100_000

    monkeypatch.setattr(robots, "KEPT_SITES", 100)
    monkeypatch.setattr(robots, "KEPT_BYTES", 100_000)
    run(work())


def test_files_made_to_be_slow_are_not() -> None:
    agents = b"".join(b"User-agent: x%d\n" % n for n in range(15_000))
    stars = b"User-agent: *\nDisallow: /" + b"*a" * 100_000 + b"\n"
    many = b"User-agent: *\n" + b"".join(b"Disallow: /*%d*a$\n" % n for n in range(25_000))
    for body in (agents + b"Disallow: /y\n" * 15_000, stars, many):
        start = time.thread_time()
        rules = Robots._parsed(_robots([], Clock())[0], ROBOTS, body)
        rules.objection(f"{SITE}/{'a' * 8000}")
        assert time.thread_time() - start < 6


@pytest.mark.parametrize(
    ("text", "lines", "group"),
    [
        ("User-agent: sandcrawler\nDisallow: /a", ["Disallow: /a"], "sandcrawler"),
        ("user-agent:SandCrawler/2.0 (x)\nDisallow: /a", ["Disallow: /a"], "sandcrawler"),
        ("User-agent: sand\nDisallow: /a", [], "*"),
        ("User-agent: sandcrawler-images\nDisallow: /a", [], "*"),
        ("User-agent: *\nDisallow: /a\n\nUser-agent: sandcrawler\nDisallow:", ["Disallow:"], "sandcrawler"),
        ("User-agent: x\nUser-agent: *\nDisallow: /a", ["Disallow: /a"], "*"),
        ("User-agent: *\nSitemap: /s\nUser-agent: x\nDisallow: /a", ["Disallow: /a"], "*"),
        ("User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b", ["Disallow: /a"], "*"),
        ("User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b", ["Disallow: /a", "Disallow: /b"], "*"),
        ("User-agent: * # all\r\n\r\n# x\r\nDisallow: /a # b", ["Disallow: /a "], "*"),
        ("User agent *\nDisallow: /a", ["Disallow: /a"], "*"),
    ],
)
def test_the_group_that_speaks_to_us(text: str, lines: list[str], group: str) -> None:
    chosen, name = select(text, "sandcrawler")
    assert (chosen.split("\n")[1:], name) == (lines, group)


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("sandcrawler/0.1 (+https://x.org)", "sandcrawler"),
        ("Fish_Bot-x2", "fish_bot-x"),
        ("Mozilla/5.0 (compatible; Harvest/1.0; +https://x.org)", "harvest"),
        ("123", "sandcrawler"),
    ],
)
def test_the_name_by_which_we_are_addressed(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


def test_a_byte_order_mark_and_half_a_line_are_cut_off() -> None:
    assert readable(b"\xef\xbb\xbfUser-agent: *") == "User-agent: *"
    assert readable(b"Disallow: /abc\n" * 60_000).endswith("Disallow: /abc")
