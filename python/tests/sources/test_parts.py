"""Dumps that are folders, as their makers hand them out."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sandcrawler.cli import app
from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.parts import parts


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def found(folder: Path) -> tuple[list[str], list[str]]:
    passed_over: list[str] = []
    taken = list(parts(str(folder), passed_over.append))
    return [[str(Path(one).relative_to(folder)) for one in each] for each in (taken, passed_over)]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("names", "others"),
    [
        (["0.jsonl.gz", "1.json.gz", "10.json"], ["LICENSE", "README.md"]),
        (
            ["updated_date=2023-01-01/part_000.gz", "updated_date=2026-01-31/0000_part_00.gz"],
            ["RELEASE_NOTES.txt", "manifest"],
        ),
        (["article_batch_1.json", "article_batch_2.json"], []),
        (["part-00000-ab12.csv", "part-00001-ab12.csv.zst"], ["_SUCCESS"]),
        (["a.tsv", "b.txt", "c.ndjson.xz"], [".hidden.json", "SHA256SUMS.txt", "images.tar", "manifest.json"]),
    ],
    ids=["crossref", "openalex", "doaj", "spark", "mixed"],
)
def test_files_with_records_by_their_names(tmp_path: Path, names: list[str], others: list[str]) -> None:
    write(tmp_path, *names, *others)
    assert found(tmp_path) == [names, others]


def test_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, ".cache/a.json", "b.json")
    assert found(tmp_path) == [["b.json"], []]


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        list(parts(str(tmp_path / "none"), print))


def works(*numbers: int) -> bytes:
    return b"".join(
        json.dumps({"DOI": f"10.1234/{n}", "link": [{"URL": f"https://a.example.org/{n}.pdf"}]}).encode() + b"\n"
        for n in numbers
    )


def run(*arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    done = CliRunner().invoke(app, ["source", *arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_a_folder_is_read_in_the_order_of_names_and_a_bad_part_costs_itself(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.json.gz").write_bytes(gzip.compress(works(3) + b"not json\n" + works(1)))
    (tmp_path / "0.json.gz").write_bytes(gzip.compress(works(1, 2)))
    (tmp_path / "1.json").write_bytes(b"PK\x03\x04 in truth a zip")
    (tmp_path / "3.jsonl.gz").write_bytes(gzip.compress(works(4))[:-4])
    (tmp_path / "MANIFEST").write_text("")
    code, requests, said = run("crossref", "requests", str(tmp_path))
    assert code == 1
    assert [one["link_source_id"] for one in requests] == ["10.1234/1", "10.1234/2", "10.1234/4", "10.1234/3"]
    assert f"{tmp_path}/b/2.json.gz:2: not JSON" in said
    assert f"{tmp_path}/1.json:0: {tmp_path}/1.json is a ZIP archive" in said
    assert f"{tmp_path}/3.jsonl.gz:1: the input is broken" in said
    assert f"1 files in the folders hold no records by their names, such as {tmp_path}/MANIFEST" in said


def test_each_file_of_a_list_has_its_own_form(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("note,url\nx,https://a.example.org/1\n")
    (tmp_path / "b.jsonl").write_text('{"url": "https://a.example.org/2"}\n')
    (tmp_path / "c.txt").write_text("https://a.example.org/3\n")
    code, requests, _ = run("list", "requests", str(tmp_path))
    assert (code, [one["base_url"][-1] for one in requests]) == (0, ["1", "2", "3"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_part_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "0.json").write_bytes(works(1))
    (tmp_path / "0.json").chmod(0)
    (tmp_path / "1.json").write_bytes(works(2))
    code, requests, said = run("crossref", "requests", str(tmp_path))
    assert (code, len(requests)) == (1, 1)
    assert "Permission denied" in said
