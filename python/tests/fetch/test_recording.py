"""What a session saw, as WARC records: read back with warcio, whole and one byte range at a time."""

import asyncio
import base64
import gzip
import hashlib
import tempfile
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler.config import Config
from sandcrawler.errors import Unavailable
from sandcrawler.fetch import recording as module
from sandcrawler.fetch.recording import Recording
from sandcrawler.status import Status
from tests.fetch.warcs import HOST, checked, tape
from tests.fetch.web import Request, moved, reply

PAGE, PNG = b"<html>" + b"words " * 400 + b"</html>", b"\x89PNG" + bytes(range(256)) * 8


def sha1(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()


def test_a_page_is_a_warcinfo_a_response_and_its_request(tmp_path: Path) -> None:
    taped = tape({f"{HOST}/a": reply(PAGE, x_odd="one", etag='"e"')}, f"{HOST}/a", folder=tmp_path)
    info, response, request = taped.records
    assert [info.kind, response.kind, request.kind] == ["warcinfo", "response", "request"]
    assert checked(tmp_path / "made.warc.gz")
    assert b"software: sandcrawler/" in info.body
    assert b"http-header-user-agent: sandcrawler/" in info.body
    assert b"robots: ignore" in info.body, "as the settings of these tests have it"
    assert response.body == PAGE
    assert (response.url, response.status) == (f"{HOST}/a", "200 X")
    assert response.fields["WARC-IP-Address"] == "127.0.0.1"
    assert response.fields["WARC-Payload-Digest"] == sha1(PAGE)
    assert response.fields["WARC-Block-Digest"].startswith("sha1:")
    assert response.fields["WARC-Warcinfo-ID"] == info.fields["WARC-Record-ID"]
    assert request.fields["WARC-Concurrent-To"] == response.fields["WARC-Record-ID"]
    assert request.fields["WARC-Date"] == response.fields["WARC-Date"]
    assert request.head["host"] == "journal.example.org"
    assert taped.member() == response


def test_the_request_is_what_was_sent() -> None:
    seen: list[bytes] = []

    async def page(request: Request, writer: Any) -> None:
        seen.append(request.raw)
        writer.write(reply(PAGE, set_cookie="a=b"))

    taped = tape({f"{HOST}/a?b=%7E": page}, f"{HOST}/a?b=%7E", f"{HOST}/a?b=%7E")
    for raw, record in zip(seen, taped.of("request"), strict=True):
        assert raw.startswith(b"GET /a?b=%7E HTTP/1.1\r\n")
        assert record.fields["WARC-Block-Digest"] == sha1(raw)
    assert b"a=b" in seen[1]


def test_no_secret_is_in_the_file() -> None:
    secrets = {"s3_secret_key": "hunter2", "postgres_url": "postgresql://u:hunter2@h/d", "kafka_brokers": "hunter2:1"}
    taped = tape({f"{HOST}/a": reply(PAGE)}, "http://me:hunter2@journal.example.org/a", **secrets)
    assert taped.captures[0].status is Status.SUCCESS
    assert all(b"hunter2" not in record.body for record in taped.records)
    assert "hunter2" not in repr(taped.records)


def test_every_hop_of_a_redirect_is_there() -> None:
    pages = {
        f"{HOST}/a": moved("/b", 301),
        f"{HOST}/b": moved("http://cdn.example.net/c", 307),
        "http://cdn.example.net/c": reply(PAGE),
    }
    taped = tape(pages, f"{HOST}/a")
    assert [(r.url, r.status[:3]) for r in taped.of("response")] == [
        (f"{HOST}/a", "301"),
        (f"{HOST}/b", "307"),
        ("http://cdn.example.net/c", "200"),
    ]
    assert taped.of("response")[0].head["location"] == "/b"
    assert taped.member().body == PAGE


def test_a_content_coding_stays_as_it_came() -> None:
    packed = gzip.compress(PAGE)
    taped = tape({f"{HOST}/a": reply(packed, content_encoding="gzip")}, f"{HOST}/a")
    assert taped.captures[0].body == PAGE
    assert taped.member().body == packed
    assert taped.member().head["content-encoding"] == "gzip"
    assert taped.member().fields["WARC-Payload-Digest"] == sha1(packed)


def test_chunks_are_undone_and_the_header_says_so() -> None:
    chunked = reply(b"", content_length="", transfer_encoding="chunked").replace(b"content-length: \r\n", b"")
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE)
    taped = tape({f"{HOST}/a": chunked + body}, f"{HOST}/a")
    assert taped.captures[0].body == PAGE
    assert taped.member().body == PAGE
    assert "transfer-encoding" not in taped.member().head
    assert taped.member().head["x-archive-orig-transfer-encoding"] == "chunked"


