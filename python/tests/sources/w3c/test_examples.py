"""The asserted examples that no other test has word for word: webrtc's records, and what a source says of itself."""

from pathlib import Path
from typing import Any

import pytest

from sandcrawler.sources.registry import source
from sandcrawler.sources.w3c.record import from_yaml
from sandcrawler.sources.w3c.reference import identifier, normalize
from tests.sources.w3c import test_published
from tests.sources.w3c.server import serving
from tests.sources.w3c.shared import needs_recordings
from tests.sources.w3c.world import Harvest


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("harvest")
    with serving(test_published.recorded()) as server:
        Harvest(server.base, folder).run()
    return {name: from_yaml((folder / f"{name}.yaml").read_text()) for name in ("webrtc", "rec-webrtc-20241008")}


def relations(record: Any) -> list[tuple[str, str | None, str]]:
    return [
        (each["type"], each.get("description", {}).get("content"), each["bibitem"]["docidentifier"][0]["content"])
        for each in record["relation"]
    ]


@needs_recordings
def test_a_version_of_webrtc(records: dict[str, Any]) -> None:
    record = records["rec-webrtc-20241008"]
    assert record["status"]["stage"]["content"] == "Recommendation"
    assert record["series"][0]["title"][0]["content"] == "W3C Recommendation"
    assert ("editionOf", None, "W3C webrtc") in relations(record)
    name = record["contributor"][1]["person"]["name"]
    assert (name["forename"][0]["content"], name["surname"]["content"]) == ("Cullen", "Jennings")
    assert record["language"] == ["en"]
    assert record["script"] == ["Latn"]
    assert record["ext"]["doctype"] == {"content": "technicalReport"}


@needs_recordings
def test_the_neighbours_of_a_version_of_webrtc(records: dict[str, Any]) -> None:
    assert relations(records["rec-webrtc-20241008"]) == [
        ("editionOf", None, "W3C webrtc"),
        ("obsoletes", None, "W3C REC-webrtc-20230306"),
        ("updatedBy", "errata", "W3C REC-webrtc-20250313"),
    ]


@needs_recordings
def test_the_specification_of_webrtc(records: dict[str, Any]) -> None:
    record = records["webrtc"]
    assert {"status", "date"}.isdisjoint(record)
    assert len(record["contributor"]) == 1
    assert len(record["relation"]) == 38
    assert relations(record)[0] == ("hasEdition", None, "W3C REC-webrtc-20250313")


def test_what_the_source_says_of_itself() -> None:
    w3c = source("w3c")
    assert (w3c.name, w3c.prefix, w3c.datasets) == ("w3c", "W3C", ("w3c-api",))


def test_one_trailing_slash_goes_and_file_tails_stay() -> None:
    assert normalize("https://www.w3.org/TR/css-2026/") == "W3C css-2026"
    assert normalize("W3C REC-a-20200101.html") == "W3C REC-a-20200101.html"
    assert identifier("https://www.w3.org/TR/1998/REC-CSS2-19980512/fonts.html") == "REC-CSS2-19980512/fonts"
