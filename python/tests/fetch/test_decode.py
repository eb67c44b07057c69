"""Content codings (checklist H47, H48, H49): right, broken, mislabelled, and bombs."""

import gzip
import subprocess
import sys
import zlib

import brotlicffi
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.decode import Body
from sandcrawler.status import Status

PAGE = b"<html><title>Nests</title>" + b"<p>Coastal colonies were counted.</p>" * 400


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotlicffi.compress,
    "zstd": zstd.compress,
    "identity": bytes,
    "utf-8": bytes,
}


def decoded(data: bytes, *codings: str, cap: int = 1 << 22, text: bool = False, step: int = 1 << 16) -> bytes:
    body = Body(codings, cap, text=text)
    for start in range(0, len(data), step):
        body.feed(data[start : start + step])
    return body.finish()


def refused(data: bytes, *codings: str, cap: int = 1 << 22, text: bool = False, step: int = 1 << 16) -> Status:
    with pytest.raises(Refused) as caught:
        decoded(data, *codings, cap=cap, text=text, step=step)
    return caught.value.status


@pytest.mark.parametrize("step", [1, 7, 1 << 16])
@pytest.mark.parametrize("coding", PACKERS)
def test_codings(coding: str, step: int) -> None:
    assert decoded(PACKERS[coding](PAGE), coding, step=step) == PAGE


@given(st.binary(max_size=3000), st.sampled_from(sorted(PACKERS)), st.integers(1, 500))
def test_any_bytes_come_back(data: bytes, coding: str, step: int) -> None:
    assert decoded(PACKERS[coding](data), coding, step=step) == data


@given(st.binary(max_size=3000), st.sampled_from(sorted(PACKERS)), st.booleans(), st.integers(1, 500))
def test_any_bytes_end_in_a_body_or_a_status(data: bytes, coding: str, text: bool, step: int) -> None:
    found: object
    try:
        found = decoded(data, coding, text=text, step=step, cap=1 << 16)
    except Refused as error:
        found = error.status
    assert isinstance(found, bytes) or found in (Status.BAD_GZIP_ENCODING, Status.BODY_TOO_LARGE)


def test_bare_deflate() -> None:
    assert decoded(raw_deflate(PAGE), "deflate") == PAGE


def test_several_codings_are_undone_from_the_last() -> None:
    data = brotlicffi.compress(zstd.compress(gzip.compress(PAGE)))
    assert decoded(data, "gzip, zstd", "BR") == PAGE
    assert refused(PAGE, *["gzip"] * 5) is Status.BAD_GZIP_ENCODING


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("data", [PAGE, b"<", b"a", b""])
def test_a_wrong_label_keeps_the_body_as_it_came(coding: str, data: bytes) -> None:
    assert decoded(data, coding) == data


@pytest.mark.parametrize("step", [1, 1 << 16])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_h49_cut_or_damaged_data_is_broken(coding: str, step: int) -> None:
    data = PACKERS[coding](PAGE)
    assert refused(data[: len(data) // 2], coding, step=step) is Status.BAD_GZIP_ENCODING
    assert refused(data[:-1], coding, step=step) is Status.BAD_GZIP_ENCODING
    assert refused(gzip.compress(PAGE)[:-8] + b"\0" * 8, "gzip", step=step) is Status.BAD_GZIP_ENCODING


def test_members_and_padding_after_gzip() -> None:
    assert decoded(gzip.compress(PAGE) + gzip.compress(PAGE), "gzip") == PAGE * 2
    assert decoded(gzip.compress(PAGE) + b"\0" * 100, "gzip") == PAGE
    assert decoded(zstd.compress(PAGE) + zstd.compress(PAGE), "zstd") == PAGE * 2


@pytest.mark.parametrize("step", [1, 1 << 16])
def test_h48_gzip_inside_gzip(step: int) -> None:
    twice = gzip.compress(gzip.compress(PAGE))
    assert decoded(twice, "gzip", text=True, step=step) == PAGE
    assert decoded(twice, "gzip", text=False, step=step) == gzip.compress(PAGE)
    assert decoded(gzip.compress(PAGE), text=True, step=step) == PAGE
    assert refused(gzip.compress(gzip.compress(PAGE)[:-20]), "gzip", text=True, step=step) is Status.BAD_GZIP_ENCODING
    assert refused(gzip.compress(gzip.compress(b"\0" * 9999)), "gzip", text=True, cap=5000) is Status.BODY_TOO_LARGE


def test_h47_the_cap_is_exact() -> None:
    for coding, pack in PACKERS.items():
        assert decoded(pack(b"x" * 5000), coding, cap=5000) == b"x" * 5000
        assert refused(pack(b"x" * 5001), coding, cap=5000) is Status.BODY_TOO_LARGE


BOMB = """
import resource, sys, time
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.decode import Body
CAP = 128 << 20
data = open(sys.argv[1], "rb").read()
codings = sys.argv[2]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
body = Body([codings], CAP, text=True)
try:
    for at in range(0, len(data), 1 << 16):
        body.feed(data[at:at + (1 << 16)])
    body.finish()
except Refused as refused:
    print(refused.status)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < (CAP >> 10) + (64 << 10), f"{grown} KiB more"
assert time.process_time() - start < 5
"""


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, gzip"])
def test_h48_a_gigabyte_in_a_megabyte(coding: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = b""
    for word in coding.split(", "):
        data = _bomb(word, data)
    (tmp_path / "bomb").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(tmp_path / "bomb"), coding],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout.strip(), done.stderr) == (Status.BODY_TOO_LARGE, "")


def _bomb(word: str, inner: bytes) -> bytes:
    if inner:
        return gzip.compress(inner)
    zeros = b"\0" * (1 << 24)
    if word == "gzip":  # pieces that end in a full flush may be repeated
        packer = zlib.compressobj(9, wbits=31)
        head, piece = (packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
        return head + piece * 63
    packer = brotlicffi.Compressor(quality=2) if word == "br" else zstd.ZstdCompressor()
    return b"".join([*(packer.compress(zeros) for _ in range(64)), packer.flush()])
