import math
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from sandcrawler.demo.w3c.api import answers
from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.base import CrawlIncomplete
from sandcrawler.sources.w3c.index import read_rows
from sandcrawler.sources.w3c.keep import Keeper, file_name
from sandcrawler.sources.w3c.parse import EVERY_RECORD
from sandcrawler.sources.w3c.record import from_xml, from_yaml, problems
from sandcrawler.sources.w3c.settings import API, settings
from sandcrawler.sources.w3c.stop import Stop
from tests.sources.w3c.server import Server, key, serving
from tests.sources.w3c.world import PEOPLE, Harvest, names, specification, world


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    with serving(world()) as running:
        yield running


def record(folder: Path, name: str) -> Any:
    return from_yaml((folder / f"{name}.yaml").read_text())


def identifiers(folder: Path) -> set[str]:
    return {str(row.pubid) for row in read_rows(folder / "index-v2.yaml")}


def test_the_whole_harvest(server: Server, tmp_path: Path) -> None:
    harvest = Harvest(server.base, tmp_path).run()
    assert len(names(tmp_path)) == 16
    assert {"tide-0.yaml", "wd-tide-0-20010115.yaml", "rec-tide-3-20010315.yaml"} <= names(tmp_path)
    assert len(identifiers(tmp_path)) == 16
    assert all((tmp_path / row.file).is_file() for row in read_rows(tmp_path / "index-v2.yaml"))
    assert harvest.keeper.counts["documents"] == 16
    assert harvest.keeper.errors.messages() == []
    # Every resource once: 2 index pages, 4 histories, 12 versions, 24 lists of people and groups, 16 of neighbours.
    assert len(server.asked) == len(set(server.asked)) == 2 + 4 + 12 + 24 + 16 + 2
    assert harvest.keeper.counts["requests"] == len(server.asked)


def test_records_of_the_harvest(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path).run()
    middle = record(tmp_path, "cr-tide-1-20010215")
    assert [each["type"] for each in middle["relation"]] == ["editionOf", "obsoletes", "updatedBy"]
    assert [each["role"][0]["type"] for each in middle["contributor"]] == ["publisher", "editor", "editor", "author"]
    editions = [each["bibitem"]["docidentifier"][0]["content"] for each in record(tmp_path, "tide-1")["relation"]]
    assert editions == ["W3C REC-tide-1-20010315", "W3C CR-tide-1-20010215", "W3C WD-tide-1-20010115"]


def test_the_first_page_has_its_specifications_embedded(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path).run()
    assert server.asked[0] == "/specifications?embed=true"
    assert server.count("/specifications?embed=true&page=2") == 1
    assert not any(key(asked)[0] == "/specifications/tide-0" for asked in server.asked)


@pytest.mark.parametrize(("form", "root"), [("xml", "<bibdata"), ("bibxml", "<bibitem id=")])
def test_xml(server: Server, tmp_path: Path, form: Any, root: str) -> None:
    Harvest(server.base, tmp_path, form).run()
    text = (tmp_path / "rec-tide-0-20010315.xml").read_text()
    assert text.startswith(root)
    assert problems(text) == []
    assert from_xml(text)["docnumber"] == "REC-tide-0-20010315"
    assert len(list(tmp_path.glob("*.xml"))) == 16


def test_all_pages_of_a_history_are_harvested(tmp_path: Path) -> None:
    made = answers([specification("long", 250)], PEOPLE, list_size=100)
    with serving(made) as server:
        Harvest(server.base, tmp_path).run()
    assert len(names(tmp_path)) == 251
    assert len(record(tmp_path, "long")["relation"]) == 250


def test_a_history_that_goes_in_circles_ends(tmp_path: Path) -> None:
    made = world(1, 3)
    made["/specifications/tide-0/versions"]["_links"]["next"] = {"href": f"{API}/specifications/tide-0/versions"}
    with serving(made) as server:
        Harvest(server.base, tmp_path).run()
        assert server.count("/specifications/tide-0/versions") == 2
    assert len(names(tmp_path)) == 4


def test_a_version_in_two_histories_is_harvested_once(tmp_path: Path) -> None:
    made = world(2, 2)
    shared = f"{API}/specifications/tide-0/versions/20010115"
    made["/specifications/tide-1/versions"]["_links"]["version-history"].append({"href": shared, "title": "x"})
    with serving(made) as server:
        Harvest(server.base, tmp_path).run()
        assert server.count("/specifications/tide-0/versions/20010115/editors") == 1
    assert len(record(tmp_path, "tide-1")["relation"]) == 3


