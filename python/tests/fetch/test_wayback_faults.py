"""The back end `wayback` where the archive fails, lies, or answers as the Internet Archive does."""

import asyncio
import gzip
import socket
import time
from contextlib import AsyncExitStack
from typing import Any

import pytest
import stamina
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.fetch.wayback import WaybackFetcher
from sandcrawler.fetch.waybackreplay import unwrapped
from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.fetch.savepage import HEADER, Archive, Saved

URL = "http://journal.example.org/a"
OLD, NEW = "20100101000000", "20200101000000"
ANOTHER = {"Memento-Datetime": "Fri, 01 Jan 2010 00:00:00 GMT"}


def asked(archive: Archive, *urls: str, documents: int = 1, seconds: float = 20, **more: Any) -> list[Capture]:
    """URLs, one after another, of each of so many documents."""

    async def work() -> list[Capture]:
        captures = []
        async with archive, WaybackFetcher(archive.config(**more), "") as fetcher:
            for _ in range(documents):
                async with fetcher.session() as session:
                    captures += [await session.get(url, time.monotonic() + seconds) for url in urls]
        return captures

    with stamina.set_testing(True, attempts=3):
        return asyncio.run(work())


def failing(code: int, times: int = 3) -> list[Any]:
    return [web.Response(status=code, text="<html>Sorry</html>") for _ in range(times)]


@pytest.mark.parametrize("code", [500, 502, 504])
def test_a_passing_fault_is_tried_again(code: int) -> None:
    script = {"cdx": failing(code, 2), "web": failing(code, 2)}
    archive = Archive({URL: [Saved(NEW, b"page")]}, script=script)
    assert asked(archive, URL)[0].body == b"page"
    assert (archive.count("/cdx"), archive.count("/web")) == (3, 3)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (failing(500), "HTTP 500"),
        (failing(400), "HTTP 400 <html>Sorry</html>"),
        (failing(403), "HTTP 403"),
        ([b"<html>not an index</html>"], "not an index"),
        ([b"[" * 99_999], "not JSON"),
        ([web.Response(status=302, headers={"Location": "http://elsewhere.example/"})], "HTTP 302"),
        ([web.Response(body=b"not gzip \x1f\x8b", headers={"Content-Encoding": "br"})], "HTTP 200"),
    ],
)
def test_an_index_that_does_not_answer_is_a_cdx_error(said: list[Any], word: str) -> None:
    [capture] = asked(Archive({URL: [Saved(NEW, b"page")]}, script={"cdx": said}), URL)
    assert (capture.status, capture.body, capture.hops) == (Status.CDX_ERROR, None, (URL,))
    assert word in (capture.error_message or "")


@pytest.mark.parametrize(("service", "status"), [("cdx", Status.CDX_ERROR), ("web", Status.WAYBACK_ERROR)])
@pytest.mark.parametrize("code", [429, 503])
def test_throttling_is_heard_and_the_archive_left_alone(service: str, status: Status, code: int) -> None:
    script = {service: [web.Response(status=code, headers={"Retry-After": "90"})]}
    archive = Archive({URL: [Saved(NEW, b"page")]}, script=script)
    first, second = asked(archive, URL, documents=2)
    assert first.status is status
    assert first.retry_at is not None
    assert second.status is Status.CDX_ERROR
    assert second.retry_at is not None
    assert len(archive.asked) == (1 if service == "cdx" else 2)


def test_a_replay_that_does_not_answer_is_a_wayback_error() -> None:
    archive = Archive({URL: [Saved(NEW, b"page"), Saved(OLD, b"old")]}, script={"web": failing(500)})
    assert asked(archive, URL)[0].status is Status.WAYBACK_ERROR


def test_an_archived_server_error_is_the_web_s_fault() -> None:
    [capture] = asked(Archive({URL: [Saved(NEW, b"sorry", 503)]}), URL)
    assert (capture.status, capture.status_code, capture.body) == (Status.TERMINAL_BAD_STATUS, 503, b"sorry")


