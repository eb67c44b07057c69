"""The back end `wayback` against pywb, a real web archive, with captures of many years in one collection."""

import asyncio
import base64
import gzip
import hashlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.fetch.test_warc import written
from tests.ingest.replays import Replay, replaying

pytest.importorskip("pywb", reason="the archive needs the extra `test`")

HOST = "http://journal.example.org"
OK = "200 OK\nContent-Type: text/html"
SAME = b"the same" * 9
PACKED = gzip.compress(b"<p>packed</p>" * 100)
PAGES: tuple[tuple[str, str, bytes, str], ...] = (
    (f"{HOST}/a", OK, b"a of 2010", "2010-01-01T00:00:00Z"),
    (f"{HOST}/a", "301 Moved\nLocation: https://journal.example.org/a", b"", "2015-01-01T00:00:00Z"),
    (f"{HOST}/a", "404 Gone", b"no more", "2024-01-01T00:00:00Z"),
    ("https://journal.example.org/secure", OK, b"secure", "2020-01-01T00:00:00Z"),
    (f"{HOST}/secure", "301 Moved\nLocation: https://journal.example.org/secure", b"", "2020-01-01T00:00:00Z"),
    (f"{HOST}/link", "302 Found\nLocation: /b", b"", "2012-01-01T00:00:00Z"),
    (f"{HOST}/b", f'{OK}\nETag: "b12"', b"b of 2012", "2012-01-01T00:00:01Z"),
    (f"{HOST}/b", OK, b"b of 2024", "2024-01-01T00:00:00Z"),
    (f"{HOST}/gone", "404 Not Found\nContent-Type: text/html", b"not here", "2020-01-01T00:00:00Z"),
    (f"{HOST}/packed", f"{OK}\nContent-Encoding: gzip", PACKED, "2020-01-01T00:00:00Z"),
    (f"{HOST}/lost", "302 Found\nLocation: http://never.example.net/", b"", "2020-01-01T00:00:00Z"),
    (f"{HOST}/loop", "302 Found\nLocation: /pool", b"", "2020-01-01T00:00:00Z"),
    (f"{HOST}/pool", "302 Found\nLocation: /loop", b"", "2020-01-01T00:00:00Z"),
    (f"{HOST}/wide", OK, "ü – 漢".encode(), "2020-01-01T00:00:00Z"),
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    folder = tmp_path_factory.mktemp("pywb")
    file = folder / "years.warc.gz"
    again = ("revisit", f"{HOST}/again", OK, b"", {"WARC-Date": "2021-01-01T00:00:00Z", **refers(f"{HOST}/again")})
    first = ("response", f"{HOST}/again", OK, SAME, {"WARC-Date": "2020-01-01T00:00:00Z"})
    written(
        file, *(("response", url, head, body, {"WARC-Date": when}) for url, head, body, when in PAGES), first, again
    )
    with replaying(folder, [file]) as replay:
        yield replay


def refers(url: str) -> dict[str, str]:
    """The fields of a revisit of that URL in 2020."""
    return {"WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": "2020-01-01T00:00:00Z",
            "WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
            "WARC-Payload-Digest": f"sha1:{base64.b32encode(hashlib.sha1(SAME).digest()).decode()}"}  # fmt: skip


def settings(archive: Replay, **more: Any) -> Config:
    here = f"http://127.0.0.1:{archive.port}/web"
    given = {"fetch_wayback_cdx": f"{here}/cdx", "fetch_wayback_replay": here, "fetch_wayback_gap": 0}
    return Config(**{**given, "fetch_allow_addresses": "127.0.0.0/8", **more})


def asked(archive: Replay, *urls: str, backend: str = "wayback", seconds: float = 30, **more: Any) -> list[Capture]:
    """URLs, one after another, of one document."""

    async def work() -> list[Capture]:
        async with open_fetcher(settings(archive, **more), backend) as fetcher, fetcher.session() as session:
            return [await session.get(url, time.monotonic() + seconds) for url in urls]

    return asyncio.run(work())


def told(capture: Capture) -> tuple[Status, bytes | None]:
    return capture.status, capture.body


def test_an_old_success_comes_before_newer_redirects_and_errors(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/a")
    assert told(capture) == (Status.SUCCESS, b"a of 2010")
    assert capture.when.isoformat() == "2010-01-01T00:00:00+00:00"
    assert capture.header("content-type") == "text/html"


def test_the_page_under_https_and_not_the_redirect_to_it(archive: Replay) -> None:
    """The incumbent's loop: the exact URL, a redirect to https, was preferred to the page."""
    [capture] = asked(archive, f"{HOST}/secure")
    assert told(capture) == (Status.SUCCESS, b"secure")
    assert capture.hops == (f"{HOST}/secure", "https://journal.example.org/secure")
    assert capture.terminal_url == "https://journal.example.org/secure"


@pytest.mark.parametrize(("moment", "body"), [("", b"b of 2024"), (":20130101000000", b"b of 2012")])
def test_the_newest_or_the_nearest_to_a_moment(archive: Replay, moment: str, body: bytes) -> None:
    assert told(asked(archive, f"{HOST}/b", backend=f"wayback{moment}")[0]) == (Status.SUCCESS, body)


def test_redirects_are_followed_in_the_archive_and_near_their_moment(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/link")
    assert told(capture) == (Status.SUCCESS, b"b of 2012")
    assert capture.hops == (f"{HOST}/link", f"{HOST}/b")
    assert capture.header("etag") == '"b12"'


def test_the_first_capture_s_moment_is_that_of_all_that_follows(archive: Replay) -> None:
    assert [c.body for c in asked(archive, f"{HOST}/a", f"{HOST}/b")] == [b"a of 2010", b"b of 2012"]


def test_revisits_give_the_payload_at_their_own_moment(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/again", backend="wayback:20210101000000")
    assert told(capture) == (Status.SUCCESS, SAME)
    assert capture.when.year == 2021
    assert capture.place is None
    [capture] = asked(archive, f"{HOST}/again")
    assert (capture.when.year, capture.body) == (2020, SAME)


def test_content_codings_are_undone(archive: Replay) -> None:
    assert told(asked(archive, f"{HOST}/packed")[0]) == (Status.SUCCESS, b"<p>packed</p>" * 100)


def test_the_row_s_place_is_the_record_s(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/wide")
    assert capture.place is not None
    file = next((archive.folder / "collections" / "web" / "archive").glob(capture.place.path))
    record = file.read_bytes()[capture.place.offset : capture.place.offset + capture.place.csize]
    assert gzip.decompress(record).rstrip(b"\r\n").endswith("ü – 漢".encode())


def test_errors_are_told_as_the_web_s(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/gone")
    assert (capture.status, capture.status_code, capture.body) == (Status.TERMINAL_BAD_STATUS, 404, b"not here")


@pytest.mark.parametrize(
    ("url", "status"),
    [
        (f"{HOST}/never", Status.NO_CAPTURE),
        (f"{HOST}/a?b", Status.NO_CAPTURE),
        (f"{HOST}/lost", Status.NO_CAPTURE),
        (f"{HOST}/loop", Status.REDIRECT_LOOP),
        ("ftp://journal.example.org/", Status.BAD_URL),
        ("https://archive.org/details/x", Status.SKIP_URL_BLOCKLIST),
    ],
)
def test_what_cannot_be_had_has_its_status(archive: Replay, url: str, status: Status) -> None:
    [capture] = asked(archive, url)
    assert (capture.status, capture.body) == (status, None)
    assert capture.error_message


def test_bodies_are_bounded(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/packed", fetch_body_bytes=500)
    assert told(capture) == (Status.BODY_TOO_LARGE, None)


def test_an_archive_at_a_forbidden_address_is_not_asked(archive: Replay) -> None:
    [capture] = asked(archive, f"{HOST}/a", fetch_allow_addresses="")
    assert capture.status is Status.CDX_ERROR
    assert "loopback" in (capture.error_message or "")


def test_time_is_bounded(archive: Replay) -> None:
    assert asked(archive, f"{HOST}/a", seconds=0)[0].status in {Status.TIMEOUT, Status.CDX_ERROR}


@pytest.mark.parametrize("name", ["wayback:", "wayback:2020", "wayback:x"])
def test_other_names_are_said_to_be_wrong(name: str) -> None:
    with pytest.raises(ConfigurationError, match="wayback"):
        open_fetcher(Config(), name)


def test_another_capture_is_taken_where_a_record_is_damaged(archive: Replay) -> None:
    """Last: the archive's file is damaged after it was indexed."""
    file = archive.folder / "collections" / "web" / "archive" / "years.warc.gz"
    [capture] = asked(archive, f"{HOST}/b", f"{HOST}/packed")[:1]
    assert capture.place is not None
    whole = file.read_bytes()
    try:
        file.write_bytes(
            whole[: capture.place.offset]
            + b"\0" * capture.place.csize
            + whole[capture.place.offset + capture.place.csize :]
        )
        [other] = asked(archive, f"{HOST}/b")
        assert told(other) == (Status.SUCCESS, b"b of 2012")
    finally:
        file.write_bytes(whole)
