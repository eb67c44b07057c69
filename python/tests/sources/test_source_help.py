"""The help of each source: the file it takes, where that is from, and examples that work as they stand."""

import json
import shlex
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from sandcrawler.cli import app, source_requests
from sandcrawler.cli.source_help import ABOUT

NAMES = (*source_requests.NAMES, "list", "oai")


def text(name: str) -> str:
    done = CliRunner().invoke(app, ["source", name, "requests", "--help"])
    assert done.exit_code == 0
    return done.stdout


def examples(name: str) -> list[list[str]]:
    """The words of every command of ours in a source's help, as a shell would hand them on."""
    lines = ABOUT[name].partition("Examples:\n")[2].replace("|\n", "| ").splitlines()
    words = [shlex.split(part) for line in lines for part in line.split("| ")]
    return [each[1:] for each in words if each[:1] == ["sandcrawler"]]


@pytest.mark.parametrize("name", NAMES)
def test_examples_stand_on_lines_of_their_own(name: str) -> None:
    shown = text(name)
    for line in ABOUT[name].partition("Examples:\n")[2].splitlines():
        assert line.strip() in shown
        assert len(line) < 118
    assert "Examples:" in shown
    assert name == "list" or "It is from:\n" in shown


@pytest.mark.parametrize(("name", "words"), [(name, words) for name in NAMES for words in examples(name)])
def test_examples_are_commands_that_there_are(name: str, words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    assert words[:3] == ["source", name, "requests"]
    for word in words[:3]:
        command = command.commands[word]
    context: click.Context = command.make_context("requests", words[3:])
    assert context.params["endpoint" if name == "oai" else "files"]


@pytest.mark.parametrize(
    ("name", "given"), [("list", "https://journal.example.org/1.pdf\n"), ("arxiv", "2101.01234\n")]
)
def test_examples_that_need_no_network_work(name: str, given: str) -> None:
    assert f"echo {given.strip()} | sandcrawler {' '.join(examples(name)[0])}" in text(name)
    done = CliRunner().invoke(app, examples(name)[0], input=given)
    assert (done.exit_code, json.loads(done.stdout)["ingest_type"]) == (0, "pdf")
