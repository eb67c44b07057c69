"""The locks: one version of everything, wherever it is installed."""

import re
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]
NAME = r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[a-z0-9,]+\])?==(?P<version>[^\s;]+)[^\n]*"
PIN = re.compile(NAME + r"(?:\n    --hash=\S+(?: \\)?)+", re.MULTILINE)


def pins(file: Path) -> dict[str, set[tuple[str, str]]]:
    """By name: versions with their hashes (more than one version where it depends on the Python)."""
    found: dict[str, set[tuple[str, str]]] = {}
    for pin in PIN.finditer(file.read_text("utf-8")):
        for digest in re.findall(r"--hash=(\S+)", pin[0]):
            found.setdefault(pin["name"], set()).add((pin["version"], digest))
    return found


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-worker.lock", "benchmarks/requirements.lock"])
def test_every_line_of_a_lock_is_a_pin_with_hashes_and_names_no_registry(file: str) -> None:
    text = (PYTHON / file).read_text("utf-8")
    assert len(PIN.findall(text)) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)) > 0
    assert not re.findall(r"^\s*-(?!-hash)|^[^#\n]*://", text, re.MULTILINE)


@pytest.mark.parametrize("file", ["requirements-worker.lock", "benchmarks/requirements.lock"])
def test_smaller_locks_agree_with_the_whole_one(file: str) -> None:
    whole, part = pins(PYTHON / "requirements.lock"), pins(PYTHON / file)
    both = whole.keys() & part.keys()
    assert both
    assert {name: part[name] for name in both} == {name: whole[name] for name in both}


def test_a_worker_needs_nothing_that_the_whole_lock_lacks() -> None:
    assert pins(PYTHON / "requirements-worker.lock").keys() < pins(PYTHON / "requirements.lock").keys()
