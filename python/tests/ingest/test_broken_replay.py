"""What badly speaking servers said, recorded: the same body again from the WARC, and from pywb over it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandcrawler.fetch.codings import GZIP_MAGIC
from sandcrawler.status import Status
from tests.fetch.test_broken_servers import HTML, TAKEN, sends
from tests.fetch.test_warc import asked
from tests.fetch.warcs import HOST, Record, checked, tape
from tests.ingest.replays import Replay, replaying

pytest.importorskip("pywb", reason="replay needs the extra `test`")

URLS = {f"{HOST}/{number}": page for number, page in enumerate(TAKEN.values())}


@dataclass(frozen=True)
class Made:
    """The WARC of all these answers."""

    path: Path
    records: dict[str | None, Record]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("broken")
    taped = tape({url: sends(page, len(page)) for url, page in URLS.items()}, *URLS, folder=folder, seconds=120)
    assert {capture.status for capture in taped.captures} == {Status.SUCCESS}
    assert all(taped.members)
    return Made(folder / "made.warc.gz", {record.url: record for record in taped.of("response")})


@pytest.fixture(scope="module")
def replay(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    with replaying(tmp_path_factory.mktemp("pywb"), [made.path]) as replay:
        yield replay


def test_the_file_is_sound_and_our_own_back_end_says_the_same_again(made: Made) -> None:
    assert checked(made.path)
    for capture in asked(made.path, *URLS, seconds=120):
        assert (capture.status, capture.body) == (Status.SUCCESS, HTML), (URLS[capture.url][:200], capture)


def test_so_does_pywb(made: Made, replay: Replay) -> None:
    for url, page in URLS.items():
        if page.count(GZIP_MAGIC) > 1:  # it reads one member
            continue
        coded = b"-Encoding: " in page  # it does not know all codings, and then gives what came
        assert replay.raw(url, "2") in {(200, HTML), (200, made.records[url].body if coded else HTML)}, page[:200]
