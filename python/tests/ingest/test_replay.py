"""The WARCs in pywb, a real web archive: indexed by its own tools, served by its own server, the same bytes back."""

from collections.abc import Iterator

import pytest

from tests.ingest.archives import ARTICLE, HTML, LINK, MISSING, PARTS, Made, made
from tests.ingest.replays import Replay, replaying

pytest.importorskip("pywb", reason="replay needs the extra `test`")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("warcs"))


@pytest.fixture(scope="module")
def replay(site: Made, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    with replaying(tmp_path_factory.mktemp("pywb"), [site.path]) as replay:
        yield replay


def test_the_page_comes_back_byte_for_byte(site: Made, replay: Replay) -> None:
    assert site.result.cdx is not None
    assert replay.raw(ARTICLE, site.result.cdx.datetime) == (200, HTML)


@pytest.mark.parametrize("url", [url for url in PARTS if not url.endswith("logo.png")])
def test_its_parts_come_back_byte_for_byte(site: Made, replay: Replay, url: str) -> None:
    """Chunked, deflated, and one that is a revisit of another host's."""
    part = next(part for part in site.result.html_resources or () if part.url == url)
    moment = "".join(c for c in part.timestamp if c.isdigit())  # type: ignore[union-attr]
    assert replay.raw(url, moment) == (200, PARTS[url])


def test_redirects_and_errors_come_back_as_such(site: Made, replay: Replay) -> None:
    assert site.result.cdx is not None
    moment = site.result.cdx.datetime
    assert replay.raw(LINK, moment)[0] == 302
    assert replay.raw("http://cdn.example.net/logo2.png", moment) == (200, PARTS["http://cdn.example.net/logo.png"])
    assert replay.raw(MISSING, moment) == (404, b"not here")


def test_pywb_s_index_has_the_place_that_the_row_has(site: Made, replay: Replay) -> None:
    assert site.result.cdx is not None
    index = (replay.folder / "collections" / "web" / "indexes" / "index.cdxj").read_text()
    row = next(line for line in index.splitlines() if "/article/1 " in line)
    offset, csize = site.place
    assert f'"offset": "{offset}"' in row
    assert f'"length": "{csize}"' in row
    assert row.split(" ")[:2] == [site.result.cdx.surt, site.result.cdx.datetime]
