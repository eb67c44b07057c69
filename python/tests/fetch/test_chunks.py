"""Chunks that are careless, hostile, or cut anywhere: the same body comes out, or none."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler.fetch.chunks import LAST, SIZE_LINE_BYTES, Awaited, BrokenChunks, Chunks

ENDS = st.sampled_from([b"\r\n", b"\n", b";a=b\r\n", b" \r\n"])


def fed(data: bytes, cuts: list[int]) -> tuple[bytes, Chunks]:
    chunks, out = Chunks(), b""
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        out += chunks.feed(data[start:end])
    return out, chunks


def unchunked(strict: bytes) -> bytes:
    """The body in strict chunks that end."""
    size, _, rest = strict.partition(b"\r\n")
    length = int(size, 16)
    assert rest[length : length + 2] == b"\r\n"
    if not length:
        assert rest == b"\r\n"
        return b""
    return rest[:length] + unchunked(rest[length + 2 :])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=40), ENDS, st.sampled_from([b"\r\n", b"\n"]))), st.data())
def test_however_it_is_cut_the_same_comes_out(parts: list[tuple[bytes, bytes, bytes]], data: st.DataObject) -> None:
    wire = b"".join(b"%x" % len(body) + end + body + behind for body, end, behind in parts) + b"0\r\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=6)))
    out, chunks = fed(wire, cuts)
    assert unchunked(out) == b"".join(body for body, _, _ in parts)
    assert chunks.awaited is Awaited.NOTHING


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_what_ends_early_has_no_end(data: bytes, cuts: list[int]) -> None:
    try:
        out, chunks = fed(b"5\r\nhello\r\n" + data, sorted(min(cut, len(data)) for cut in cuts))
    except BrokenChunks:
        return
    assert out.endswith(LAST) == (chunks.awaited is Awaited.NOTHING)


def test_what_is_behind_the_body_is_told_and_gone() -> None:
    chunks = Chunks()
    assert chunks.feed(b"1\r\nx\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n") == b"1\r\nx\r\n0\r\n\r\n"
    assert chunks.spare


@pytest.mark.parametrize("data", [b"x" * 9999, b"5;" + b"e" * 9999, b"1\r\nx" + b"y" * 9999, b"1\r\nxy\r\n", b"-1\r\n"])
def test_what_is_no_chunk_is_broken_soon(data: bytes) -> None:
    assert len(data) < 2 * SIZE_LINE_BYTES + 4000
    with pytest.raises(BrokenChunks):
        Chunks().feed(data + b"\n")


@pytest.mark.parametrize(("end", "spare"), [(b"\r\n", False), (b"", True), (b"T: t\r\n\r\n", False), (b"T: t", True)])
def test_nobody_waits_for_what_is_behind_the_last_chunk(end: bytes, spare: bool) -> None:
    chunks = Chunks()
    assert chunks.feed(b"1\r\nx\r\n0\r\n" + end) == b"1\r\nx\r\n" + LAST
    assert chunks.spare is spare


def test_chunks_of_a_byte_cost_little() -> None:
    """They go on as one, so that what is behind need not do its work for each byte."""
    start = time.process_time()
    assert Chunks().feed(b"1\r\nx\r\n" * 50_000) == b"%x\r\n%s\r\n" % (50_000, b"x" * 50_000)
    assert time.process_time() - start < 2
