"""WARC files that are cut, lie, or were written otherwise: each answer has its status, and damage is told."""

import gzip
import tracemalloc
from pathlib import Path

import pytest
import structlog
from backports import zstd

from sandcrawler.errors import ConfigurationError
from sandcrawler.status import Status

from .test_warc import OK, A, B, asked, written

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"


def record(block: bytes, length: object = None, date: str = "2020-01-01T00:00:00Z") -> bytes:
    """A response of A, as bytes; its length as told."""
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {A}\r\nWARC-Date: {date}\r\n"
        "WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block) if length is None else length}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    pages = (("response", A, OK, b"first", {}), ("response", B, OK, b"second" * 100, {}))
    return written(tmp_path / "whole.warc.gz", *pages).read_bytes()


def kept(folder: Path, data: bytes) -> Path:
    path = folder / "a.warc.gz"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("block", "status", "body"),
    [
        (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", Status.SUCCESS, b"hello"),
        (CHUNKED + b'5;x="y"\r\nhello\r\n0\r\nT: x\r\n\r\n', Status.SUCCESS, b"hello"),
        (CHUNKED + b"\x89PNG hello", Status.SUCCESS, b"\x89PNG hello"),  # undone, and the header left
        (CHUNKED, Status.EMPTY_BLOB, None),
        (CHUNKED + b"50\r\nhello", Status.TRUNCATED_BODY, None),
        (CHUNKED + b"5\r\nhello\r\n", Status.TRUNCATED_BODY, None),
        (CHUNKED + b"5\r\nhello\r\nzz\r\n", Status.TRUNCATED_BODY, None),
        (CHUNKED + b"3\r\nhello\r\n0\r\n\r\n", Status.TRUNCATED_BODY, None),
        (b"HTTP/1.1 103 E\r\nLink: x\r\n\r\n" + PLAIN, Status.SUCCESS, b"hello"),
        (PLAIN.replace(b"HTTP/1.1", b"HTTP/2"), Status.SUCCESS, b"hello"),
        (b"HTTP/1.1 200 OK", Status.EMPTY_BLOB, None),
    ],
)
def test_bodies_as_others_record_them(tmp_path: Path, block: bytes, status: Status, body: bytes | None) -> None:
    (capture,) = asked(kept(tmp_path, record(block)), A)
    assert (capture.status, capture.body) == (status, body), capture.error_message


@pytest.mark.parametrize("date", ["never", "", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2020"])
def test_moments_that_are_none(tmp_path: Path, date: str) -> None:
    (capture,) = asked(kept(tmp_path, record(PLAIN, date=date)), A)
    assert (capture.status, capture.body) == (Status.SUCCESS, b"hello")


def test_a_length_of_gigabytes_is_no_success_and_takes_no_memory(tmp_path: Path) -> None:
    (capture,) = asked(kept(tmp_path, record(PLAIN, 5 << 30)), A)
    assert (capture.status, capture.body) == (Status.BODY_TOO_LARGE, None)
    (capture,) = asked(kept(tmp_path, record(PLAIN, 1 << 20)), A)
    assert (capture.status, capture.body) == (Status.WAYBACK_CONTENT_ERROR, None)


def test_one_chunk_of_many_megabytes_is_not_held(tmp_path: Path) -> None:
    size = 40 << 20
    path = kept(tmp_path, gzip.compress(record(CHUNKED + b"%x\r\n" % size + bytes(size) + b"\r\n0\r\n\r\n")))
    tracemalloc.start()
    try:
        (capture,) = asked(path, A, fetch_body_bytes=1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert capture.status is Status.BODY_TOO_LARGE


@pytest.mark.parametrize("at", [-1, -40, -200])
def test_a_cut_file_gives_what_is_whole_and_says_so(tmp_path: Path, whole: bytes, at: int) -> None:
    path = kept(tmp_path, whole[:at])
    with structlog.testing.capture_logs() as logs:
        first, second = asked(path, A, B)
    assert (first.status, first.body) == (Status.SUCCESS, b"first")
    assert second.status is not Status.SUCCESS or at == -1, "only the member's check was cut"
    assert [(log["event"], log["reason"]) for log in logs] == [
        ("warc-damaged", "Damaged: the file ends within a record")
    ]


@pytest.mark.parametrize("between", [b"", b"junk", bytes(512)])
def test_files_one_after_another(tmp_path: Path, whole: bytes, between: bytes) -> None:
    assert [capture.status for capture in asked(kept(tmp_path, whole + between + whole), A, B)] == [Status.SUCCESS] * 2


def test_a_block_that_is_not_what_its_digest_says(tmp_path: Path) -> None:
    pages = (("response", A, OK, b"first", {}), ("response", B, OK, b"second", {}))
    path = written(tmp_path / "a.warc", *pages, gz=False)
    path.write_bytes(path.read_bytes().replace(b"first", b"fXrst"))
    first, second = asked(path, A, B)
    assert (first.status, first.body) == (Status.WAYBACK_CONTENT_ERROR, None)
    assert second.status is Status.SUCCESS


def test_revisits_of_each_other_have_no_payload(tmp_path: Path) -> None:
    def revisit(url: str, of: str) -> tuple[str, str, str, bytes, dict[str, str]]:
        fields = {"WARC-Date": "2020-01-01T00:00:00Z", "WARC-Refers-To-Target-URI": of}
        return "revisit", url, OK, b"", {**fields, "WARC-Payload-Digest": "sha1:AAAA"}

    path = written(tmp_path / "a.warc.gz", revisit(A, B), revisit(B, A))
    assert [capture.status for capture in asked(path, A, B)] == [Status.NO_CAPTURE] * 2


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b"hello\n" * 1000, "first line"),
        (gzip.compress(b"hello\n" * 1000), "first line"),
        (zstd.compress(record(PLAIN)), "zstd -d"),
        (record(b"just bytes"), "cannot be read: 1"),
        (record(b""), "cannot be read: 1"),
        (record(PLAIN, -5), "Invalid WARC record"),
        (record(PLAIN, "9" * 6000), "Invalid WARC record"),
        (record(PLAIN, "abc"), "Invalid WARC record"),
        (gzip.compress(b"WARC/1.0\r\nX: " + b"a" * (4 << 20)), "a head of more than"),
        (gzip.compress(record(PLAIN))[:-60], "ends within a record"),
    ],
)
def test_what_has_no_capture_says_why(tmp_path: Path, data: bytes, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        asked(kept(tmp_path, data), A)
