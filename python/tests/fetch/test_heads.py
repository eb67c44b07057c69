"""Heads of responses, whatever they are: read in little time, or refused; what is handed on is strict."""

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler.fetch.heads import Framing, NotHttp, framing, read_head, strict

STRICT = re.compile(rb"HTTP/1\.[01] \d{3} [^\r\n]*\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [^\r\n]*\r\n)*\r\n")
OK = b"HTTP/1.1 200 OK\r\n"
PIECES = st.sampled_from(
    [b"\r", b"\n", b"\r\n", b" ", b"\t", b":", b"\0", b"Content-Length: 5", b"X: y", b"\xff", b","]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_whatever_is_said_strict_words_are_handed_on(lines: bytes) -> None:
    head = read_head(OK + lines + b"\r\n\r\n")
    try:
        said = strict(head, framing(head))
    except NotHttp:
        return
    assert STRICT.fullmatch(said)
    assert said.lower().count(b"\r\ncontent-length:") <= 1
    assert head.recorded.count(b"\r\n\r\n") == 1
    assert head.recorded.endswith(b"\r\n\r\n")
    assert b"\n" not in head.recorded.replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (b"Content-Length: 7\r\ncontent-length: 7", Framing(False, 7, (), False)),
        (b"Content-Length: 7, 7", Framing(False, 7, (), False)),
        (b"Transfer-Encoding: gzip, Chunked\r\nContent-Length: 7, 8", Framing(True, None, (b"gzip",), True)),
        (b"Transfer-Encoding: identity\r\nContent-Length: 7", Framing(False, 7, (b"identity",), False)),
        (b"X: y", Framing(False, None, (), False)),
    ],
)
def test_how_long_a_body_is(fields: bytes, said: Framing) -> None:
    assert framing(read_head(OK + fields + b"\r\n\r\n")) == said


@pytest.mark.parametrize("value", [b"7, 8", b"+7", b"-7", b"0x7", b"7.0", b"7 7", b"9" * 19, b"\xd9\xa7"])
def test_an_unclear_length_is_refused(value: bytes) -> None:
    with pytest.raises(NotHttp, match="unclear"):
        framing(read_head(OK + b"Content-Length: " + value + b"\r\n\r\n"))


def test_a_record_has_the_lines_as_they_came() -> None:
    raw = b"http/1.1 200\nX-a :  y \xe9\r\n folded\r\nno colon\r\ntransfer-encoding: chunked\r\nContent-Length: 5\n\n"
    assert read_head(raw).recorded == (
        b"HTTP/1.1 200 \r\nX-a :  y \xe9 folded\r\nno colon\r\n"
        b"X-Archive-Orig-transfer-encoding: chunked\r\nX-Archive-Orig-Content-Length: 5\r\n\r\n"
    )
    raw = OK + b"content-LENGTH :5\r\n\r\n"
    assert read_head(raw).recorded == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"\r" * 900_000,
        OK + b"\r" * 900_000 + b"\n",
        OK + b" " * 900_000,
        OK + b"X:" + b" \t" * 400_000 + b"\r\r\n",
        b" \n" * 1000,
    ],
)
def test_hostile_heads_take_little_time(raw: bytes) -> None:
    start = time.process_time()
    with suppress(NotHttp):
        framing(read_head(raw))
    assert time.process_time() - start < 2


def test_a_head_of_very_many_lines_is_refused() -> None:
    with pytest.raises(NotHttp, match="lines"):
        read_head(OK + b"a:\n" * 300_000 + b"\n")
