"""What the commands share towards the person at the terminal: JSON on stdout, words on stderr."""

import json
import sys
from typing import Any, NoReturn

import typer
from rich.console import Console

console = Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """A line for people."""
    console.print(text, markup=False, soft_wrap=True)


def put(value: dict[str, Any]) -> None:
    """A line for machines."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def fail(text: str, code: int) -> NoReturn:
    """Say what is wrong, and stop with an exit code of `EXIT_CODES`."""
    sys.stdout.flush()
    console.print(f"sandcrawler: {text}", markup=False, soft_wrap=True)
    sys.exit(code)
