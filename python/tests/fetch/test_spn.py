"""The back end `spn` against a small real server that behaves as the API's documentation says."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.spn import LOOK_UPS, SUBMISSIONS, Addresses, SpnFetcher
from sandcrawler.fetch.spnapi import WAITS
from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.fetch.savepage import Archive, Saved, now

URL, LINK = "http://journal.example.org/a", "http://journal.example.org/link"
PAGE = Saved(now(), b"saved just now")


async def at_once(_: float) -> None:
    await asyncio.sleep(0)


async def public(_: str) -> list[str]:
    """Every name leads to the public internet."""
    return ["8.8.8.8", "2606:4700::1111"]


def saved(
    archive: Archive,
    *urls: str,
    documents: int = 1,
    seconds: float = 20,
    looks_up: Addresses = public,
    **more: Any,
) -> list[Capture]:
    """URLs, one after another, of each of so many documents."""

    async def work() -> list[Capture]:
        captures = []
        async with archive, SpnFetcher(archive.config(**more), sleeper=at_once, addresses=looks_up) as fetcher:
            for _ in range(documents):
                async with fetcher.session() as session:
                    captures += [await session.get(url, time.monotonic() + seconds) for url in urls]
        return captures

    return asyncio.run(work())


def error(word: str, **more: str) -> dict[str, str]:
    return {"status": "error", "status_ext": f"error:{word}", "message": "Sorry.", **more}


def test_a_page_is_saved_and_looked_up() -> None:
    archive = Archive({URL: [Saved("20200101000000", b"old")]}, new={URL: PAGE}, lag=2)
    [capture] = saved(archive, URL)
    assert (capture.status, capture.body, capture.hops) == (Status.SUCCESS, b"saved just now", (URL,))
    assert capture.when == PAGE.when
    method, path, form, headers = archive.asked[0]
    assert (method, path, headers["Authorization"], headers["Accept"]) == (
        "POST",
        "/save",
        "LOW key:hidden",
        "application/json",
    )
    assert form["url"] == URL
    assert form["if_not_archived_within"] == "14d"
    assert "0" not in {form.get(name) for name in ("capture_outlinks", "capture_screenshot", "force_get")}
    assert archive.count("/save/status/spn2-") == 3
    assert not any("Authorization" in each[3] for each in archive.asked if not each[1].startswith("/save"))


def test_what_is_old_is_not_taken_for_what_was_saved() -> None:
    """An older success never stands for a new error."""
    archive = Archive({URL: [Saved("20200101000000", b"old")]}, new={URL: Saved(now(), b"gone", 404)})
    [capture] = saved(archive, URL)
    assert (capture.status, capture.status_code, capture.body) == (Status.TERMINAL_BAD_STATUS, 404, b"gone")


def test_redirects_and_parts_come_from_the_same_capture() -> None:
    moved = Saved(PAGE.moment, b"", 302, {"Location": "/a"})
    image = Saved("20150101000000", b"an image that it had")
    archive = Archive({URL: [PAGE], "http://cdn.example.net/1.png": [image]}, new={LINK: moved})
    page, part = saved(archive, LINK, "http://cdn.example.net/1.png")
    assert (page.body, page.hops) == (PAGE.body, (LINK, URL))
    assert part.body == image.body
    assert archive.count("/save") - archive.count("/save/") == 1


def test_few_urls_of_a_document_are_saved() -> None:
    new = {f"{URL}/{number}": Saved(now(), b"%d" % number) for number in range(20)}
    captures = saved(Archive(new=new), *new)
    statuses = [capture.status for capture in captures]
    assert statuses == [Status.SUCCESS] * SUBMISSIONS + [Status.NO_CAPTURE] * (20 - SUBMISSIONS)


@pytest.mark.parametrize("word", ["not-found", "invalid-host-resolution", "blocked-url", "soft-time-limit-exceeded"])
@pytest.mark.parametrize("service", ["save", "status"])
def test_an_error_is_told_by_the_api_s_word_and_is_no_status(word: str, service: str) -> None:
    [capture] = saved(Archive(new={URL: PAGE}, script={service: [error(word)]}), URL)
    assert (capture.status, capture.hops, capture.retry_at) == (Status.SPN2_ERROR, (URL,), None)
    assert f"{word}: Sorry." in (capture.error_message or "")


@pytest.mark.parametrize("word", sorted(WAITS.keys() - {"too-many-daily-captures"}))
@pytest.mark.parametrize("service", ["save", "status"])
def test_an_error_of_the_moment_is_a_backoff(word: str, service: str) -> None:
    [capture] = saved(Archive(new={URL: PAGE}, script={service: [error(word)]}), URL)
    assert capture.status is Status.SPN2_BACKOFF
    assert word in (capture.error_message or "")
    assert capture.retry_at is not None
    assert abs((capture.retry_at - datetime.now(UTC)).total_seconds() - WAITS[word].seconds) < 20


def test_no_document_asks_while_the_account_must_wait() -> None:
    archive = Archive(new={URL: PAGE}, script={"save": [error("user-session-limit")]})
    captures = saved(archive, URL, documents=3)
    assert [capture.status for capture in captures] == [Status.SPN2_BACKOFF] * 3
    assert archive.count("/save") == 1


def test_what_was_saved_often_today_is_looked_up() -> None:
    archive = Archive({URL: [Saved(now(hours=3), b"of today")]}, script={"save": [error("too-many-daily-captures")]})
    assert saved(archive, URL)[0].body == b"of today"


@pytest.mark.parametrize("service", ["save", "status"])
def test_throttling_is_a_backoff_and_others_wait(service: str) -> None:
    script = {service: [web.Response(status=429, headers={"Retry-After": "120"})]}
    archive = Archive(new={URL: PAGE}, script=script)
    first, second = saved(archive, URL, documents=2)
    assert first.status is second.status is Status.SPN2_BACKOFF
    assert first.retry_at is not None
    assert (first.retry_at - datetime.now(UTC)).total_seconds() > 60
    assert archive.count("/save") == (1 if service == "save" else 2)


@pytest.mark.parametrize(
    "said",
    [
        b"<html>", b"[]", b"1", b"", b"[" * 99_999, {}, {"job_id": 7}, {"job_id": "../cdx?x"}, {"job_id": "x" * 999},
        {"status": "error", "status_ext": "error:" + "x" * 99}, web.Response(status=403, text="no"),
        {"status": "error", "message": "\x00" * 5000},
    ],
)  # fmt: skip
def test_nonsense_is_an_error(said: object) -> None:
    archive = Archive(new={URL: PAGE}, script={"save": [said]})
    [capture] = saved(archive, URL)
    assert capture.status is Status.SPN2_ERROR
    assert archive.count("/") == 1


@pytest.mark.parametrize("said", [b"<html>", {"status": "success"}, {"status": "success", "timestamp": "now"}, {}])
def test_nonsense_about_a_job_is_an_error(said: object) -> None:
    assert saved(Archive(new={URL: PAGE}, script={"status": [said]}), URL)[0].status is Status.SPN2_ERROR


def test_wrong_keys_are_an_error_that_does_not_tell_them() -> None:
    [capture] = saved(Archive(new={URL: PAGE}), URL, fetch_spn_secret_key="wrong-secret")
    assert capture.status is Status.SPN2_ERROR
    assert "logged in" in (capture.error_message or "")
    assert "wrong-secret" not in (capture.error_message or "")


def test_a_submission_is_not_repeated() -> None:
    archive = Archive(new={URL: PAGE}, script={"save": [web.Response(status=502)]})
    assert saved(archive, URL)[0].status is Status.SPN2_ERROR
    assert archive.count("/save") == 1


def test_a_job_is_waited_for_within_bounds() -> None:
    archive = Archive(script={"status": [{"status": "pending"}] * 99})
    [capture] = saved(archive, URL, fetch_spn_seconds=30)
    assert (capture.status, archive.count("/save/status")) == (Status.SPN2_ERROR, 10)


def test_the_document_s_time_limit_ends_it() -> None:
    async def work() -> Capture:
        archive = Archive(script={"status": [{"status": "pending"}] * 99})
        async with archive, SpnFetcher(archive.config(), addresses=public) as fetcher, fetcher.session() as session:
            return await session.get(URL, time.monotonic() + 0.5)

    start = time.monotonic()
    assert asyncio.run(work()).status is Status.TIMEOUT
    assert time.monotonic() - start < 30


def test_an_index_that_lags_for_long_is_a_backoff() -> None:
    archive = Archive(new={URL: PAGE}, lag=99)
    [capture] = saved(archive, URL)
    assert (capture.status, archive.count("/cdx")) == (Status.SPN2_BACKOFF, LOOK_UPS)
    assert PAGE.moment in (capture.error_message or "")


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://10.1.2.3/secret", Status.BLOCKED_ADDRESS),
        ("http://[::1]/", Status.BLOCKED_ADDRESS),
        ("http://0x7f.1/", Status.BLOCKED_ADDRESS),
        ("http://journal.example.org:22/", Status.BLOCKED_ADDRESS),
        ("https://archive.org/details/x", Status.SKIP_URL_BLOCKLIST),
        ("file:///etc/passwd", Status.BAD_URL),
    ],
)
def test_what_is_not_fetched_from_here_is_not_told_to_others(url: str, status: Status) -> None:
    archive = Archive()
    assert saved(archive, url)[0].status is status
    assert not archive.asked


@pytest.mark.parametrize(
    "addresses", [["10.1.2.3"], ["8.8.8.8", "192.168.0.7"], ["::ffff:127.0.0.1"], ["fd00::1"], ["127.0.0.1"]]
)
def test_a_name_that_is_private_from_here_is_not_told_to_others(addresses: list[str]) -> None:
    """Not even where the operator has exempted the network: it may be fetched, and is nobody else's business."""

    async def private(_: str) -> list[str]:
        return addresses

    archive = Archive(new={URL: PAGE})
    [capture] = saved(archive, URL, looks_up=private, fetch_allow_addresses="127.0.0.0/8,10.0.0.0/8")
    assert capture.status is Status.BLOCKED_ADDRESS
    assert not archive.asked


@pytest.mark.parametrize("error", [OSError("no such name"), TimeoutError("too slow")])
def test_a_name_that_leads_nowhere_is_not_told(error: OSError) -> None:
    async def nowhere(_: str) -> list[str]:
        raise error

    archive = Archive(new={URL: PAGE})
    [capture] = saved(archive, URL, looks_up=nowhere)
    assert capture.status is Status.DNS_ERROR
    assert not archive.asked


def test_names_are_looked_up_by_the_system() -> None:
    async def work() -> Capture:
        archive = Archive(new={URL: PAGE})
        async with archive, SpnFetcher(archive.config()) as fetcher, fetcher.session() as session:
            return await session.get("http://nowhere.invalid/", time.monotonic() + 20)

    assert asyncio.run(work()).status is Status.DNS_ERROR


def test_user_names_are_not_told() -> None:
    archive = Archive(new={URL: PAGE})
    assert saved(archive, "http://me:secret@journal.example.org/a")[0].body == PAGE.body
    assert archive.asked[0][2]["url"] == URL


def test_without_keys_there_is_none() -> None:
    with pytest.raises(ConfigurationError, match="SANDCRAWLER_FETCH_SPN_ACCESS_KEY"):
        open_fetcher(Config(), "spn")
