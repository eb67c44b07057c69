"""Ordered fallbacks: one web that lives, one archive, and which of them has the word."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
import stamina

from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.fallback import GONE, LIVE, LIVE_FALLS, SILENT, WAYBACK, WAYBACK_FALLS
from sandcrawler.fetch.hops import failure
from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.fetch.savepage import Archive, Saved
from tests.fetch.web import Page, Request, Web, moved, reply

HOST = "http://journal.example.org"
URL, LINK, IMAGE = f"{HOST}/a", "http://other.example.com/doi/1", f"{HOST}/1.png"
OLD = "20100101000000"
ARCHIVED = Saved(OLD, b"archived")
LIVING = reply(b"living")


class Asked:
    """What came of it: the captures, and what the web and the archive were asked for."""

    captures: list[Capture]
    web: list[Request]
    archive: Archive


def asked(
    backend: str, pages: Mapping[str, Page], captures: Mapping[str, Saved], *urls: str, seconds: float = 20, **more: Any
) -> Asked:
    """URLs, one after another, of one document."""

    async def work() -> Asked:
        got = Asked()
        async with AsyncExitStack() as stack:
            web = await stack.enter_async_context(Web(dict(pages)))
            got.archive = await stack.enter_async_context(Archive({url: [each] for url, each in captures.items()}))
            config = got.archive.config(fetch_connect_to=web.config().fetch_connect_to, **more)
            fetcher = await stack.enter_async_context(open_fetcher(config, backend))
            session = await stack.enter_async_context(fetcher.session())
            got.captures = [await session.get(url, time.monotonic() + seconds) for url in urls]
            got.web = web.requests
        return got

    with stamina.set_testing(True, attempts=1):
        return asyncio.run(work())


def one(backend: str, pages: Mapping[str, Page], captures: Mapping[str, Saved], url: str = URL, **more: Any) -> Capture:
    [capture] = asked(backend, pages, captures, url, **more).captures
    return capture


@pytest.mark.parametrize(("backend", "body"), [("live-then-wayback", b"living"), ("wayback-then-live", b"archived")])
def test_the_first_that_has_it_is_taken_and_the_other_not_asked(backend: str, body: bytes) -> None:
    got = asked(backend, {URL: LIVING}, {URL: ARCHIVED}, URL)
    assert (got.captures[0].status, got.captures[0].body) == (Status.SUCCESS, body)
    assert bool(got.web) != bool(got.archive.asked)


BROKEN: dict[str, Page] = {
    "gone": reply(b"no", 404),
    "gone for good": reply(b"no", 410),
    "broken": reply(b"no", 500),
    "empty": reply(b""),
    "cut": reply(b"x", content_length="99"),
    "no HTTP": b"SSH-2.0\r\n\r\n",
    "loop": moved("/a"),
    "nowhere": moved(""),
    "dead name behind it": moved("http://nowhere.invalid/"),
    "throttling": reply(b"", 429, retry_after="100"),
}


@pytest.mark.parametrize("page", BROKEN.values(), ids=BROKEN.keys())
def test_what_the_web_has_lost_comes_from_the_archive(page: Page) -> None:
    capture = one("live-then-wayback", {URL: page}, {URL: ARCHIVED})
    assert (capture.status, capture.body, capture.hops) == (Status.SUCCESS, b"archived", (URL,))
    assert capture.when == ARCHIVED.when


@pytest.mark.parametrize("code", [401, 403, 451])
def test_a_wall_is_an_answer(code: int) -> None:
    got = asked("live-then-wayback", {URL: reply(b"no", code)}, {URL: ARCHIVED}, URL)
    assert (got.captures[0].status_code, got.archive.asked) == (code, [])


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://10.0.0.1/", Status.BLOCKED_ADDRESS),
        ("https://archive.org/x", Status.SKIP_URL_BLOCKLIST),
        ("file:///x", Status.BAD_URL),
        (f"{HOST}:22/", Status.BLOCKED_ADDRESS),
    ],
)
def test_what_must_not_be_fetched_is_not_looked_up(url: str, status: Status) -> None:
    got = asked("live-then-wayback", {}, {}, url)
    assert (got.captures[0].status, got.archive.asked) == (status, [])


def test_a_robots_txt_that_forbids_is_not_gone_around() -> None:
    pages = {f"{HOST}/robots.txt": reply(b"User-agent: *\nDisallow: /", content_type="text/plain"), URL: LIVING}
    got = asked("live-then-wayback", pages, {URL: ARCHIVED}, URL, fetch_robots=True)
    assert (got.captures[0].status, got.archive.asked) == (Status.BLOCKED_ROBOTS, [])


def test_a_dead_publisher_behind_a_living_link_is_looked_up_where_it_was() -> None:
    pages = {LINK: moved(URL), URL: reply(b"no", 404)}
    capture = one("live-then-wayback", pages, {URL: ARCHIVED}, LINK)
    assert (capture.body, capture.hops, capture.url) == (b"archived", (LINK, URL), LINK)


@pytest.mark.parametrize("archived", [None, Saved(OLD, b"no", 404), Saved(OLD, b"x", digest="A" * 32)])
def test_what_was_not_archived_well_is_fetched(archived: Saved | None) -> None:
    capture = one("wayback-then-live", {URL: LIVING}, {URL: archived} if archived else {})
    assert (capture.status, capture.body) == (Status.SUCCESS, b"living")


def test_an_archived_redirect_to_what_was_never_archived_is_fetched_there() -> None:
    moving = Saved(OLD, b"", 302, {"Location": URL})
    capture = one("wayback-then-live", {URL: LIVING}, {LINK: moving}, LINK)
    assert (capture.body, capture.hops) == (b"living", (LINK, URL))


def test_where_both_fail_the_one_that_knows_the_document_has_the_word() -> None:
    live_first = one("live-then-wayback", {}, {})
    archive_first = one("wayback-then-live", {}, {})
    for capture in (live_first, archive_first):
        assert (capture.status, capture.status_code, capture.body) == (Status.TERMINAL_BAD_STATUS, 404, b"not here")
        assert "live: terminal-bad-status: HTTP 404" in (capture.error_message or "")
        assert "wayback: no-capture" in (capture.error_message or "")
    nothing = one("live-then-wayback", {}, {}, "http://nowhere.invalid/")
    assert nothing.status is Status.DNS_ERROR


def test_parts_come_from_where_the_page_came_from() -> None:
    """The image that lives now is another than the page had; one that is not archived is fetched."""
    new = f"{HOST}/2.png"
    pages: dict[str, Page] = {IMAGE: reply(b"new image"), new: reply(b"only living")}
    got = asked("live-then-wayback", pages, {URL: ARCHIVED, IMAGE: Saved(OLD, b"its image")}, URL, IMAGE, new)
    assert [capture.body for capture in got.captures] == [b"archived", b"its image", b"only living"]


def test_a_lost_part_does_not_send_the_others_to_the_archive() -> None:
    pages: dict[str, Page] = {URL: LIVING, f"{HOST}/2.png": reply(b"new image")}
    archived = {IMAGE: Saved(OLD, b"lost"), f"{HOST}/2.png": Saved(OLD, b"old image")}
    got = asked("live-then-wayback", pages, archived, URL, IMAGE, f"{HOST}/2.png")
    assert [capture.body for capture in got.captures] == [b"living", b"lost", b"new image"]


def test_a_silent_web_leaves_time_for_the_archive() -> None:
    async def silent(_request: Request, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    start = time.monotonic()
    assert one("live-then-wayback", {URL: silent}, {URL: ARCHIVED}, seconds=8).body == b"archived"
    assert time.monotonic() - start < 8


@pytest.mark.parametrize("status", Status)
def test_the_tables_decide(status: Status) -> None:
    capture = replace(failure(URL, (URL,), Refused(status, "")), status_code=404)
    assert LIVE.fell(capture) is (status in LIVE_FALLS)
    assert WAYBACK.fell(capture) is (status in WAYBACK_FALLS)


def test_the_tables_hold_reasons_and_no_verdicts_on_the_url() -> None:
    falls = LIVE_FALLS | WAYBACK_FALLS
    assert all(falls.values())
    assert not {word for word in falls if word.startswith(("blocked-", "skip-", "bad-url"))}
    assert set(WAYBACK_FALLS) >= SILENT
    assert not GONE & {401, 403, 429, 451}
