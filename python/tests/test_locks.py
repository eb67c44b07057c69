"""The locks: one version of everything, wherever it is installed."""

import re
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]
NAME = r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[a-z0-9,]+\])?==(?P<version>[^\s;]+)[^\n]*"
PIN = re.compile(NAME + r"(?:\n    --hash=\S+(?: \\)?)+", re.MULTILINE)


def pins(file: Path) -> dict[str, tuple[str, frozenset[str]]]:
    text = file.read_text("utf-8")
    return {m["name"]: (m["version"], frozenset(re.findall(r"--hash=(\S+)", m[0]))) for m in PIN.finditer(text)}


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-worker.lock", "benchmarks/requirements.lock"])
def test_every_line_of_a_lock_is_a_pin_with_hashes_and_names_no_registry(file: str) -> None:
    text = (PYTHON / file).read_text("utf-8")
    found = pins(PYTHON / file)
    assert len(found) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)) > 0
    assert all(hashes for _, hashes in found.values())
    assert "index-url" not in text
    assert not re.findall(r"^\s*(?!#).*://", text, re.MULTILINE)


@pytest.mark.parametrize("file", ["requirements-worker.lock", "benchmarks/requirements.lock"])
def test_smaller_locks_agree_with_the_whole_one(file: str) -> None:
    whole, part = pins(PYTHON / "requirements.lock"), pins(PYTHON / file)
    both = whole.keys() & part.keys()
    assert both
    assert {name: part[name] for name in both} == {name: whole[name] for name in both}


def test_a_worker_needs_nothing_that_the_whole_lock_lacks() -> None:
    assert pins(PYTHON / "requirements-worker.lock").keys() < pins(PYTHON / "requirements.lock").keys()
