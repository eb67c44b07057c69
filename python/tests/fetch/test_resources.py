"""Sub-resources in parallel (checklist H55), and the row of a capture index."""

import asyncio
import gzip
import hashlib
import time
from collections.abc import Sequence
from typing import Any

from sandcrawler import model
from sandcrawler.extract.sniff import file_meta
from sandcrawler.extract.stylesheets import css_resources
from sandcrawler.fetch.cdx import cdx_row
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.model import MissingResource, WantedResource, WebResource
from sandcrawler.status import Status

from .web import Page, Web, fetched, moved, reply, run

SITE = "http://journal.example.org"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64


async def gathered(
    web: Web, wanted: list[WantedResource], parallel: int = 8, seconds: float = 60, **more: Any
) -> tuple[tuple[WebResource, ...], tuple[MissingResource, ...]]:
    async with Fetcher(web.config(**more)) as fetcher, fetcher.session() as session:
        return await capture_resources(session, wanted, time.monotonic() + seconds, Bounds(parallel))


def image(url: str) -> WantedResource:
    return WantedResource(url=url, resource_type="image")


def test_h55_one_that_fails_is_listed_and_fails_nothing() -> None:
    async def work() -> None:
        pages: dict[str, Page] = {
            f"{SITE}/a.png": reply(PNG, content_type="image/png"),
            f"{SITE}/old.css": moved("http://cdn.example.net/new.css"),
            "http://cdn.example.net/new.css": reply(
                gzip.compress(b"p{}"), content_type="text/css", content_encoding="gzip"
            ),
            f"{SITE}/empty.js": reply(b""),
        }
        wanted = [
            image(f"{SITE}/gone.png"),
            image(f"{SITE}/a.png"),
            WantedResource(url=f"{SITE}/old.css", resource_type="stylesheet"),
            WantedResource(url=f"{SITE}/empty.js", resource_type="script"),
            WantedResource(url=f"{SITE}/a.png", resource_type="font"),
            image("http://10.0.0.1/x.png"),
            image("mailto:x"),
        ]
        async with Web(pages) as web:
            found, missing = await gathered(web, wanted)
        assert [(each.url, each.resource_type) for each in found] == [
            (f"{SITE}/a.png", "image"),
            (f"{SITE}/old.css", "stylesheet"),
            (f"{SITE}/a.png", "font"),
        ]
        png, css, _ = found
        assert (png.sha1hex, png.size, png.mimetype) == (hashlib.sha1(PNG).hexdigest(), len(PNG), "image/png")
        assert (css.sha256hex, css.size, css.status_code) == (hashlib.sha256(b"p{}").hexdigest(), 3, 200)
        assert css.surt == "org,example,journal)/old.css"
        assert png.timestamp.endswith("Z")
        assert [(each.url, each.status, each.status_code) for each in missing] == [
            (f"{SITE}/gone.png", Status.TERMINAL_BAD_STATUS, 404),
            (f"{SITE}/empty.js", Status.EMPTY_BLOB, 200),
            ("http://10.0.0.1/x.png", Status.BLOCKED_ADDRESS, None),
            ("mailto:x", Status.BAD_URL, None),
        ]
        assert all(each.error_message for each in missing)
        assert [request.url for request in web.requests].count(f"{SITE}/a.png") == 1

    run(work())


def test_h55_a_host_that_has_enough_is_left_alone_by_the_other_parts_too() -> None:
    async def work() -> None:
        full = {f"{SITE}/{n}.png": reply(b"slow down", 429, retry_after="300") for n in range(9)}
        async with Web({**full, "http://cdn.example.net/a.png": reply(PNG, content_type="image/png")}) as web:
            found, missing = await gathered(web, [*map(image, full), image("http://cdn.example.net/a.png")], 1)
        assert [each.url for each in found] == ["http://cdn.example.net/a.png"]
        assert [(each.url, each.status) for each in missing] == [(url, Status.HOST_BACKOFF) for url in full]
        assert [request.url for request in web.requests if "journal" in request.url] == [f"{SITE}/0.png"]

    run(work())


