"""Exports of a real database: what was persisted comes out again, selected and whole."""

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.export import fatcat, tables
from sandcrawler.export.selection import Selection, moment
from sandcrawler.names import Table
from sandcrawler.persist import database, migrations, results
from sandcrawler.persist.postgres import PostgresSink
from tests.persist.documents import record, result, sha1

OLD, NEW = "2020-01-01T00:00:00Z", "2025-01-01T12:00:00Z"


@pytest.fixture
def config(stack_config: Callable[..., Config]) -> Config:
    config = stack_config()
    migrations.make(config)
    values = [
        result(1, timestamp=NEW),
        result(2, "xml", timestamp=OLD),
        result(3, "pdf", timestamp=NEW),
        result(4, status="unknown-scope", hit=False, timestamp=NEW),
        result(5, status="timeout", hit=False, timestamp=OLD, terminal=None, cdx=None, file_meta=None),
    ]
    sink = PostgresSink(config)
    sink.write([results.decode(record(value)) for value in values])
    sink.close()
    return config


def hashes(config: Config, **chosen: Any) -> set[str]:
    return {
        one["sha1"] if "sha1" in one else one["cdx"][0]["sha1"] for one in fatcat.entities(config, Selection(**chosen))
    }


def test_entities_by_status_type_and_time(config: Config) -> None:
    middle = datetime(2023, 1, 1, tzinfo=UTC)
    assert hashes(config) == {sha1(n) for n in (1, 2, 3, 4)}
    assert hashes(config, statuses=["success"]) == {sha1(n) for n in (1, 2, 3)}
    assert hashes(config, statuses=["success"], kinds=["html", "xml"]) == {sha1(1), sha1(2)}
    assert hashes(config, since=middle) == {sha1(n) for n in (1, 3, 4)}
    assert hashes(config, until=middle) == {sha1(2)}
    assert hashes(config, since=moment(NEW, "")) == {sha1(n) for n in (1, 3, 4)}
    assert hashes(config, until=moment(NEW, "")) == {sha1(2)}


def test_a_webcapture_is_whole(config: Config) -> None:
    (entity,) = fatcat.entities(config, Selection(["success"], ["html"]))
    assert [line["url"] for line in entity["cdx"]] == [
        "https://journal.example.org/articles/1",
        "https://journal.example.org/f.png",
    ]
    fields = {"surt", "timestamp", "url", "mimetype", "status_code", "sha1", "sha256", "size"}
    assert all(set(line) == fields for line in entity["cdx"])
    assert entity["edit_extra"]["link_source_id"] == "1"


def test_more_rows_than_a_batch_stream_out(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "STREAMED", 1)
    monkeypatch.setattr(tables, "BATCH", 1)
    assert len(hashes(config)) == 4


def test_csv(config: Config, tmp_path: Path) -> None:
    written = tables.export(config, tmp_path / "out", "csv", Selection())
    assert {path.name for path in written} == {f"{table}.csv" for table in Table}
    with (tmp_path / "out/ingest_file_result.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == written[tmp_path / "out/ingest_file_result.csv"] == 5
    assert {row["status"] for row in rows} == {"success", "unknown-scope", "timeout"}
    with (tmp_path / "out/html_meta.csv").open(newline="") as file:
        assert json.loads(next(csv.DictReader(file))["biblio"])["title"] == "On the flight of terns"
    assert not list((tmp_path / "out").glob("*.part"))


def test_parquet(config: Config, tmp_path: Path) -> None:
    written = tables.export(config, tmp_path, "parquet", Selection(["success"], ["html"]), ["html_meta", "file_meta"])
    assert {path.name: count for path, count in written.items()} == {"html_meta.parquet": 1, "file_meta.parquet": 1}
    table = parquet.read_table(tmp_path / "html_meta.parquet")
    assert str(table.schema.field("updated").type) == "timestamp[us, tz=UTC]"
    assert str(table.schema.field("word_count").type) == "int32"
    (row,) = table.to_pylist()
    assert (row["sha1hex"], row["has_teixml"], row["word_count"]) == (sha1(1), True, 3210)
    assert row["updated"] == datetime(2025, 1, 1, 12, tzinfo=UTC)
    assert json.loads(row["resources"])[0]["url"] == "https://journal.example.org/f.png"


@pytest.mark.parametrize(
    ("chosen", "rows"),
    [
        (Selection(kinds=["xml"]), {"ingest_file_result": 1, "file_meta": 1, "cdx": 1, "html_meta": 0, "xml_meta": 1}),
        (Selection(["timeout"]), {"ingest_file_result": 1, "file_meta": 0, "cdx": 0, "html_meta": 0, "xml_meta": 0}),
    ],
)
def test_every_table_has_what_the_chosen_results_say(
    config: Config, tmp_path: Path, chosen: Selection, rows: dict[str, int]
) -> None:
    written = tables.export(config, tmp_path, "csv", chosen)
    assert {path.stem: count for path, count in written.items() if path.stem in rows} == rows


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_empty_selection_is_a_file_without_rows(config: Config, tmp_path: Path, form: str) -> None:
    (count,) = tables.export(config, tmp_path, form, Selection(["dns-error"]), ["ingest_file_result"]).values()
    assert count == 0
    assert (tmp_path / f"ingest_file_result.{form}").exists()


def test_wrong_tables_and_servers_are_said(config: Config, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no table 'nothing'"):
        tables.export(config, tmp_path, "csv", Selection(), ["nothing"])
    away = Config(postgres_url="postgresql://x@127.0.0.1:9/x")
    with pytest.raises(Unavailable):
        list(fatcat.entities(away, Selection()))


def test_moments() -> None:
    assert moment("2024-01-31", "--since") == datetime(2024, 1, 31, tzinfo=UTC)
    assert moment("2024-01-31T12:00:00+02:00", "--since") == datetime(2024, 1, 31, 10, tzinfo=UTC)
    assert moment(None, "--since") is None
    with pytest.raises(ConfigurationError, match="--until"):
        moment("yesterday", "--until")
