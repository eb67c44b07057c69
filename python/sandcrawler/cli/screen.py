"""What the commands share towards the person at the terminal: JSON on stdout, words on stderr."""

import json
import logging
import re
import sys
from typing import Any, NoReturn

import typer
from rich.console import Console

console = Console(stderr=True, highlight=False)


PASSWORD = re.compile(r"(://[^:/@]*:)[^@]*@")


def masked(address: str) -> str:
    """An address without its password: it stays out of what people show each other."""
    return PASSWORD.sub(r"\1…@", address)


def say(text: str) -> None:
    """A line for people."""
    console.print(text, markup=False, emoji=False, soft_wrap=True)


def log_to_stderr() -> None:
    """The library's log belongs to people too."""
    import structlog  # noqa: PLC0415  (it is slow to import)

    structlog.configure(
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),  # that of the moment: it may be exchanged
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


def put(value: dict[str, Any]) -> None:
    """A line for machines."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def fail(text: str, code: int) -> NoReturn:
    """Say what is wrong, and stop with an exit code of `EXIT_CODES`."""
    sys.stdout.flush()
    console.print(f"sandcrawler: {text}", markup=False, emoji=False, soft_wrap=True)
    sys.exit(code)
