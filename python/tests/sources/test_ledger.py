import hashlib
from pathlib import Path

import pytest

from sandcrawler.sources.ledger import LEDGER_NAME, Ledger, digest
from sandcrawler.sources.output import Output

ENTRY = {"title": "Tidal flats — é", "n": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def noted(folder: Path, *keys: str) -> Ledger:
    output = Output(folder, "yaml")
    ledger = Ledger(output)
    for key in keys:
        ledger.note(key, ENTRY, output.write_unique(key, "record"))
    ledger.save()
    return ledger


def test_the_digest_is_of_compact_json_in_the_order_of_keys() -> None:
    assert digest({"b": "é", "a": [1]}) == hashlib.sha256('{"b":"é","a":[1]}'.encode()).hexdigest()
    assert digest({"a": [1], "b": "é"}) != digest({"b": "é", "a": [1]})


def test_an_entry_that_is_as_it_was_counts_as_written(folder: Path) -> None:
    noted(folder, "k")
    ledger = Ledger(Output(folder, "yaml"))
    assert ledger.unchanged("k", ENTRY)
    assert ledger.output.written == {folder / "k.yaml"}
    assert not ledger.unchanged("k", ENTRY | {"n": 2})
    assert not ledger.unchanged("other", ENTRY)


def test_an_entry_whose_file_is_gone_is_harvested_again(folder: Path) -> None:
    noted(folder, "k")
    (folder / "k.yaml").unlink()
    assert not Ledger(Output(folder, "yaml")).unchanged("k", ENTRY)


def test_rows_that_were_not_met_drop_out(folder: Path) -> None:
    noted(folder, "a", "b")
    ledger = Ledger(Output(folder, "yaml"))
    ledger.unchanged("a", ENTRY)
    ledger.save()
    later = Ledger(Output(folder, "yaml"))
    assert later.unchanged("a", ENTRY)
    assert not later.unchanged("b", ENTRY)


def test_after_a_partial_run_they_stay(folder: Path) -> None:
    noted(folder, "a", "b")
    Ledger(Output(folder, "yaml")).save(partial=True)
    assert Ledger(Output(folder, "yaml")).unchanged("b", ENTRY)


def test_without_a_ledger_everything_has_changed(folder: Path) -> None:
    noted(folder, "k")
    ledger = Ledger(Output(folder, "yaml"), active=False)
    assert not ledger.unchanged("k", ENTRY)


@pytest.mark.parametrize("text", ["- 1", "{a: {digest: x}}", "a: [", "\x00", "a: 1"])
def test_a_broken_ledger_counts_as_none(folder: Path, text: str) -> None:
    (folder / LEDGER_NAME).write_text(text)
    ledger = Ledger(Output(folder, "yaml"))
    assert not ledger.unchanged("a", ENTRY)
    ledger.save()
