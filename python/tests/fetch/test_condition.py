"""Requests on condition that something has changed, against servers that understand them and servers that do not."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from sandcrawler.fetch.condition import Condition, get, unchanged
from sandcrawler.fetch.digest import Digest
from sandcrawler.fetch.live import Fetcher
from sandcrawler.model import Capture, CdxRow
from sandcrawler.status import Status
from tests.fetch.web import Page, Web, moved, reply, run

HOST = "http://journal.example.org"
PAGE = f"{HOST}/article/1"
BODY = b"<p>words</p>"
OLD = "Tue, 01 Oct 2024 10:00:00 GMT"
UNMODIFIED = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'
SENT = ("if-none-match", "if-modified-since")


def row(**changes: Any) -> CdxRow:
    fields = {
        "surt": "org,example,journal)/article/1",
        "datetime": "20260102030405",
        "url": PAGE,
        "mimetype": "text/html",
        "status_code": 200,
        "sha1hex": "a" * 40,
        "sha1b32": "A" * 32,
        **changes,
    }
    return CdxRow(**fields)


def versioned(body: bytes = BODY, etag: str = '"v1"', last_modified: str = "") -> Page:
    """A page whose server knows its version, and says nothing but 304 to who has it."""

    async def page(request: Any, writer: asyncio.StreamWriter) -> None:
        held = etag and request.headers.get("if-none-match") == etag
        if held or (last_modified and request.headers.get("if-modified-since") == last_modified):
            writer.write(f"HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n".encode())
        else:
            writer.write(reply(body, etag=etag, last_modified=last_modified))
        await writer.drain()

    return page


def once(conditional: bytes, plain: bytes) -> Page:
    """One answer to requests on condition, another to those without."""

    async def page(request: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(conditional if any(name in request.headers for name in SENT) else plain)
        await writer.drain()

    return page


def asked(
    pages: dict[str, Page], condition: Condition | None, *urls: str, watched: list[str] | None = None, **more: Any
) -> tuple[list[Capture], Web]:
    """URLs asked for by one session, each with the condition."""

    async def work() -> tuple[list[Capture], Web]:
        watch = (lambda mark, line: watched.append(f"{mark} {line}")) if watched is not None else None
        async with Web(pages) as web:
            async with Fetcher(web.config(**more), watch=watch) as fetcher, fetcher.session() as session:
                captures = [await get(session, condition, url, time.monotonic() + 20) for url in urls or (PAGE,)]
            return captures, web

    return run(work())


def conditions(web: Web) -> list[tuple[str, dict[str, str]]]:
    """What was asked, with the headers of a condition."""
    return [(one.url, {name: one.headers[name] for name in SENT if name in one.headers}) for one in web.requests]


V1 = Condition(PAGE, '"v1"')


@pytest.mark.parametrize(
    ("etag", "modified", "sent"),
    [
        ('"v1"', None, {"If-None-Match": '"v1"'}),
        ('W/"v1"', None, {"If-None-Match": 'W/"v1"'}),
        ('""', None, {"If-None-Match": '""'}),
        (None, OLD, {"If-Modified-Since": OLD}),
        ('"v1"', OLD, {"If-None-Match": '"v1"', "If-Modified-Since": OLD}),
        (None, None, None),
        ("", "", None),
        ("*", None, None),
        ('"a", "b"', None, None),
        ("v1", None, None),
        ("W/v1", None, None),
        ('"v\r\nHost: evil.example"', None, None),
        ('"v\n"', None, None),
        ('"v1"\n', None, None),
        ('"\x00"', None, None),
        ('"é"', None, None),
        ('"\u2603"', None, None),
        ('"\x80"', None, None),
        ('"' + "x" * 997 + '"', None, {"If-None-Match": '"' + "x" * 997 + '"'}),
        ('"' + "x" * 998 + '"', None, None),  # the row holds no more: it may have been cut
        ('"' + "x" * 5000 + '"', None, None),
        (None, "yesterday", None),
        (None, OLD + "\r\nX: y", None),
        (None, OLD + "\n", None),
        (None, "Tue, 99 Oct 2024 10:00:00 GMT", None),
        (None, "Fri, 02 Jan 2026 03:04:04 GMT", {"If-Modified-Since": "Fri, 02 Jan 2026 03:04:04 GMT"}),
        (None, "Fri, 02 Jan 2026 03:04:05 GMT", None),  # the capture's own second: it may have changed since
        (None, "Fri, 02 Jan 2099 03:04:05 GMT", None),
    ],
)
def test_only_well_formed_validators_are_sent(
    etag: str | None, modified: str | None, sent: dict[str, str] | None
) -> None:
    made = Condition.of(row(etag=etag, last_modified=modified))
    assert (made.headers if made else None) == sent


@given(st.text(max_size=1200), st.text(max_size=60))
def test_whatever_a_row_holds_no_header_has_more_than_one_line(etag: str, modified: str) -> None:
    made = Condition.of(row(etag=etag, last_modified=modified))
    for value in made.headers.values() if made else ():
        assert value.isascii()
        assert value.isprintable()
        assert len(value) < 1000


def test_what_is_still_so_is_not_sent_again() -> None:
    (capture,), web = asked({PAGE: versioned()}, V1)
    assert unchanged(capture)
    assert (capture.status, capture.status_code, capture.body, capture.hops) == (Status.SUCCESS, 304, None, (PAGE,))
    assert conditions(web) == [(PAGE, {"if-none-match": '"v1"'})]


def test_by_its_date_alone() -> None:
    (capture,), _ = asked({PAGE: versioned(etag="", last_modified=OLD)}, Condition(PAGE, None, OLD))
    assert unchanged(capture)


def test_what_has_changed_comes_whole() -> None:
    (capture,), _ = asked({PAGE: versioned(b"new", '"v2"')}, V1)
    assert not unchanged(capture)
    assert (capture.status, capture.status_code, capture.body) == (Status.SUCCESS, 200, b"new")


@pytest.mark.parametrize(("ours", "theirs"), [('"v1"', 'W/"v1"'), ('W/"v1"', '"v1"'), ('W/"v1"', 'W/"v1"')])
def test_a_weak_tag_is_as_good_as_a_strong_one(ours: str, theirs: str) -> None:
    page = once(f"HTTP/1.1 304 X\r\nETag: {theirs}\r\n\r\n".encode(), reply(BODY))
    (capture,), _ = asked({PAGE: page}, Condition(PAGE, ours))
    assert unchanged(capture)


def test_a_304_that_names_no_version_is_about_ours() -> None:
    (capture,), _ = asked({PAGE: once(b"HTTP/1.1 304 X\r\nContent-Length: 4000\r\n\r\n", reply(BODY))}, V1)
    assert unchanged(capture)


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 304 Not Modified\r\nETag: "v9"\r\n\r\n',
        reply(b"", 412),
        b"",
        b"<p>no HTTP at all</p>\r\n\r\n",
    ],
    ids=["another version", "412", "nothing", "no HTTP"],
)
def test_an_answer_that_is_none_is_asked_for_without_condition(answer: bytes) -> None:
    (capture, other), web = asked({PAGE: once(answer, reply(BODY)), f"{HOST}/2": reply(b"two")}, V1, PAGE, f"{HOST}/2")
    assert (capture.status, capture.status_code, capture.body) == (Status.SUCCESS, 200, BODY)
    assert other.body == b"two", "what stands behind a 304 is not taken for another answer"
    sent = [sent for url, sent in conditions(web) if url == PAGE]
    assert (sent[0], sent[-1]) == ({"if-none-match": '"v1"'}, {})
    assert sent.count({}) == 1


@pytest.mark.parametrize(
    "answer",
    [
        UNMODIFIED + b"<p>a body</p>",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
    ids=["body", "body with length", "chunked body"],
)
def test_the_body_of_a_304_is_nobodys(answer: bytes) -> None:
    (capture, other), web = asked({PAGE: once(answer, reply(BODY)), f"{HOST}/2": reply(b"two")}, V1, PAGE, f"{HOST}/2")
    assert unchanged(capture)
    assert (capture.body, other.body) == (None, b"two")
    assert web.connections == 2, "what stands behind a 304 is dropped with its connection"


def test_a_second_answer_behind_a_304_is_nobodys() -> None:
    smuggled = UNMODIFIED + b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
    (capture, other), _ = asked({PAGE: smuggled, f"{HOST}/2": reply(b"two")}, V1, PAGE, f"{HOST}/2")
    assert unchanged(capture)
    assert other.body == b"two"


@pytest.mark.parametrize("condition", [None, V1, Condition(f"{HOST}/other", '"v1"')])
def test_a_304_that_nobody_asked_for_is_a_fault(condition: Condition | None) -> None:
    page = b'HTTP/1.1 304 Not Modified\r\nETag: "v2"\r\n\r\n'
    (capture,), _ = asked({PAGE: page}, condition)
    assert (capture.status, capture.status_code, capture.body) == (Status.TERMINAL_BAD_STATUS, 304, None)
    assert "without a condition" in (capture.error_message or "")
    assert not unchanged(capture)


@pytest.mark.parametrize("code", [404, 500, 403])
def test_other_faults_are_told_as_ever_and_not_asked_again(code: int) -> None:
    (capture,), web = asked({PAGE: reply(b"gone", code)}, V1)
    assert (capture.status, capture.status_code, len(web.requests)) == (Status.TERMINAL_BAD_STATUS, code, 1)


def test_no_other_request_carries_it() -> None:
    """Not the link, nor a redirect on the way, nor robots.txt, nor what comes after."""
    pages: dict[str, Page] = {
        f"{HOST}/doi": moved("/hop"),
        f"{HOST}/hop": moved("/article/1"),
        f"{HOST}/robots.txt": reply(b"User-agent: *\nAllow: /\n", content_type="text/plain"),
        PAGE: versioned(),
    }
    (capture, _), web = asked(pages, V1, f"{HOST}/doi", f"{HOST}/hop2", fetch_robots=True)
    assert unchanged(capture)
    assert capture.hops == (f"{HOST}/doi", f"{HOST}/hop", PAGE)
    assert [url for url, sent in conditions(web) if sent] == [PAGE]
    assert len(web.requests) == 5


def test_two_that_ask_for_it_at_once_get_each_its_own_answer() -> None:
    """One that knows the page and one that is forced, many times over the same connections."""

    async def work() -> tuple[list[Capture], Web]:
        async with Web({PAGE: versioned()}) as web, Fetcher(web.config()) as fetcher:

            async def ask(condition: Condition | None) -> Capture:
                async with fetcher.session() as session:
                    return await get(session, condition, PAGE)

            given = [Condition(PAGE, '"v1"'), None] * 20
            return await asyncio.gather(*map(ask, given)), web

    captures, web = run(work())
    assert [unchanged(capture) for capture in captures] == [True, False] * 20
    assert {capture.body for capture in captures[1::2]} == {BODY}
    assert sorted("if-none-match" in request.headers for request in web.requests) == [False] * 20 + [True] * 20


def test_a_page_that_has_become_a_redirect_is_followed() -> None:
    (capture,), web = asked({PAGE: moved("/new"), f"{HOST}/new": reply(b"new")}, V1)
    assert (capture.body, capture.terminal_url) == (b"new", f"{HOST}/new")
    assert [bool(sent) for _, sent in conditions(web)] == [True, False]


def test_a_back_end_that_cannot_is_asked_without() -> None:
    class Plain:
        async def get(self, url: str, deadline: float | None = None) -> Capture:
            return Capture(url, Status.NO_CAPTURE, (url,), datetime.now(UTC), url)

        async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest | None]:
            raise NotImplementedError

        def release(self) -> None: ...

    assert run(get(Plain(), V1, PAGE)).status is Status.NO_CAPTURE


@pytest.mark.parametrize(
    ("page", "word", "said"),
    [
        (versioned(), "not-modified", "still there"),
        (versioned(b"new", '"v2"'), "answered", "did not say that it is unchanged"),
        (once(reply(b"", 412), reply(BODY)), "again", "asking once more, without"),
    ],
)
def test_what_came_of_it_is_counted_and_told(page: Page, word: str, said: str) -> None:
    def count() -> float:
        return REGISTRY.get_sample_value("sandcrawler_fetch_conditions_total", {"answer": word}) or 0.0

    before, lines = count(), []
    asked({PAGE: page}, V1, watched=lines)
    assert count() == before + 1
    told: Sequence[str] = [line for line in lines if "on condition" in line]
    assert len(told) == 1
    assert "If-None-Match" in told[0]
    assert said in told[0]
    assert '> If-None-Match: "v1"' in lines