def test_h55_a_slow_one_ends_at_the_deadline() -> None:
    async def slow(_: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def work() -> None:
        async with Web({f"{SITE}/slow.png": slow, f"{SITE}/a.png": reply(PNG)}) as web:
            wanted = [image(f"{SITE}/slow.png"), image(f"{SITE}/a.png")]
            found, missing = await gathered(web, wanted, seconds=3)
        assert [each.url for each in found] == [f"{SITE}/a.png"]
        assert [each.status for each in missing] == [Status.TIMEOUT]

    run(work())


def test_so_many_at_a_time() -> None:
    at_once: list[int] = []
    running = 0

    async def page(_: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal running
        running += 1
        at_once.append(running)
        await asyncio.sleep(0.2)
        running -= 1
        writer.write(reply(PNG))

    async def work() -> None:
        wanted = [image(f"{SITE}/{n}.png") for n in range(12)]
        async with Web({each.url: page for each in wanted}) as web:
            found, _ = await gathered(web, wanted, parallel=4)
        assert [each.url for each in found] == [each.url for each in wanted]

    run(work())
    assert max(at_once) == 4


def test_a_slow_host_does_not_hold_up_the_others() -> None:
    async def slow(_: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def work() -> None:
        wanted = [image(f"{SITE}/{n}.png") for n in range(20)] + [
            image(f"http://cdn.example.net/{n}") for n in range(5)
        ]
        pages: dict[str, Page] = {each.url: reply(PNG) if "cdn" in each.url else slow for each in wanted}
        async with Web(pages) as web:
            found, missing = await gathered(web, wanted, parallel=4, seconds=3, fetch_host_parallel=1)
        assert (len(found), len(missing)) == (5, 20)

    run(work())


def test_nothing_wanted() -> None:
    async def work() -> None:
        async with Web({}) as web:
            assert await gathered(web, []) == ((), ())

    run(work())


def test_the_row_of_an_index() -> None:
    async def work() -> None:
        page = reply(b"<html></html>", etag='"1"', last_modified="then", content_type="Text/HTML; charset=utf-8")
        async with Web({f"{SITE}/a": moved("/b?y=1&x=2"), f"{SITE}/b?y=1&x=2": page}) as web:
            capture = await fetched(web, f"{SITE}/a")
        row = cdx_row(capture, file_meta(b"<html></html>"))
        assert (row.url, row.surt) == (f"{SITE}/b?y=1&x=2", "org,example,journal)/b?x=2&y=1")
        assert (row.mimetype, row.status_code, row.etag, row.last_modified) == ("text/html", 200, '"1"', "then")
        assert row.datetime == capture.when.strftime("%Y%m%d%H%M%S")
        assert len(row.sha1b32) == 32

    run(work())


def test_what_style_sheets_ask_for_is_fetched_one_level_deep_and_within_the_limit() -> None:
    async def work() -> None:
        css = {
            f"{SITE}/css/a.css": b"@import 'b.css'; h1 { background: url(../figure.png) } h2 { src: url(bg.png) }",
            f"{SITE}/css/b.css": b"p { background: url(deeper.png) }",
        }
        pages: dict[str, Page] = {url: reply(text, content_type="text/css") for url, text in css.items()}
        pages |= {f"{SITE}/{name}": reply(PNG, content_type="image/png") for name in ("figure.png", "css/bg.png")}
        wanted = [WantedResource(url=f"{SITE}/css/a.css", resource_type="stylesheet"), image(f"{SITE}/figure.png")]
        async with Web(pages) as web, Fetcher(web.config()) as fetcher, fetcher.session() as session:
            deadline = time.monotonic() + 60

            async def linked(sheet: model.Page) -> Sequence[WantedResource]:
                return css_resources(sheet.body.decode(), sheet.url)

            found, missing = await capture_resources(session, wanted, deadline, Bounds(8), linked)
            assert [each.url.removeprefix(SITE) for each in found] == [
                "/css/a.css",
                "/figure.png",
                "/css/b.css",
                "/css/bg.png",
            ]
            assert not missing
            found, missing = await capture_resources(session, wanted, deadline, Bounds(8, most=3), linked)
            assert len(found) == 3
            assert [(each.url, each.status) for each in missing] == [(f"{SITE}/css/bg.png", Status.TOO_MANY_RESOURCES)]

    run(work())
