"""Exports while others write, onto a disk that fills up, ended in the midst: all of one moment, or as it was before."""

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sandcrawler.config import Config
from sandcrawler.export import fatcat, tables
from sandcrawler.export.selection import Selection
from sandcrawler.persist import migrations, results
from sandcrawler.persist.postgres import PostgresSink
from tests.persist.documents import record, result

EXPORT = (sys.executable, "-m", "sandcrawler", "export")
MANY = (
    "INSERT INTO file_meta SELECT lpad(n::text, 40, '0'), now(), lpad(n::text, 64, '0'), lpad(n::text, 32, '0'), n,"
    " md5(n::text) || md5((n + 1)::text) FROM generate_series(1, 30000) n"
)


@pytest.fixture
def config(stack_config: Callable[..., Config]) -> Config:
    config = stack_config()
    migrations.make(config)
    write(config, 1, 2, 3)
    return config


def write(config: Config, *numbers: int) -> None:
    sink = PostgresSink(config)
    sink.write([results.decode(record(result(number))) for number in numbers])
    sink.close()


def many(config: Config) -> None:
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        connection.execute(MANY)


def run(config: Config, *words: object, **more: Any) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "SANDCRAWLER_POSTGRES_URL": config.postgres_url or ""}
    command = [*EXPORT, *map(str, words)]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=90, check=False, **more)


def hashes(folder: Path, table: str, column: str) -> set[str]:
    with (folder / f"{table}.csv").open(newline="") as file:
        return {row[column] for row in csv.DictReader(file)}


def test_rows_that_come_meanwhile_are_in_no_file(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer adds documents between one table and the next: no table has what another lacks."""
    copy, numbers = tables.WRITERS["csv"], iter(range(10, 99))

    def slowly(*given: Any) -> int:
        count = copy(*given)
        write(config, next(numbers))
        return count

    monkeypatch.setattr(tables, "WRITERS", {"csv": slowly})
    tables.export(config, tmp_path, "csv", Selection())
    told = hashes(tmp_path, "ingest_file_result", "terminal_sha1hex")
    assert len(told) == 3
    assert told == hashes(tmp_path, "file_meta", "sha1hex") == hashes(tmp_path, "html_meta", "sha1hex")


def test_entities_are_of_one_moment_too(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandcrawler.persist.database.STREAMED", 1)
    entities = fatcat.entities(config, Selection())
    first = next(entities)
    write(config, *range(10, 30))
    assert len([first, *entities]) == 3


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_disk_without_room_leaves_the_last_export(form: str, config: Config, tmp_path: Path) -> None:
    assert run(config, form, tmp_path).returncode == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == len(tables.TABLES)
    write(config, 4)
    many(config)
    limit = 100_000
    done = run(config, form, tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/file_meta.{form}: " in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_export_that_is_ended_leaves_nothing_half(config: Config, tmp_path: Path) -> None:
    """The table is locked, so that the export waits in its midst."""
    with psycopg.connect(config.postgres_url or "") as connection:
        connection.execute("LOCK TABLE html_meta")
        environ = {**os.environ, "SANDCRAWLER_POSTGRES_URL": config.postgres_url or ""}
        running = subprocess.Popen([*EXPORT, "csv", str(tmp_path)], env=environ, stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 30
        while not list(tmp_path.glob(".html_meta*")) and time.monotonic() < limit:
            time.sleep(0.02)
        assert len(list(tmp_path.iterdir())) > 1
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=30)
    assert (running.returncode, "interrupted" in said, list(tmp_path.iterdir())) == (130, True, [])


def test_parts_of_the_dead_are_swept(config: Config, tmp_path: Path) -> None:
    for name, age in ((".cdx.csv-old.part", 100_000), (".cdx.csv-new.part", 60)):
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    tables.export(config, tmp_path, "csv", Selection(), ["cdx"])
    assert {path.name for path in tmp_path.iterdir()} == {"cdx.csv", ".cdx.csv-new.part"}


def test_a_reader_of_entities_that_has_enough(config: Config) -> None:
    write(config, *range(10, 200))
    environ = {**os.environ, "SANDCRAWLER_POSTGRES_URL": config.postgres_url or ""}
    with subprocess.Popen([*EXPORT, "fatcat"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stderr
        json.loads(running.stdout.readline())
        running.stdout.close()
        assert (running.stderr.read(), running.wait(60)) == (b"", 0)


def test_entities_onto_a_full_disk(config: Config) -> None:
    with Path("/dev/full").open("wb") as full:
        environ = {**os.environ, "SANDCRAWLER_POSTGRES_URL": config.postgres_url or ""}
        done = subprocess.run([*EXPORT, "fatcat"], env=environ, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr


def test_many_exports_and_writers_side_by_side(config: Config, tmp_path: Path) -> None:
    faults: list[BaseException] = []

    def repeat(work: Callable[[int], object]) -> None:
        try:
            for number in range(5):
                work(number)
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    works: list[Callable[[int], object]] = [
        lambda _: tables.export(config, tmp_path, "csv", Selection()),
        lambda _: tables.export(config, tmp_path, "parquet", Selection()),
        lambda number: write(config, *range(100 * number, 100 * number + 20)),
        lambda _: list(fatcat.entities(config, Selection())),
    ]
    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(list(tmp_path.iterdir())) == 2 * len(tables.TABLES)
