"""What the commands share towards the person at the terminal: JSON on stdout, words on stderr.

Words may quote what strangers wrote (a cell, a file's name, a server's answer): control characters, which a terminal
would obey, are shown as escapes here, whoever says them.
"""

import json
import logging
import os
import re
import sys
from collections.abc import MutableMapping
from typing import Any, NoReturn

import typer
from rich.console import Console

console = Console(stderr=True, highlight=False)


PASSWORD = re.compile(r"(://[^:/@]*:)[^@]*@")
# What terminals obey: C0 and C1 controls but for tabs and line ends, and marks that turn the direction of writing.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Name, how its place is taken where it is closed (so that using it fails), how it is opened.
STREAMS = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))


def masked(address: str) -> str:
    """An address without its password: it stays out of what people show each other."""
    return PASSWORD.sub(r"\1…@", address)


def printable(text: str) -> str:
    """The text with control characters as escapes, such as \\x1b."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def say(text: str) -> None:
    """A line for people."""
    console.print(printable(text), markup=False, emoji=False, soft_wrap=True)


def take_closed_streams() -> None:
    """Let closed standard streams refuse what is asked of them, with an OSError.

    Otherwise they are None in Python, and the next file or socket that is opened gets their number: what C libraries
    print would go there.
    """
    for number, (name, flags, mode) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def _printable_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {name: printable(value) if isinstance(value, str) else value for name, value in event.items()}


def log_to_stderr() -> None:
    """The library's log belongs to people too."""
    import structlog  # noqa: PLC0415  (it is slow to import)

    *before, renderer = structlog.get_config()["processors"]
    structlog.configure(
        processors=[*(one for one in before if one is not _printable_event), _printable_event, renderer],
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),  # that of the moment: it may be exchanged
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


def put(value: dict[str, Any]) -> None:
    """A line for machines."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def fail(text: str, code: int) -> NoReturn:
    """Say what is wrong, and stop with an exit code of `EXIT_CODES`."""
    try:
        sys.stdout.flush()
    except OSError:  # it may be just that which is wrong: nobody shall try once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    say(f"sandcrawler: {text}")
    sys.exit(code)
