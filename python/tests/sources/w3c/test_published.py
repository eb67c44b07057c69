"""The harvest of recorded answers gives the published records, byte by byte, where everything that they are made of
was recorded; elsewhere, all but the fields that come from what is missing."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandcrawler.sources.w3c.index import read_rows
from sandcrawler.sources.w3c.record import problems, to_xml
from tests.sources.w3c.server import serving
from tests.sources.w3c.shared import SHARED, needs_recordings
from tests.sources.w3c.world import Harvest

pytestmark = needs_recordings
API = "https://api.w3.org"
NAMES = ("2dcontext", "2dcontext2", "abstract-ui", "accelerometer", "webrtc", "html5")


def recorded() -> dict[str, Any]:
    """The recorded answers, and an index of the specifications whose versions are among them."""
    manifest = json.loads((SHARED / "manifest.json").read_text())
    found: dict[str, Any] = {
        url.removeprefix(API): (SHARED / entry["file"]).read_bytes() if entry["status"] == 200 else None
        for url, entry in manifest.items()
        if (SHARED / entry["file"]).is_file()
    }
    pages = [json.loads(found[f"/specifications/{name}"]) for name in NAMES]
    links = [{"href": f"{API}/specifications/{name}", "title": name} for name in NAMES]
    found["/specifications?embed=true"] = {
        "page": 1, "limit": 100, "pages": 1, "total": len(pages),
        "_links": {"specifications": links}, "_embedded": {"specifications": pages},
    }  # fmt: skip
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harvest")
    with serving(recorded()) as server:
        Harvest(server.base, folder).run()
    return folder


def pairs() -> list[dict[str, Any]]:
    return json.loads((SHARED / "expected" / "pairs.json").read_text()) if SHARED.is_dir() else []


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair["docid"])
def test_records_equal_the_published_ones(folder: Path, pair: dict[str, Any]) -> None:
    expected = (SHARED / pair["expected"]).read_text()
    text = (folder / Path(pair["expected"]).name).read_text()
    if pair["derivable_exactly"]:
        assert text == expected
        return
    differing = set(pair["differing_fields"])
    ours, theirs = yaml.safe_load(text), yaml.safe_load(expected)
    assert {key: ours[key] for key in ours if key not in differing} == {
        key: theirs[key] for key in theirs if key not in differing
    }


def test_all_of_them_are_there_and_most_are_exact() -> None:
    assert len(pairs()) == 63
    assert sum(pair["derivable_exactly"] for pair in pairs()) == 26


def test_records_are_valid_xml(folder: Path) -> None:
    for path in sorted(folder.glob("*.yaml"))[:200]:
        if path.name != "index-v2.yaml":
            record = yaml.load(path.read_text(), yaml.BaseLoader)
            record["docidentifier"][0]["primary"] = True
            assert problems(to_xml(record)) == []


def test_rows_equal_the_published_ones(folder: Path) -> None:
    published = {row.pubid: Path(row.file).name for row in read_rows(SHARED / "index" / "index_v2_sample.jsonl")}
    ours = {row.pubid: row.file for row in read_rows(folder / "index-v2.yaml")}
    both = published.keys() & ours.keys()
    assert len(both) > 40
    assert {pubid: ours[pubid] for pubid in both} == {pubid: published[pubid] for pubid in both}