@pytest.mark.parametrize("end", ["a\x00b", "a\nb: c", "\ud800", "x" * 3000, "é", "..", "'", "~", "- "])
def test_odd_urls_break_nothing_else(tmp_path: Path, end: str) -> None:
    made = world(1, 2)
    made["/specifications/tide-0/versions/20010115"]["uri"] = f"http://www.w3.org/TR/{end}"
    with serving(made) as server:
        Harvest(server.base, tmp_path).run()
    assert {"tide-0.yaml", "rec-tide-0-20010215.yaml"} & names(tmp_path)
    assert all((tmp_path / row.file).is_file() for row in read_rows(tmp_path / "index-v2.yaml"))
    assert len(identifiers(tmp_path)) >= 1


def test_without_versions(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path, versions=False).run()
    assert names(tmp_path) == {f"tide-{n}.yaml" for n in range(4)}
    assert not any(asked.endswith("/editors") for asked in server.asked)


def test_people_who_left_are_left_out(tmp_path: Path) -> None:
    made = answers([specification("tide", 1, ("ada", "gone", "bo"))], PEOPLE)
    with serving(made) as server:
        harvest = Harvest(server.base, tmp_path).run()
        assert server.count("/users/gone") == 1
    editors = record(tmp_path, "wd-tide-20010115")["contributor"][1:-1]
    assert [each["person"]["name"]["surname"]["content"] for each in editors] == ["Fernhill", "Marsh"]
    assert harvest.crawl.realizer.skipped == {f"{API}/users/gone"}


@pytest.mark.parametrize("broken", [{}, {"uri": None, "shortlink": None}, {"uri": 7}])
def test_one_bad_version_costs_only_its_own_record(tmp_path: Path, broken: dict[str, Any]) -> None:
    made = world(1, 3)
    place = "/specifications/tide-0/versions/20010215"
    made[place] = {**made[place], **broken} if broken else {}
    with serving(made) as server:
        harvest = Harvest(server.base, tmp_path).run()
    assert {"wd-tide-0-20010115.yaml", "rec-tide-0-20010315.yaml"} <= names(tmp_path)
    assert harvest.keeper.errors.messages()


def test_an_identifier_that_cannot_be_read_is_written_and_not_indexed(tmp_path: Path) -> None:
    made = world(1, 1)
    made["/specifications/tide-0/versions/20010115"]["uri"] = "http://www.w3.org/TR/2001/REC-/"
    with serving(made) as server:
        harvest = Harvest(server.base, tmp_path).run()
    (message,) = harvest.keeper.errors.messages()
    assert message.startswith("Unparseable primary id `W3C REC-` was not indexed (")
    assert "rec-.yaml" in names(tmp_path)
    assert identifiers(tmp_path) == {"W3C tide-0"}


def test_fields_that_no_record_has_are_reported(tmp_path: Path) -> None:
    made = world(2, 1)
    for value in made.values():
        if value:
            value.pop("title", None)
            value.pop("status", None)
    with serving(made) as server:
        harvest = Harvest(server.base, tmp_path).run()
    assert sorted(harvest.keeper.errors.messages()) == ["Failed to fetch status", "Failed to fetch title"]


def test_short_pagination_is_refused(tmp_path: Path) -> None:
    made = world(6, 1)
    del made["/specifications?embed=true"]["_links"]["next"]
    with serving(made) as server, pytest.raises(CrawlIncomplete, match="page 1 of 3; refusing"):
        Harvest(server.base, tmp_path).run()
    assert not (tmp_path / "index-v2.yaml").exists()


@pytest.mark.parametrize("pages", [None, 0, "3", 1])
def test_a_count_of_pages_that_says_nothing_is_passed_over(tmp_path: Path, pages: Any) -> None:
    made = world(2, 1)
    made["/specifications?embed=true"]["pages"] = pages
    with serving(made) as server:
        Harvest(server.base, tmp_path).run()
    assert (tmp_path / "index-v2.yaml").exists()


