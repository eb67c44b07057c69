"""Where made requests go: to stdout, a JSON object a line, or into Kafka; and what is said of the rest on stderr."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer
from pydantic_core import to_json

from sandcrawler.cli.feed import BATCH, publish
from sandcrawler.cli.screen import printable, put, say
from sandcrawler.config import load

if TYPE_CHECKING:
    from sandcrawler.sources.requests import Report

WRITE_BYTES = 1 << 16


def reporting(place: str) -> "Report":
    """A report that names what is left out on stderr, as PLACE:WHERE: reason."""
    from sandcrawler.sources.requests import Report  # noqa: PLC0415

    def tell(place: str, where: int | str, reason: str) -> None:
        # One line each, whatever was quoted, and without rich: there may be millions.
        typer.echo(printable(f"{place}:{where}: {reason}").replace("\n", "\\n"), err=True)

    return Report(tell, place)


def emit(requests: Iterable[dict[str, Any]], queue: str | None, live: bool = False, before: int = 0) -> int:
    """Requests to stdout, a line each, or to a queue; how many. What was made before an error is given out.

    All of it is written when this returns or raises; where the input is live, each request as soon as it is made.
    `before`: how many this run has published already, for those who hear of an error.
    """
    if queue is not None:
        return _publish(requests, queue, before)
    out, count, held, size = sys.stdout.buffer, 0, bytearray(), 1 if live else WRITE_BYTES
    try:
        for one in requests:
            held += to_json(one) + b"\n"
            count += 1
            if len(held) >= size:
                piece, held = held, bytearray()
                out.write(piece)
                out.flush()
    finally:
        out.write(held)
        out.flush()
    return count


def _publish(requests: Iterable[dict[str, Any]], queue: str, before: int) -> int:
    given = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal given
        for one in requests:
            given += 1
            yield one

    failed: list[BaseException] = []
    try:
        count = publish(_until(counted(), failed), queue, load())
    except BaseException:
        if given:  # those of the batch under way may be there, or not
            _tell_published(before + (given - 1) // BATCH * BATCH)
        raise
    if failed:
        _tell_published(before + count)
        raise failed[0]
    return count


def _tell_published(count: int) -> None:
    say(f"{count} requests were published before this; the same command again repeats some, which does no harm")


def _until(requests: Iterable[dict[str, Any]], failed: list[BaseException]) -> Iterator[dict[str, Any]]:
    """Requests up to an error, which is put into `failed`: so the last batch is published before it is raised."""
    try:
        yield from requests
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001  (Ctrl-C too; the caller raises it)
        failed.append(error)


def conclude(report: "Report", published: int | None) -> None:
    """The counts: JSON on stdout after publishing, else words on stderr. Exit code 1 where something was left out."""
    counts = {name: getattr(report, name) for name in ("rows", "duplicates", "without_links", "left_out")}
    if published is not None:
        put({"published": published, **counts})
    else:
        say(
            f"{report.requests} requests from {report.rows} rows; {report.duplicates} duplicates; "
            f"{report.without_links} rows without a link to ask for; {report.left_out} left out"
        )
    if report.left_out:
        raise typer.Exit(1)
