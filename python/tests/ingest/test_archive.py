"""A result's cdx row leads to its record, and the WARC holds all that was fetched."""

import gzip
import io
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sandcrawler.errors import Unavailable
from sandcrawler.fetch import recording
from sandcrawler.ingest import archive
from sandcrawler.model import WebResource
from sandcrawler.status import Status
from tests.fetch.warcs import checked, records
from tests.fetch.web import moved, reply
from tests.ingest.archives import ARTICLE, CDN, HOST, HTML, LINK, MISSING, PAGES, PARTS, ingested, made


def test_the_cdx_row_s_range_is_the_record_of_the_document(tmp_path: Path) -> None:
    got = made(tmp_path)
    result, (offset, csize) = got.result, got.place
    assert result.status is Status.SUCCESS
    assert result.cdx is not None
    assert result.file_meta is not None
    sha1 = result.file_meta.sha1hex
    assert got.path == tmp_path / sha1[:2] / sha1[2:4] / f"{sha1}.warc.gz"
    piece = got.path.read_bytes()[offset : offset + csize]
    assert gzip.decompress(piece).startswith(b"WARC/1.1\r\n"), "one gzip member, the whole of it"
    (record,) = records(piece)
    assert (record.kind, record.url, gzip.decompress(record.body)) == ("response", ARTICLE, HTML)
    assert record.fields["WARC-Date"].translate(str.maketrans("", "", "-:T"))[:14] == result.cdx.datetime


def test_everything_that_was_fetched_is_in_it(tmp_path: Path) -> None:
    got = made(tmp_path)
    assert checked(got.path)
    found = list(records(got.path.read_bytes()))
    assert {record.url for record in found if record.kind in ("response", "revisit")} == set(PAGES) | {MISSING}
    assert [record.url for record in found[1:5]] == [LINK, LINK, ARTICLE, ARTICLE]
    twins = [record.kind for record in found if record.url in (f"{HOST}/1.png", f"{CDN}/copy.png")]
    assert sorted(twins) == ["request", "request", "response", "revisit"], "the same image on two hosts"
    assert sum(record.kind == "revisit" for record in found) == 1
    assert sum(record.kind == "request" for record in found) == len(PAGES) + 1


def test_every_part_of_the_result_has_its_record(tmp_path: Path) -> None:
    got = made(tmp_path)
    assert [part.url for part in got.result.html_resources or ()] == list(PARTS)
    assert [part.url for part in got.result.html_resources_missing or ()] == [MISSING]
    moments = {
        (record.rec_headers.get_header("WARC-Target-URI"), record.rec_headers.get_header("WARC-Date")[:19] + "Z")
        for record in ArchiveIterator(io.BytesIO(got.path.read_bytes()))
    }
    for part in got.result.html_resources or ():
        assert isinstance(part, WebResource)
        if not part.url.endswith("logo.png"):  # its last hop has another URL
            assert (part.url, part.timestamp) in moments


def test_the_same_document_again_leaves_the_first_row_right(tmp_path: Path) -> None:
    first = made(tmp_path)
    before = first.path.read_bytes()
    second = made(tmp_path)
    assert first.path != second.path
    assert first.path.read_bytes() == before
    for got in (first, second):
        offset, csize = got.place
        (record,) = records(got.path.read_bytes()[offset : offset + csize])
        assert gzip.decompress(record.body) == HTML


@pytest.mark.parametrize("page", [reply(b""), moved("/doi/10.5555/1"), reply(HTML, content_length="99999")])
def test_a_result_without_a_document_has_no_warc(tmp_path: Path, page: bytes) -> None:
    result = ingested(tmp_path, pages={LINK: page}, fetch_read_seconds=0.3)
    assert result.status in (Status.EMPTY_BLOB, Status.REDIRECT_LOOP, Status.TIMEOUT, Status.TRUNCATED_BODY)
    assert result.cdx is None
    assert not list(tmp_path.rglob("*.gz"))


def test_a_store_that_is_away_is_no_verdict_on_the_document(tmp_path: Path) -> None:
    """The request is tried again as a whole; nothing is published that names a file which is not there."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable, match="cannot be kept"):
        ingested(tmp_path / "file" / "below")


def test_without_the_setting_nothing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "Recording", None)
    monkeypatch.setattr(archive, "Recording", None)
    result = ingested(Path("off"))
    assert result.status is Status.SUCCESS
    assert result.cdx is not None
    assert (result.cdx.warc_path, result.cdx.warc_offset, result.cdx.warc_csize) == (None, None, None)
