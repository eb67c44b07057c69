"""A site that was ingested live, ingested again out of pywb, where its WARC is: the same document, the same parts."""

import asyncio
from collections.abc import Iterator

import pytest

from sandcrawler.config import Config
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.ingest.archive import Archive
from sandcrawler.ingest.flow import Flow
from sandcrawler.model import IngestRequest, IngestWebResult, WebResource
from sandcrawler.persist.warcs import open_store
from sandcrawler.status import Status
from tests.ingest.archives import LINK, MISSING, Made, extract, made
from tests.ingest.replays import Replay, replaying

pytest.importorskip("pywb", reason="the archive needs the extra `test`")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("warcs"))


@pytest.fixture(scope="module")
def replay(site: Made, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    with replaying(tmp_path_factory.mktemp("pywb"), [site.path]) as replay:
        yield replay


@pytest.mark.parametrize("backend", ["wayback", "wayback-then-live"])
def test_the_archive_gives_what_the_web_gave(site: Made, replay: Replay, backend: str) -> None:
    result = ingested(replay, backend)
    live = site.result
    assert (result.status, result.hops, result.file_meta) == (live.status, live.hops, live.file_meta)
    assert (result.terminal, result.html_body, result.scope) == (live.terminal, live.html_body, live.scope)
    assert parts(result) == parts(live)
    assert [each.url for each in result.html_resources_missing or ()] == [MISSING]


def test_the_row_names_the_record_of_the_archive(site: Made, replay: Replay) -> None:
    row, live = ingested(replay, "wayback").cdx, site.result.cdx
    assert row is not None
    assert live is not None
    assert (row.surt, row.datetime, row.url, row.sha1hex) == (live.surt, live.datetime, live.url, live.sha1hex)
    assert (row.warc_path, row.warc_offset, row.warc_csize) == (site.path.name, *site.place)


def parts(result: IngestWebResult) -> list[WebResource]:
    return [each for each in result.html_resources or () if isinstance(each, WebResource)]


def ingested(replay: Replay, backend: str) -> IngestWebResult:
    """The result for the site's link, out of the archive; a WARC is asked for, and none is made."""
    here = f"http://127.0.0.1:{replay.port}/web"
    config = Config(
        fetch_wayback_cdx=f"{here}/cdx",
        fetch_wayback_replay=here,
        fetch_allow_addresses="127.0.0.0/8",
        fetch_connect_to="journal.example.org:80:127.0.0.1:1,cdn.example.net:80:127.0.0.1:1",  # the site is gone
        fetch_wayback_gap=0,
        warc=str(replay.folder / "none"),
    )

    async def work() -> IngestWebResult:
        async with open_fetcher(config, backend) as fetcher:
            flow = Flow(fetcher, extract, config, Archive(open_store(config)))
            verbatim = {"ingest_type": "html", "base_url": LINK}
            return (await flow.ingest(IngestRequest.model_validate(verbatim), verbatim)).result

    result = asyncio.run(work())
    assert result.status is Status.SUCCESS
    assert not list((replay.folder / "none").rglob("*.warc.gz"))
    return result
