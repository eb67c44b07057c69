"""Commands that put requests into Kafka."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sandcrawler import wire
from sandcrawler.cli.document import Type, TypeOption
from sandcrawler.cli.screen import console, put, say
from sandcrawler.config import Config, load
from sandcrawler.errors import ConfigurationError, InvalidMessage
from sandcrawler.names import REQUEST_TOPICS, request_key

BATCH = 1000


def known_queue(queue: str) -> str:
    """The name of a request topic. ConfigurationError where it is none, also where nothing is published."""
    if queue not in REQUEST_TOPICS:
        raise ConfigurationError(f"--queue: {queue!r} is not one of {', '.join(REQUEST_TOPICS)}")
    return queue


Force = Annotated[
    bool, typer.Option("--force", "--force-recrawl", help="Fetch it whole and publish its body, whatever is known")
]
Queue = Annotated[str, typer.Option(help=f"Which request topic: {', '.join(REQUEST_TOPICS)}", callback=known_queue)]


def request(
    url: Annotated[str, typer.Argument(help="The link to ingest")],
    kind: TypeOption = Type.html,
    queue: Queue = "daily",
    link_source: Annotated[str | None, typer.Option(help="Where the link is from, such as doaj")] = None,
    link_source_id: Annotated[str | None, typer.Option(help="Its identifier there")] = None,
    request_source: Annotated[str | None, typer.Option(help="Who asks")] = None,
    force: Force = False,
) -> None:
    """Publish one request."""
    if not url.lower().startswith(("http://", "https://")):
        raise ConfigurationError(f"URL: {url!r} is no http or https link")
    fields = {
        "ingest_type": kind.value,
        "base_url": url,
        "link_source": link_source,
        "link_source_id": link_source_id,
        "ingest_request_source": request_source,
        "force_recrawl": force or None,
    }
    value = {name: item for name, item in fields.items() if item is not None}
    publish([value], queue, load())
    put(value)


def requests(
    file: Annotated[str, typer.Argument(help="A file of JSON lines, one request a line, or - for standard input")],
    queue: Queue = "daily",
    force: Force = False,
) -> None:
    """Publish many requests: JSON lines with ingest_type and base_url.

    Lines that are no request are named with their number and left out; the exit code is then 1.
    """
    config, bad = load(), 0
    if file != "-" and (not Path(file).exists() or Path(file).is_dir()):
        raise ConfigurationError(f"there is no file {file}")

    def good(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        nonlocal bad
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                _, verbatim = wire.decode_request(line)
                yield {**verbatim, "force_recrawl": True} if force else verbatim
            except InvalidMessage as error:
                bad += 1
                say(f"{file}:{number}: {error}")

    with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as source:
        count = publish(good(source), queue, config)
    put({"published": count, "left_out": bad})
    if bad:
        raise typer.Exit(1)


def publish(values: Iterable[dict[str, Any]], queue: str, config: Config) -> int:
    """Publish requests in batches, with a progress bar; returns how many the broker has acknowledged."""
    from sandcrawler.kafka import open_producer  # noqa: PLC0415
    from sandcrawler.runtime import Message  # noqa: PLC0415

    topic, producer, count = REQUEST_TOPICS[known_queue(queue)].named(config.env), open_producer(config), 0
    columns = (TextColumn("publishing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("publishing", total=None)
        batch: list[Message] = []
        for value in values:
            batch.append(Message(topic, request_key(value["base_url"]), wire.encode(value)))
            if len(batch) == BATCH:
                producer.publish(batch)
                count += len(batch)
                progress.update(task, completed=count)
                batch = []
        producer.publish(batch)
        count += len(batch)
    producer.close()
    return count
