"""The back end `warc:`: answers out of WARC files, our own and those that others write."""

import asyncio
import gzip
import io
import time
import tracemalloc
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.heads import NAME
from sandcrawler.fetch.warc import WarcFetcher
from sandcrawler.fetch.warchttp import read_head
from sandcrawler.fetch.warcindex import WarcIndex
from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.fetch.warcs import HOST, records, tape
from tests.fetch.web import Page, Web, moved, reply

PAGE = b"<html>" + b"words " * 400 + b"</html>"
A, B = f"{HOST}/a", f"{HOST}/b"


def asked(path: Path | str, *urls: str, seconds: float = 20, **more: Any) -> list[Capture]:
    """URLs, one after another, of one file."""

    async def work() -> list[Capture]:
        async with WarcFetcher(Config(**more), str(path)) as fetcher, fetcher.session() as session:
            return [await session.get(url, time.monotonic() + seconds) for url in urls]

    return asyncio.run(work())


def recorded(folder: Path, pages: dict[str, Page], *urls: str, parts: Iterable[str] = (), **more: Any) -> list[Capture]:
    """The live captures of these URLs; the WARC is made.warc.gz."""
    return tape(pages, *urls, folder=folder, parts=tuple(parts), **more).captures


def written(path: Path, *each: tuple[str, str, str, bytes, dict[str, str]], gz: bool = True) -> Path:
    """A WARC as another writer makes it: (type, URL, head, body, WARC headers)."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=gz, warc_version="1.0")
        writer.write_record(writer.create_warcinfo_record("other.warc", {"software": "other/1.0"}))
        for kind, url, first, body, fields in each:
            line, *lines = first.split("\n")
            http = StatusAndHeaders(line, [tuple(each.split(": ", 1)) for each in lines], protocol="HTTP/1.1")
            payload = io.BytesIO(body) if body else None
            extra = {"http_headers": http} if first else {"warc_content_type": "text/html"}
            writer.write_record(
                writer.create_warc_record(
                    url, kind, payload=payload, length=len(body), warc_headers_dict=dict(fields), **extra
                )
            )
    return path


ODD: dict[str, Page] = {
    A: reply(gzip.compress(PAGE), content_encoding="gzip", etag='"1"'),
    B: moved("/moved", 301),
    f"{HOST}/gone": reply(b"gone", 404),
    f"{HOST}/empty": reply(b""),
    f"{HOST}/older": b"HTTP/1.0 200 Fine\r\nContent-Type: text/html\r\n\r\n" + PAGE,
    f"{HOST}/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    f"{HOST}/latin": reply(b"x", x_name="M\xfcller"),
    f"{HOST}/broken": reply(gzip.compress(PAGE)[:-30], content_encoding="gzip"),
    f"{HOST}/lost": moved("", 302),
}


def test_what_was_captured_live_is_answered_the_same(tmp_path: Path) -> None:
    live = recorded(tmp_path, ODD, *ODD)
    assert live[1].hops == (B, f"{HOST}/moved")
    for one, again in zip(live, asked(tmp_path / "made.warc.gz", *ODD), strict=True):
        assert (again.status, again.status_code, again.body) == (one.status, one.status_code, one.body), one.url
        assert (again.hops, again.terminal_url, again.when) == (one.hops, one.terminal_url, one.when)
        kept = tuple(field for field in one.headers if field[0].lower() != "transfer-encoding")
        assert tuple(field for field in again.headers if "transfer-encoding" not in field[0].lower()) == kept


def test_the_place_is_the_record_s(tmp_path: Path) -> None:
    recorded(tmp_path, {A: reply(PAGE)}, A)
    (capture,) = asked(tmp_path / "made.warc.gz", A)
    assert capture.place is not None
    data = (tmp_path / "made.warc.gz").read_bytes()
    (record,) = records(data[capture.place.offset : capture.place.offset + capture.place.csize])
    assert (record.url, record.body) == (A, PAGE)


def test_what_is_not_there_is_no_capture(tmp_path: Path) -> None:
    recorded(tmp_path, {A: moved("/b")}, A)
    there, not_there = asked(tmp_path / "made.warc.gz", A, "https://example.com/")
    assert (there.status, there.status_code) == (Status.TERMINAL_BAD_STATUS, 404)
    assert (not_there.status, not_there.hops) == (Status.NO_CAPTURE, ("https://example.com/",))
    assert not_there.body is None


def test_other_spellings_of_a_url_find_it(tmp_path: Path) -> None:
    recorded(tmp_path, {f"{HOST}/a?x=1&y=2": reply(PAGE)}, f"{HOST}/a?x=1&y=2")
    spellings = ["HTTP://Journal.Example.ORG:80/a?x=1&y=2#top", "https://www.journal.example.org/a?y=2&x=1"]
    assert [capture.body for capture in asked(tmp_path / "made.warc.gz", *spellings)] == [PAGE, PAGE]


def test_a_revisit_gives_the_payload_it_refers_to(tmp_path: Path) -> None:
    pages: dict[str, Page] = {A: reply(PAGE, etag="first"), B: reply(PAGE, etag="second")}
    recorded(tmp_path, pages, A, parts=[B])
    (capture,) = asked(tmp_path / "made.warc.gz", B)
    assert (capture.body, capture.header("etag"), capture.terminal_url) == (PAGE, "second", B)


OK = "200 OK\nContent-Type: text/html"


def test_files_of_other_writers(tmp_path: Path) -> None:
    digest = {"WARC-Payload-Digest": "sha1:AAAA"}
    path = written(
        tmp_path / "other.warc",
        ("response", A, f"{OK}\nTransfer-Encoding: chunked", b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", {}),
        ("response", B, f"{OK}\nTransfer-Encoding: chunked", b"never was chunked", digest),
        ("revisit", f"{HOST}/bare", "", b"", digest | {"WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/x"}),
        ("resource", f"{HOST}/resource", "", PAGE, {"Content-Type": "text/html"}),
        ("response", f"{HOST}/packed", f"{OK}\nContent-Encoding: gzip\nContent-Length: 9", PAGE, {}),
        ("response", f"{HOST}/cut", OK, PAGE, {"WARC-Truncated": "length"}),
        ("response", f"{HOST}/short", f"{OK}\nContent-Length: 99999", PAGE, {}),
        ("metadata", f"{HOST}/meta", "", b"a: b", {}),
        ("response", "dns:example.org", "", b"20200101 example.org", {"Content-Type": "text/dns"}),
        gz=False,
    )
    urls = [A, B, *(f"{HOST}/{name}" for name in ("bare", "resource", "packed", "cut", "short", "meta"))]
    got = asked(path, *urls)
    assert [capture.body for capture in got[:5]] == [b"abcde", b"never was chunked", b"never was chunked", PAGE, PAGE]
    assert got[3].header("content-type") == "text/html"
    assert [capture.status for capture in got[5:]] == [Status.TRUNCATED_BODY, Status.TRUNCATED_BODY, Status.NO_CAPTURE]


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    for name, url in (("one", A), ("two", f"{HOST}/b")):
        (tmp_path / name).mkdir()
        recorded(tmp_path / name, {url: reply(PAGE + name.encode())}, url)
    (tmp_path / "broken.warc.gz").write_bytes(b"nothing")
    first, second, third = asked(tmp_path, A, f"{HOST}/b", f"{HOST}/c")
    assert (first.body, second.body) == (PAGE + b"one", PAGE + b"two")
    assert [Path(each.place.path).parent.name for each in (first, second) if each.place] == ["one", "two"]
    assert third.status is Status.NO_CAPTURE
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="no WARC in it"):
        asked(tmp_path / "empty", A)


def test_of_several_captures_the_best_is_taken(tmp_path: Path) -> None:
    def at(year: int) -> dict[str, str]:
        return {"WARC-Date": f"{year}-01-01T00:00:00Z"}

    path = written(
        tmp_path / "many.warc.gz",
        ("response", A, OK, b"2018", at(2018)),
        ("response", A, OK, b"2020", at(2020)),
        ("response", A, OK, b"2019", at(2019)),
        ("response", A, OK, b"2021, cut", at(2021) | {"WARC-Truncated": "time"}),
        ("response", A, "302 Found\nLocation: /login", b"", at(2022)),
        ("response", A, "503 Sorry", b"", at(2023)),
        ("response", B, "503 Sorry", b"", at(2023)),
        ("response", B, "302 Found\nLocation: /a", b"", at(2022)),
    )
    first, second = asked(path, A, B)
    assert (first.body, first.when) == (b"2020", datetime(2020, 1, 1, tzinfo=UTC))
    assert second.hops == (B, A)


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    path = written(
        tmp_path / "loop.warc.gz",
        ("response", A, "302 Found\nLocation: /b", b"", {}),
        ("response", B, "302 Found\nLocation: /a", b"", {}),
    )
    assert asked(path, A)[0].status is Status.REDIRECT_LOOP


def test_bodies_stay_under_the_limit(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(5 << 20))
    path = written(
        tmp_path / "bomb.warc.gz",
        ("response", A, f"{OK}\nContent-Encoding: gzip", bomb, {}),
        ("response", B, OK, bytes(3 << 20), {}),
    )
    got = asked(path, A, B, fetch_body_bytes=1 << 20)
    assert [capture.status for capture in got] == [Status.BODY_TOO_LARGE] * 2


def test_a_file_that_was_cut_gives_what_it_has(tmp_path: Path) -> None:
    recorded(tmp_path, {A: reply(PAGE), B: reply(PAGE[::-1] * 50)}, A, B)
    data = (tmp_path / "made.warc.gz").read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(data[: len(data) * 3 // 4])
    first, second = asked(tmp_path / "cut.warc.gz", A, B)
    assert first.body == PAGE
    assert second.status in (Status.NO_CAPTURE, Status.WAYBACK_CONTENT_ERROR)
    assert second.body is None


def test_a_record_whose_bytes_were_changed_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "plain.warc", ("response", A, OK, PAGE, {}), gz=False)
    path.write_bytes(path.read_bytes().replace(b"words words", b"words sword", 1))
    (capture,) = asked(path, A)
    assert capture.status is Status.WAYBACK_CONTENT_ERROR
    assert "digest" in (capture.error_message or "")


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG", gzip.compress(b"hello"), b"WARC/1.0\r\n", b"WARC/1.0\r\n\r\n\r\n" * 3]
)
def test_what_is_no_warc_is_said_at_the_start(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.warc.gz").write_bytes(data)
    with pytest.raises(ConfigurationError, match=r"x\.warc\.gz"):
        asked(tmp_path / "x.warc.gz", A)
    with pytest.raises(ConfigurationError, match="no such file"):
        asked(tmp_path / "missing.warc.gz", A)


def test_a_large_file_is_indexed_in_little_memory(tmp_path: Path) -> None:
    """5,000 captures; what Python holds of the index stays small."""
    path = tmp_path / "large.warc"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=False)
        for number in range(5_000):
            http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            body = io.BytesIO(b"%d" % number * 20)
            writer.write_record(
                writer.create_warc_record(
                    f"{HOST}/{number}", "response", payload=body, length=len(body.getvalue()), http_headers=http
                )
            )
    tracemalloc.start()
    index = WarcIndex(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(index) == 5_000
    assert peak < 4 << 20
    index.close()
    (capture,) = asked(path, f"{HOST}/4876")
    assert capture.body == b"4876" * 20


def test_a_warc_on_the_web_comes_through_the_guard(tmp_path: Path) -> None:
    recorded(tmp_path, {A: reply(PAGE)}, A)
    data = (tmp_path / "made.warc.gz").read_bytes()

    async def work(**more: Any) -> Capture:
        async with Web({"http://other.example.com/x.warc.gz": reply(data)}) as web:
            config = web.config(None, **more)
            async with (
                WarcFetcher(config, "http://other.example.com/x.warc.gz") as fetcher,
                fetcher.session() as session,
            ):
                return await session.get(A)

    assert asyncio.run(work()).body == PAGE
    with pytest.raises(ConfigurationError, match="cannot be fetched"):
        asyncio.run(work(fetch_allow_addresses=""))


@pytest.mark.parametrize("endless", [b"x" * (64 << 20), b"x: y\r\n" * (10 << 20)], ids=["a line", "lines"])
def test_an_endless_head_does_not_fill_memory(tmp_path: Path, endless: bytes) -> None:
    """In the record's own head and in HTTP's; 64 MB that are 64 KB when packed; a read may unpack 4 MB."""
    path = written(tmp_path / "first.warc.gz", ("response", A, OK, PAGE, {}))
    http = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\n"
    with path.open("ab") as file:
        file.write(gzip.compress(http % (B.encode(), len(endless) + 17) + endless + b"\r\n\r\n"))
        file.write(gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\n" + endless))
    tracemalloc.start()
    first, second = asked(path, A, B)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (first.body, second.status) == (PAGE, Status.NO_CAPTURE)
    assert peak < 16 << 20


NAMES = st.from_regex(NAME, fullmatch=True)
VALUES = st.binary(max_size=30).map(lambda b: b.translate(None, b"\0\r\n").strip())


@settings(max_examples=200)
@given(st.lists(st.tuples(NAMES, VALUES), max_size=8), st.binary(max_size=30))
def test_a_head_is_read_as_it_was_written(fields: list[tuple[bytes, bytes]], body: bytes) -> None:
    lines = [b"HTTP/1.1 200 OK", *(b"%s: %s" % field for field in fields)]
    stream = io.BytesIO(b"\r\n".join(lines) + b"\r\n\r\n" + body)
    got = read_head(stream)
    assert [(name.encode("latin-1"), value.encode("latin-1")) for name, value in got.headers] == [
        (name, value.strip()) for name, value in fields
    ]
    assert (got.code, stream.read()) == (200, body)