def test_an_old_server_without_a_length() -> None:
    taped = tape({f"{HOST}/a": b"HTTP/1.0 200 Fine\r\nContent-Type: text/html\r\n\r\n" + PAGE}, f"{HOST}/a")
    assert (taped.member().status, taped.member().body) == ("200 Fine", PAGE)
    assert "WARC-Truncated" not in taped.member().fields


def test_what_came_twice_is_a_revisit(tmp_path: Path) -> None:
    pages = {f"{HOST}/a": reply(PAGE), f"{HOST}/i.png": reply(PNG), "http://cdn.example.net/j.png": reply(PNG)}
    parts = (f"{HOST}/i.png", "http://cdn.example.net/j.png", f"{HOST}/a")
    taped = tape(pages, f"{HOST}/a", folder=tmp_path, parts=parts)
    page, image = taped.of("response")
    for revisit, first in zip(taped.of("revisit"), (image, page), strict=True):
        assert revisit.fields["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
        assert revisit.fields["WARC-Refers-To-Target-URI"] == first.url
        assert revisit.fields["WARC-Refers-To-Date"] == first.fields["WARC-Date"]
        assert revisit.fields["WARC-Refers-To"] == first.fields["WARC-Record-ID"]
        assert revisit.fields["WARC-Payload-Digest"] == first.fields["WARC-Payload-Digest"]
        assert (revisit.status, revisit.body) == ("200 X", b"")
    assert len(taped.of("request")) == 4
    assert checked(tmp_path / "made.warc.gz")


def test_a_document_that_came_twice_stands_in_full_twice() -> None:
    taped = tape({f"{HOST}/a": reply(PAGE), f"{HOST}/b": reply(PAGE)}, f"{HOST}/a", f"{HOST}/b")
    assert [taped.member(n).url for n in (0, 1)] == [f"{HOST}/a", f"{HOST}/b"]
    assert [taped.member(n).body for n in (0, 1)] == [PAGE, PAGE]


def test_the_body_of_a_redirect_is_there_too() -> None:
    async def dripping(_: Request, writer: Any) -> None:
        writer.write(b"HTTP/1.1 302 X\r\nLocation: /c\r\n\r\nsome")
        await asyncio.sleep(30)

    chunks = b"HTTP/1.1 302 X\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n0\r\n\r\n"
    taped = tape({f"{HOST}/a": chunks, f"{HOST}/b": dripping, f"{HOST}/c": reply(PAGE)}, f"{HOST}/a")
    assert taped.captures[0].body == PAGE
    assert [record.body for record in taped.of("response")] == [b"moved", b"some", PAGE]
    assert [record.fields.get("WARC-Truncated") for record in taped.of("response")] == [None, "unspecified", None]


def test_an_error_page_is_recorded_too() -> None:
    taped = tape({f"{HOST}/gone": reply(b"gone", 404)}, f"{HOST}/gone")
    assert taped.captures[0].status is Status.TERMINAL_BAD_STATUS
    assert (taped.member().status, taped.member().body) == ("404 X", b"gone")


async def _cut(_: Request, writer: Any) -> None:
    writer.write(reply(PAGE, content_length="9999"))


async def _stalled(_: Request, writer: Any) -> None:
    writer.write(reply(PAGE, content_length="9999"))
    await writer.drain()
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("page", "more", "status", "word"),
    [
        (_cut, {}, Status.TRUNCATED_BODY, "disconnect"),
        (_stalled, {"fetch_read_seconds": 1.5}, Status.TIMEOUT, "time"),
        (_stalled, {"seconds": 2}, Status.TIMEOUT, "time"),
        (reply(PAGE * 1000), {"fetch_body_bytes": 5000}, Status.BODY_TOO_LARGE, "length"),
    ],
)
def test_a_body_that_is_not_whole_says_why(page: Any, more: dict[str, Any], status: Status, word: str) -> None:
    taped = tape({f"{HOST}/a": page}, f"{HOST}/a", **more)
    (response,) = taped.of("response")
    assert (taped.captures[0].status, response.fields["WARC-Truncated"]) == (status, word)
    assert response.body.startswith(PAGE)
    assert taped.members == [None], "no row points to it"


