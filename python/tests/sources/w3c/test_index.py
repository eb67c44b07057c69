import json
import sqlite3
import threading
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources import yamltext
from sandcrawler.sources.w3c.index import Index, Row, build, dump_rows, read_rows
from sandcrawler.sources.w3c.lookup import find
from sandcrawler.sources.w3c.pubid import parse
from tests.sources.w3c.shared import SHARED, needs_recordings

ROWS = [Row(parse(f"W3C {text}"), f"data/{text}.yaml") for text in ("url-1", "REC-a-20200101", "a", "WD-a-0202", "01")]


def test_rows_as_yaml() -> None:
    assert dump_rows(ROWS[:2]) == (
        "---\n- :id:\n    _type: pubid:w3c:recommendation\n    number: a\n    date: '20200101'\n"
        "  :file: data/REC-a-20200101.yaml\n"
        "- :id:\n    _type: pubid:w3c:standard\n    number: url-1\n  :file: data/url-1.yaml\n"
    )


def test_rows_are_sorted_by_number_and_unique_by_identifier(tmp_path: Path) -> None:
    path = tmp_path / "index-v2.yaml"
    path.write_text(dump_rows([*ROWS, Row(parse("W3C a"), "data/later.yaml")]))
    rows = list(read_rows(path))
    assert [row.pubid.number for row in rows] == ["01", "a", "a", "a", "url-1"]
    assert [row.file for row in rows if str(row.pubid) == "W3C a"] == ["data/later.yaml"]


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)))
def test_any_number_comes_back(numbers: list[str]) -> None:
    rows = [Row(parse(f"W3C {number}"), f"{number}.yaml") for number in numbers]
    values = yaml.safe_load(dump_rows(rows)) or []
    assert {value[":file"] for value in values} == {row.file for row in rows}


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(dump_rows(ROWS))
    lines = [
        json.dumps(
            {
                "id": {"_type": row.pubid.type, "number": row.pubid.number}
                | ({"date": row.pubid.date} if row.pubid.date else {}),
                "file": row.file,
                "ref": str(row.pubid),
            }
        )
        for row in ROWS
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n\n")
    assert set(read_rows(tmp_path / "a.yaml")) == set(read_rows(tmp_path / "a.jsonl")) == set(ROWS)


@pytest.mark.parametrize(
    "text",
    [
        "a: b",
        "- 1",
        "- :id: {_type: 'pubid:w3c:note', number: a}",
        "- :id: {_type: 'pubid:w3c:novel', number: a}\n  :file: a",
        "- :id: {_type: 'pubid:w3c:note', number: a}\n  :file: [1]",
        '{"id": 1, "file": "x"}',
        '{"id": ',
        "[",
        "\x00",
        "words",
    ],
)
def test_one_malformed_row_rejects_the_whole(tmp_path: Path, text: str) -> None:
    path = tmp_path / "index"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="not an index"):
        Index.open(path, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*"))


def test_the_malformed_row_is_named_by_its_line(tmp_path: Path) -> None:
    path, good = tmp_path / "index", '{"id": {"_type": "pubid:w3c:note", "number": "a"}, "file": "a"}\n'
    for bad in ('{"id": ', '{"id": {"_type": "pubid:w3c:novel", "number": "a"}, "file": "a"}', '{"id": {}}', "[1]"):
        path.write_text(good + "\n" + bad + "\n" + good)
        with pytest.raises(ConfigurationError, match=r"index:3: not an index"):
            list(read_rows(path))
    lines = dump_rows(ROWS).splitlines()
    lines[lines.index("    number: '01'")] = "    number: 1"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ConfigurationError, match=r"index:2: not an index"):
        list(read_rows(path))


def test_a_byte_order_mark_is_no_row(tmp_path: Path) -> None:
    text = '{"id": {"_type": "pubid:w3c:note", "number": "a"}, "file": "a"}\n'
    for form in (text, dump_rows(ROWS)):
        (tmp_path / "index").write_text("\ufeff" + form)
        assert list(read_rows(tmp_path / "index"))


def test_an_empty_index(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("--- []\n")
    assert len(Index.open(tmp_path / "index", tmp_path)) == 0


def test_the_built_form_is_made_once_and_again_when_the_index_changes(tmp_path: Path) -> None:
    path, cache = tmp_path / "index.yaml", tmp_path / "cache"
    path.write_text(dump_rows(ROWS))
    assert len(Index.open(path, cache)) == 5
    (built,) = cache.iterdir()
    stamp = built.stat().st_mtime_ns
    assert len(Index.open(path, cache)) == 5
    assert built.stat().st_mtime_ns == stamp
    path.write_text(dump_rows(ROWS[:2]))
    assert len(Index.open(path, cache)) == 2


def test_without_a_place_for_the_built_form_it_is_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "index.yaml"
    path.write_text(dump_rows(ROWS))
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert len(Index.open(path, tmp_path / "cache")) == 5


def test_building_leaves_nothing_half_made(tmp_path: Path) -> None:
    def rows() -> "list[Row]":
        raise sqlite3.OperationalError("disk full")

    with pytest.raises(sqlite3.OperationalError):
        build((row for row in rows()), tmp_path / "x.sqlite")
    assert not list(tmp_path.iterdir())


def test_threads_may_share_an_index(tmp_path: Path) -> None:
    path = tmp_path / "index.yaml"
    path.write_text(dump_rows(ROWS))
    index = Index.open(path, tmp_path / "cache")
    found: list[Row | None] = []

    def look() -> None:
        found.extend(find(index, parse("W3C REC-a")) for _ in range(200))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ROWS[1]] * 1600


@needs_recordings
def test_rows_of_the_published_index_come_back(tmp_path: Path) -> None:
    rows = list(read_rows(SHARED / "index" / "index_v2_sample.jsonl"))
    (tmp_path / "index-v2.yaml").write_text(dump_rows(rows))
    assert set(read_rows(tmp_path / "index-v2.yaml")) == set(rows)


@pytest.mark.parametrize("number", ["yes", "12", "'12'", "1.5", "n", "2020-01-01", "'yes'", "'it''s'", "a b", "07-Web"])
def test_the_short_way_of_reading_agrees_with_yaml(tmp_path: Path, number: str) -> None:
    text = f"---\n- :id:\n    _type: pubid:w3c:note\n    number: {number}\n    date: '0414'\n  :file: x.yaml\n"
    (tmp_path / "index").write_text(text)
    value = yamltext.load(text)[0][":id"]["number"]
    if isinstance(value, str):
        assert [row.pubid.number for row in read_rows(tmp_path / "index")] == [value]
    else:
        with pytest.raises(ConfigurationError):
            list(read_rows(tmp_path / "index"))
