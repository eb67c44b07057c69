"""The local stack's commands."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.table import Table

from sandcrawler.cli.screen import console, masked, put, say
from sandcrawler.config import PREFIX, data_dir

if TYPE_CHECKING:  # the extra `stack` is not there on a worker's host
    from sandcrawler.stack.base import Report

Folder = Annotated[
    Path | None,
    typer.Option("--dir", help=f"The stack's folder; without it {PREFIX}DIR, else the user's data folder"),
]


DIGITS = re.compile(r"\d+")


def up(directory: Folder = None) -> None:
    """Start Kafka, PostgreSQL and SeaweedFS on this machine, and wait until they can work. Safe to repeat.

    They go on running when this command ends; `sandcrawler down` stops them, and their data stay. A server that you
    name in the settings (for example SANDCRAWLER_POSTGRES_URL) is used instead of a new one.
    """
    from sandcrawler import stack  # noqa: PLC0415

    with progress() as report:
        stack.up(directory=directory, report=report)
    show(directory)
    if directory and directory.resolve() != data_dir().resolve():
        say(f"For the other commands: export {PREFIX}DIR={directory.resolve()}")


def down(directory: Folder = None) -> None:
    """Stop the local stack. Its data and ports are kept for the next `up`."""
    from sandcrawler import stack  # noqa: PLC0415

    with progress() as report:
        stopped = stack.down(directory, report)
    if not stopped:
        say("Nothing was running.")


def ps(directory: Folder = None) -> None:
    """Show the local stack: one JSON object a server. Exit code 1: one of them is not running."""
    if not show(directory):
        raise typer.Exit(1)


def show(directory: Path | None) -> bool:
    """Print the stack's state; whether all of it can work."""
    from sandcrawler import stack  # noqa: PLC0415

    rows = stack.ps(directory=directory)
    table = Table("server", "state", "pid", "address", title="Local stack")
    for row in rows:
        put(asdict(row))
        table.add_row(row.name, row.state, str(row.pid or ""), masked(row.address or ""))
    console.print(table)
    return all(row.state in {"running", "external"} for row in rows)


@contextmanager
def progress() -> "Iterator[Report]":
    """A line for each server that changes in place; off a terminal, a line for each thing that is begun."""
    now: dict[str, str] = {}
    if not console.is_terminal:

        def line(server: str, text: str) -> None:
            if DIGITS.sub("", text) != DIGITS.sub("", now.get(server, "")):  # not one for every megabyte
                say(f"{server:<10} {text}")
            now[server] = text

        yield line
        return
    with Live(console=console, auto_refresh=False) as live:

        def report(server: str, text: str) -> None:
            now[server] = text
            lines = Table.grid(padding=(0, 2))
            for name, latest in list(now.items()):
                lines.add_row(name, latest)
            live.update(lines, refresh=True)

        yield report
