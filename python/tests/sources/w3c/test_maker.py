from pathlib import Path

from sandcrawler.sources.requests import Report
from sandcrawler.sources.w3c.maker import requests
from tests.sources.w3c.server import serving
from tests.sources.w3c.world import Harvest, world


def test_the_page_of_every_version(tmp_path: Path) -> None:
    with serving(world(2, 3)) as server:
        Harvest(server.base, tmp_path).run()
    report = Report(lambda *_: None)
    made = list(requests(tmp_path, report))
    assert len(made) == 6
    assert (report.rows, report.left_out) == (8, 0)
    assert made[2] == {
        "ingest_type": "html",
        "base_url": "http://www.w3.org/TR/2001/REC-tide-0-20010315/",
        "link_source": "w3c",
        "link_source_id": "W3C REC-tide-0-20010315",
        "ingest_request_source": "w3c",
        "release_stage": "published",
        "ext_ids": {"w3c": "W3C REC-tide-0-20010315"},
    }
    stages = {one["link_source_id"].split("-")[0]: one["release_stage"] for one in made}
    assert stages == {"W3C WD": "draft", "W3C CR": "draft", "W3C REC": "published"}


def test_the_same_from_xml(tmp_path: Path) -> None:
    with serving(world(2, 3)) as server:
        Harvest(server.base, tmp_path / "yaml").run()
        Harvest(server.base, tmp_path / "xml", "xml").run()
    assert list(requests(tmp_path / "yaml")) == list(requests(tmp_path / "xml"))


def test_bad_records_are_reported_and_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [")
    (tmp_path / "b.xml").write_text("<")
    (tmp_path / "c.yaml").write_text("date:\n- at: '2020'\n")
    (tmp_path / "d.yaml").write_text(
        "date:\n- at: '2020'\ndocidentifier:\n- content: W3C x\nsource:\n- type: src\n  content: ftp://example.org/\n"
    )
    bad: list[tuple[int | str, str]] = []
    assert list(requests(tmp_path, Report(lambda _, where, why: bad.append((where, why))))) == []
    assert [where for where, _ in bad] == ["a.yaml", "b.xml", "c.yaml", "d.yaml"]
