import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.sources.cache import Cache
from sandcrawler.sources.http import Client
from sandcrawler.sources.w3c.bibliography import search
from sandcrawler.sources.w3c.dataset import Dataset
from sandcrawler.sources.w3c.index import Row, dump_rows
from sandcrawler.sources.w3c.pubid import parse
from tests.sources.w3c.server import Fault, Server, key, serving

SHARDS = 7
MANIFEST = {"version": 2, "index": "index-v2", "count": 4, "shards": SHARDS, "key": "root-number", "algorithm": "crc32"}
ROWS = [
    Row(parse(f"W3C {text}"), f"data/{text}.yaml") for text in ("tide", "REC-tide-20200101", "REC-tide-2019", "WD-Buoy")
]


def place(number: str) -> str:
    return f"/site/index/shard-{zlib.crc32(number.encode()) % SHARDS:05}.json"


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    answers: dict[str, Any] = {"/site/index/manifest.json": dict(MANIFEST)}
    for row in ROWS:
        value = {"_type": row.pubid.type, "number": row.pubid.number}
        value |= {"date": row.pubid.date} if row.pubid.date else {}
        answers.setdefault(place(row.pubid.number), []).append({"r": str(row.pubid), "file": row.file, "id": value})
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("index-v2.yaml", dump_rows(ROWS))
    answers["/site/index-v2.zip"] = whole.getvalue()
    with serving(answers) as running:
        yield running


def found(server: Server, folder: Path, *references: str) -> list[str | None]:
    among = Dataset(f"{server.base}/site", Cache(Client("tests", retries={}), folder))
    hits = [search(each, among, f"{server.base}/site/index/manifest.json") for each in references]
    return [str(hit.pubid) if hit else None for hit in hits]


def test_a_look_up_reads_one_piece(server: Server, tmp_path: Path) -> None:
    assert found(server, tmp_path, "W3C REC-tide") == ["W3C REC-tide-20200101"]
    assert server.asked == ["/site/index/manifest.json", place("tide")]
    assert found(server, tmp_path, "W3C tide", "W3C REC-tide-2019") == ["W3C tide", "W3C REC-tide-2019"]
    assert len(server.asked) == 2


def test_a_piece_that_is_not_there_has_no_rows_and_the_whole_is_read_once(server: Server, tmp_path: Path) -> None:
    number = next(name for name in map(str, range(99)) if key(place(name)) not in server.answers)
    assert found(server, tmp_path, f"W3C {number}", "W3C WD-bUOY", "W3C WD-BUOY") == [
        None,
        "W3C WD-Buoy",
        "W3C WD-Buoy",
    ]
    assert server.asked.count("/site/index-v2.zip") == 1


@pytest.mark.parametrize("path", ["/site/index/manifest.json", place("tide")])
@pytest.mark.parametrize("fault", [Fault(503), Fault(403), Fault(0)])
def test_any_other_failure_is_an_error(server: Server, tmp_path: Path, path: str, fault: Fault) -> None:
    server.always[key(path)] = fault
    with pytest.raises(Unavailable, match="Could not access URL"):
        found(server, tmp_path, "W3C tide")


def test_there_is_no_falling_back(server: Server, tmp_path: Path) -> None:
    del server.answers[key("/site/index/manifest.json")]
    with pytest.raises(Unavailable):
        found(server, tmp_path, "W3C tide")
    assert server.asked == ["/site/index/manifest.json"]


@pytest.mark.parametrize(
    "change", [{"version": 1}, {"key": "other"}, {"algorithm": "md5"}, {"shards": 0}, {"shards": "7"}, {"index": None}]
)
def test_a_bad_manifest(server: Server, tmp_path: Path, change: dict[str, Any]) -> None:
    server.answers[key("/site/index/manifest.json")] = MANIFEST | change
    with pytest.raises(ConfigurationError, match=r"manifest\.json"):
        found(server, tmp_path, "W3C tide")


@pytest.mark.parametrize("body", [b"{", b"[1]", b'[{"id": {}}]', b"null", b"7"])
def test_bad_pieces(server: Server, tmp_path: Path, body: bytes) -> None:
    server.answers[key(place("tide"))] = body
    with pytest.raises(ConfigurationError, match="not a piece"):
        found(server, tmp_path, "W3C tide")


@pytest.mark.parametrize("body", [b"", b"PK", b"not a zip"])
def test_a_bad_archive(server: Server, tmp_path: Path, body: bytes) -> None:
    server.answers[key("/site/index-v2.zip")] = body
    with pytest.raises(ConfigurationError, match="not an archive"):
        found(server, tmp_path, "W3C nothing")
