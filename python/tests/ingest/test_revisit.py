"""With WARCs kept, a 304 is recorded as what it is, and the row goes on pointing to the record with the bytes."""

import asyncio
import gzip
import io
import time
from pathlib import Path

import pytest
from pywb.indexer.cdxindexer import write_cdx_index
from warcio.archiveiterator import ArchiveIterator

from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.revisit import PROFILE
from sandcrawler.ingest.archive import Archive
from sandcrawler.ingest.flow import Flow
from sandcrawler.model import IngestRequest, IngestWebResult
from sandcrawler.persist.warcs import open_store
from tests.fetch.test_condition import versioned
from tests.fetch.warcs import checked, records
from tests.fetch.web import Page, Web
from tests.ingest.archives import ARTICLE, HTML, LINK, PAGES, extract
from tests.ingest.replays import replaying

SITE: dict[str, Page] = {**PAGES, ARTICLE: versioned(HTML)}


def ingested(folder: Path, known: IngestWebResult | None = None, pages: dict[str, Page] = SITE) -> IngestWebResult:
    """The link's result, its WARC kept in a folder."""

    async def work() -> IngestWebResult:
        async with Web(pages) as web:
            config = web.config(None, warc=str(folder))
            async with Fetcher(config) as fetcher:
                flow = Flow(fetcher, extract, config, Archive(open_store(config)))
                verbatim = {"ingest_type": "html", "base_url": LINK}
                return (await flow.ingest(IngestRequest.model_validate(verbatim), verbatim, known)).result

    return asyncio.run(work())


def test_the_row_stays_and_the_304_has_a_record_of_its_own(tmp_path: Path) -> None:
    first = ingested(tmp_path)
    assert first.cdx is not None
    assert first.cdx.warc_path is not None
    path = Path(first.cdx.warc_path)
    before = path.read_bytes()
    second = ingested(tmp_path, first)
    assert second.cdx == first.cdx
    assert path.read_bytes() == before
    (record,) = records(before[first.cdx.warc_offset or 0 :][: first.cdx.warc_csize])
    assert record.body == HTML

    (other,) = set(tmp_path.rglob("*.gz")) - {path}
    assert other.parent == path.parent
    assert other.name.endswith(".revisit.warc.gz")
    assert checked(other)
    found = list(records(other.read_bytes()))
    (revisit,) = (record for record in found if record.kind == "revisit")
    assert revisit.url == ARTICLE
    assert revisit.status.startswith("304")
    assert revisit.body == b""
    assert revisit.fields["WARC-Profile"] == PROFILE
    assert revisit.fields["WARC-Refers-To-Target-URI"] == ARTICLE
    assert revisit.fields["WARC-Refers-To-Date"].translate(str.maketrans("", "", "-:TZ")) == first.cdx.datetime
    (request,) = (record for record in found if record.kind == "request" and record.url == ARTICLE)
    assert request.head["if-none-match"] == '"v1"'
    assert request.fields["WARC-Concurrent-To"] == revisit.fields["WARC-Record-ID"]
    assert [record.url for record in found if record.kind == "response"] == [LINK], "today's way there is kept, too"


def test_it_never_takes_the_name_under_which_bytes_are_looked_for(tmp_path: Path) -> None:
    """The known capture was made without WARCs, or they are elsewhere."""
    first = ingested(tmp_path / "elsewhere")
    here = tmp_path / "here"
    second = ingested(here, first)
    assert second.cdx == first.cdx
    (only,) = here.rglob("*.gz")
    assert only.name.endswith(".revisit.warc.gz")
    third = ingested(here)
    assert third.cdx is not None
    assert Path(third.cdx.warc_path or "").name == f"{third.cdx.sha1hex}.warc.gz"


def test_what_was_kept_in_no_warc_is_fetched_to_be_kept(tmp_path: Path) -> None:
    """WARCs were switched on in between: a 304 for ever would mean that the page is never in one."""
    first = ingested(tmp_path)
    assert first.cdx is not None
    place = {"warc_path": None, "warc_offset": None, "warc_csize": None}
    bare = first.model_copy(update={"cdx": first.cdx.model_copy(update=place)})
    second = ingested(tmp_path / "new", bare)
    assert second.cdx is not None
    data = Path(second.cdx.warc_path or "").read_bytes()
    (record,) = records(data[second.cdx.warc_offset or 0 :][: second.cdx.warc_csize])
    assert (record.kind, record.body) == ("response", HTML)
    assert ingested(tmp_path / "new", second).cdx == second.cdx, "and from then on on condition"


def test_a_304_of_another_version_is_followed_by_the_page_itself(tmp_path: Path) -> None:
    first = ingested(tmp_path)
    assert first.cdx is not None

    async def page(request, writer: asyncio.StreamWriter) -> None:  # type: ignore[no-untyped-def]
        held = "if-none-match" in request.headers
        writer.write(b'HTTP/1.1 304 X\r\nETag: "v9"\r\n\r\n' if held else b"HTTP/1.1 200 X\r\n\r\n" + HTML)
        await writer.drain()

    second = ingested(tmp_path, first, {**PAGES, ARTICLE: page})
    assert second.cdx is not None
    assert second.cdx.warc_path != first.cdx.warc_path
    data = Path(second.cdx.warc_path or "").read_bytes()
    (record,) = records(data[second.cdx.warc_offset or 0 :][: second.cdx.warc_csize])
    assert (record.kind, record.body) == ("response", HTML)


@pytest.mark.parametrize("compressed", [True, False])
def test_other_tools_read_it(tmp_path: Path, compressed: bool) -> None:
    first = ingested(tmp_path)
    ingested(tmp_path, first)
    (path,) = tmp_path.rglob("*.revisit.warc.gz")
    data = path.read_bytes()
    if not compressed:
        data = gzip.decompress(data)
    kinds = [record.rec_type for record in ArchiveIterator(io.BytesIO(data))]
    assert kinds.count("revisit") == 1
    lines = io.BytesIO()
    write_cdx_index(lines, io.BytesIO(data), "x.warc.gz", include_all=True, format="cdxj")
    assert any(b"warc/revisit" in line and b"article/1" in line for line in lines.getvalue().splitlines())


def test_pywb_replays_the_page_and_tells_the_304_as_such(tmp_path: Path) -> None:
    """pywb, over both files, does not go from a 304 to the page: whoever wants pages alone leaves revisit files out."""
    warcs = tmp_path / "warcs"
    first = ingested(warcs)
    time.sleep(2)
    ingested(warcs, first)
    folder = tmp_path / "pywb"
    folder.mkdir()
    with replaying(folder, sorted(warcs.rglob("*.gz"))) as replay:
        index = (folder / "collections" / "web" / "indexes" / "index.cdxj").read_text()
        moments = [line.split(" ")[1] for line in index.splitlines() if "/article/1 " in line]
        assert len(moments) == 2
        assert [replay.raw(ARTICLE, moment) for moment in moments] == [(200, HTML), (304, b"")]