def test_a_body_whose_coding_is_broken_is_whole_on_the_wire() -> None:
    broken = gzip.compress(PAGE)[:-20]
    taped = tape({f"{HOST}/a": reply(broken, content_encoding="gzip")}, f"{HOST}/a")
    assert taped.captures[0].status is Status.BAD_GZIP_ENCODING
    assert taped.of("response")[0].body == broken
    assert "WARC-Truncated" not in taped.of("response")[0].fields


def test_where_nobody_answers_there_is_no_record() -> None:
    async def silent(_: Request, writer: Any) -> None:
        writer.transport.abort()

    taped = tape({f"{HOST}/a": silent, f"{HOST}/b": reply(PAGE)}, f"{HOST}/a", f"{HOST}/b")
    assert [record.url for record in taped.of("response")] == [f"{HOST}/b"]


def test_no_more_than_the_cap_is_kept() -> None:
    pages = {f"{HOST}/{name}": reply(name.encode() * 3000) for name in "abc"}
    taped = tape(pages, *pages, warc_bytes=7000)
    assert [capture.status for capture in taped.captures] == [Status.SUCCESS] * 3
    assert [record.fields.get("WARC-Truncated") for record in taped.of("response")] == [None, None, "length"]
    assert len(taped.data) < 7000


NAMES = st.text("abcXYZ-_!#$%&'*+.^`|~0189", min_size=1, max_size=12).map(lambda name: "x-" + name)
VALUES = st.binary(max_size=40).map(lambda value: value.translate(None, b"\0\r\n")).map(bytes.strip)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(NAMES, VALUES), max_size=6), st.binary(max_size=12).map(lambda b: b.translate(None, b"\r\n\0"))
)
def test_odd_headers_come_through_byte_for_byte(fields: list[tuple[str, bytes]], reason: bytes) -> None:
    lines = [name.encode() + b": " + value for name, value in fields]
    head = b"\r\n".join([b"HTTP/1.1 200 " + reason.strip(), b"Content-Length: 3", *lines]) + b"\r\n\r\n"
    taped = tape({f"{HOST}/a": head + b"abc"}, f"{HOST}/a")
    if taped.captures[0].status is not Status.SUCCESS:
        return  # the client refuses what is no HTTP
    (response,) = taped.of("response")
    assert response.fields["WARC-Block-Digest"] == sha1(head + b"abc")
    assert taped.member() == response


def test_a_large_body_does_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MiB through a recording: what is held beside the capture's own body stays small."""
    piece, peak = bytes(range(256)) * 256, 0

    async def work() -> None:
        nonlocal peak
        recording = Recording(Config())
        take = recording.begin(
            module.Exchange(HOST, datetime.now(UTC), None, b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n")
        )
        tracemalloc.start()
        for _ in range(1024):
            take.feed(piece)
        take.end()
        await recording.file()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        await recording.close()

    asyncio.run(work())
    assert peak < 4 << 20


def test_a_full_disk_is_the_world_s_fault_and_not_the_web_s(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(tempfile.SpooledTemporaryFile):  # type: ignore[type-arg]
        def write(self, data: Any) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.tempfile, "SpooledTemporaryFile", Full)
    with pytest.raises(Unavailable, match="No space left"):
        tape({f"{HOST}/a": reply(PAGE)}, f"{HOST}/a")