def test_ctrl_c_is_restored_and_saves(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with serving(world(20, 6)) as server:
        harvest = Harvest(server.base, tmp_path, concurrency=1)

        def interrupt(_: str) -> None:
            if len(server.asked) == 40:
                os.kill(os.getpid(), signal.SIGINT)
                harvest.crawl.stop.sleep(60)  # until the handler has had its turn

        server.on_request = interrupt
        harvest.run()
    assert harvest.crawl.stop.interrupted
    assert signal.getsignal(signal.SIGINT) is before
    kept = names(tmp_path)
    assert 0 < len(kept) < 70
    assert {row.file for row in read_rows(tmp_path / "index-v2.yaml")} == kept
    assert len(server.asked) < 60, "of some 600"


def test_an_interrupted_harvest_keeps_what_the_index_had(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path).run()
    harvest = Harvest(server.base, tmp_path)
    harvest.crawl.stop.interrupted = True
    harvest.crawl.stop.set()
    harvest.run()
    assert len(identifiers(tmp_path)) == 16


def test_rows_of_files_that_are_gone_leave_the_index(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path).run()
    (tmp_path / "tide-0.yaml").unlink()
    harvest = Harvest(server.base, tmp_path)
    harvest.keeper.save_index()
    assert len(identifiers(tmp_path)) == 15


def test_in_another_thread_signals_are_left_alone(server: Server, tmp_path: Path) -> None:
    thread = threading.Thread(target=Harvest(server.base, tmp_path).run)
    thread.start()
    thread.join(120)
    assert len(names(tmp_path)) == 16


def test_a_sleep_ends_on_stop() -> None:
    stop = Stop()
    threading.Timer(0.05, stop.set).start()
    stop.sleep(60)
    assert stop()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("W3C REC-xml-names", "rec-xml-names.yaml"),
        ("W3C CR/json:ld+11 test", "cr_json_ld_11_test.yaml"),
        ("REC-CSS2-19980512/fonts", "rec-css2-19980512_fonts.yaml"),
        ("css.3", "css.3.yaml"),
        ("a : b", "a_b.yaml"),
        ("../../x", ".._.._x.yaml"),
    ],
)
def test_names_of_files(name: str, expected: str) -> None:
    assert file_name(name, "yaml") == expected


def test_a_long_name_is_cut() -> None:
    assert len(file_name("a" * 400, "yaml")) == 255


def test_no_record_is_nothing_to_save(tmp_path: Path) -> None:
    assert Keeper(tmp_path).save(None, EVERY_RECORD) is None
    assert list(tmp_path.iterdir()) == []


def test_the_first_owns_the_row_and_the_last_the_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keeper = Keeper(tmp_path)
    for docnumber in ("a b", "a:b"):
        keeper.save({"docnumber": docnumber, "ext": {}}, {})
    keeper.save_index()
    assert "already exists" in "".join(capsys.readouterr())
    assert [str(row.pubid) for row in read_rows(tmp_path / "index-v2.yaml")] == ["W3C a b"]
    assert record(tmp_path, "a_b")["docnumber"] == "a:b"


@pytest.mark.parametrize("text", ["0", "false", "no", "off", " OFF ", "False"])
def test_versions_can_be_turned_off(text: str) -> None:
    assert not settings({"RELATON_W3C_FETCH_VERSIONS": text}).versions


@pytest.mark.parametrize("text", ["", "1", "true", "yes", "on", "whatever"])
def test_versions_are_on_otherwise(text: str) -> None:
    assert settings({"RELATON_W3C_FETCH_VERSIONS": text}).versions


@pytest.mark.parametrize(("text", "budget"), [("0", 0), ("7", 7), ("", 25), ("-1", 25), ("many", 25), (" 7", 25)])
def test_the_budget_of_losses(text: str, budget: int) -> None:
    assert settings({"RELATON_W3C_MAX_THROTTLED": text}).max_throttled == budget


@pytest.mark.parametrize(
    ("api", "gap"), [("nowhere", None), ("", None), ("ftp://a.org", 1), (None, -3), (None, math.nan)]
)
def test_knobs_that_mean_nothing_are_refused(api: str | None, gap: float | None) -> None:
    with pytest.raises(ConfigurationError):
        settings({}, api, gap)


def test_other_knobs() -> None:
    assert settings({}).concurrency == 4
    assert settings({"RELATON_W3C_FETCH_CONCURRENCY": "9"}).concurrency == 9
    for wrong in ("0", "-2", "many"):
        with pytest.raises(ConfigurationError, match="FETCH_CONCURRENCY"):
            settings({"RELATON_W3C_FETCH_CONCURRENCY": wrong})
    assert (settings({}).api, settings({}).gap) == (API, 0.1)
    assert settings({"W3C_API_URL": "http://localhost:1/"}).api == "http://localhost:1"
    assert settings({"W3C_API_URL": "http://localhost:1/"}).gap == 0
    assert settings({}, api="http://localhost:2", gap=1.5).gap == 1.5


def test_a_server_that_always_answers_with_one_page_is_refused(tmp_path: Path) -> None:
    made = world(6, 1)
    made["/specifications?embed=true&page=2"] = made["/specifications?embed=true"]
    with serving(made) as server, pytest.raises(CrawlIncomplete, match="failed to fetch page 2"):
        Harvest(server.base, tmp_path).run()