@pytest.mark.parametrize(
    "broken",
    [
        Saved(NEW, b"page", digest="3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
        Saved(NEW, b"page", headers=ANOTHER),
        Saved(NEW, b"page", headers={"Memento-Datetime": "never"}),
        Saved(NEW, b"page", headers={"Memento-Datetime": "", "X-Archive-Src": ""}),
    ],
)
def test_a_record_that_is_not_what_the_index_says(broken: Saved) -> None:
    """The next capture is taken; where there is none, it is said."""
    [capture] = asked(Archive({URL: [broken]}), URL)
    assert (capture.status, capture.body) == (Status.WAYBACK_CONTENT_ERROR, None)
    assert NEW in (capture.error_message or "")
    if broken.headers.get("X-Archive-Src") == "":
        assert "no Memento-Datetime" in (capture.error_message or "")
    [other] = asked(Archive({URL: [Saved(OLD, b"old"), broken]}), URL)
    assert (other.status, other.body) == (Status.SUCCESS, b"old")


def test_the_archive_s_own_404_and_redirects_are_no_capture_of_the_page() -> None:
    own = [web.Response(status=404, text="not archived"), web.Response(status=302, headers={"Location": "/web/1id_/x"})]
    [capture] = asked(Archive({URL: [Saved(NEW, b"page"), Saved(OLD, b"old")]}, script={"web": own}), URL)
    assert (capture.status, capture.hops) == (Status.WAYBACK_CONTENT_ERROR, (URL,))


@pytest.mark.parametrize("location", ["/web/20200101000000id_/{}", "{base}/web/20200101000000/{}", "{}", "/a"])
def test_redirects_lead_back_to_the_site(location: str) -> None:
    async def work() -> Capture:
        archive = Archive({URL: [Saved(NEW, b"page")]})
        async with archive:
            to = location.format(URL, base=archive.url)
            archive.captures["http://journal.example.org/l"] = [Saved(NEW, b"", 301, {"Location": to})]
            async with WaybackFetcher(archive.config(), "") as fetcher, fetcher.session() as session:
                return await session.get("http://journal.example.org/l", time.monotonic() + 20)

    capture = asyncio.run(work())
    assert (capture.body, capture.hops) == (b"page", ("http://journal.example.org/l", URL))


def test_original_headers_come_before_the_archive_s() -> None:
    headers = {
        "X-Archive-Orig-Content-Type": "application/pdf",
        "X-Archive-Orig-ETag": '"7"',
        "X-Archive-Orig-Server": "journal",
        "X-App-Server": "wwwb-app7",
    }
    [capture] = asked(Archive({URL: [Saved(NEW, b"page", headers=headers)]}), URL)
    assert capture.header("content-type") == "application/pdf"
    assert (capture.header("etag"), capture.header("server")) == ('"7"', "journal")
    assert capture.header("x-app-server") is capture.header("memento-datetime") is None


@pytest.mark.parametrize("body", [gzip.compress(b"page"), b"page"])
def test_an_original_coding_is_undone_if_it_is_still_there(body: bytes) -> None:
    digest = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"  # of other bytes on the wire
    saved = Saved(NEW, body, headers={"X-Archive-Orig-Content-Encoding": "gzip"}, digest=digest)
    assert asked(Archive({URL: [saved]}), URL)[0].body == b"page"


def test_a_success_beyond_the_nearest_rows_is_asked_for() -> None:
    many = [[URL, f"2020010100{minute:02}{second:02}"] for minute in range(2) for second in range(50)]
    rows = [["k", moment, url, "text/html", "302", "-", "9"] for url, moment in many]
    archive = Archive({URL: [Saved(OLD, b"old")]}, script={"cdx": [[HEADER, *rows]]})
    assert asked(archive, URL)[0].body == b"old"
    assert archive.asked[1][2]["filter"] == "statuscode:200"


def test_the_blocklist_stands_before_the_archive() -> None:
    archive = Archive()
    assert asked(archive, "https://archive.org/x")[0].status is Status.SKIP_URL_BLOCKLIST
    assert not archive.asked


def test_turns_are_paced() -> None:
    start = time.monotonic()
    asked(Archive({URL: [Saved(NEW, b"page")]}), URL, URL, fetch_wayback_gap=0.2)
    assert time.monotonic() - start >= 0.6


def test_all_fetchers_of_a_worker_share_the_archive_s_turns() -> None:
    async def work() -> float:
        async with Archive({URL: [Saved(NEW, b"page")]}) as archive, AsyncExitStack() as stack:
            config = archive.config(fetch_wayback_gap=0.2)
            fetchers = [await stack.enter_async_context(WaybackFetcher(config, moment)) for moment in ("", OLD, NEW)]
            sessions = [await stack.enter_async_context(fetcher.session()) for fetcher in fetchers]
            start = time.monotonic()
            assert {(await each).body for each in [s.get(URL, start + 20) for s in sessions]} == {b"page"}
            return time.monotonic() - start

    assert asyncio.run(work()) >= 5 * 0.2


@pytest.mark.parametrize(("limit", "status"), [("seconds", Status.TIMEOUT), ("answer", Status.CDX_ERROR)])
def test_a_silent_archive_is_given_up(limit: str, status: Status) -> None:
    async def work(seconds: float, answer: float) -> Capture:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            archive = Archive()
            archive.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            config = archive.config(fetch_wayback_seconds=answer)
            async with WaybackFetcher(config, "") as fetcher, fetcher.session() as session:
                return await session.get(URL, time.monotonic() + seconds)

    start = time.monotonic()
    with stamina.set_testing(True, attempts=1):
        capture = asyncio.run(work(*((0.5, 60) if limit == "seconds" else (60, 0.5))))
    assert capture.status is status
    assert time.monotonic() - start < 30


@given(st.text())
def test_a_location_without_the_archive_stays(text: str) -> None:
    base = "https://web.archive.org/web"
    assert unwrapped(text, base) == text
    assert unwrapped(f"{base}/20200101000000id_/http://{text}", base) == f"http://{text}"
