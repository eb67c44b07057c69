"""Commands that look: what is known of a document, the statuses, the topics, the settings."""

from pathlib import Path
from typing import Annotated

import typer

from sandcrawler.cli.screen import masked, put, say
from sandcrawler.config import PREFIX, Config, load


def show(
    what: Annotated[
        str, typer.Argument(metavar="URL|SHA1|SURT", help="A link, a SHA-1 in hex, a SURT, or an object's key")
    ],
    body_out: Annotated[
        Path | None, typer.Option("--body-out", help="Write the TEI, XML or text here, out of the bucket")
    ] = None,
    warc_out: Annotated[Path | None, typer.Option("--warc-out", help="Write the WARC here, out of the bucket")] = None,
) -> None:
    """Print what the tables and the bucket hold of a document, one JSON object a row.

    Of several objects the options take the first; an object's key in place of URL|SHA1|SURT names another.
    Exit code 1: nothing is known, or there is nothing to write.
    """
    from sandcrawler.show import is_body, is_warc, keep  # noqa: PLC0415
    from sandcrawler.show import show as find  # noqa: PLC0415

    config, found, keys = load(), 0, list[str]()
    for row in find(config, what):
        put(row)
        found += 1
        keys += [row["object"]] if "object" in row else []
    if not found:
        say(f"nothing is known of {what}")
        raise typer.Exit(1)
    wanted = [(path, next(filter(of, keys), None)) for path, of in ((body_out, is_body), (warc_out, is_warc)) if path]
    for path, key in wanted:
        if key is None:
            say(f"the bucket has nothing for {path}")
        else:
            keep(config, key, path)
    if not all(key for _, key in wanted):
        raise typer.Exit(1)


def sql(query: Annotated[str, typer.Argument(help="One SQL statement; it cannot change anything")]) -> None:
    """Ask the database, and print one JSON object a row. `sql/queries.md` has questions worth asking."""
    from sandcrawler.show import rows  # noqa: PLC0415

    for row in rows(load(), query):
        put(row)


def statuses() -> None:
    """Every status with its meaning, and whether asking again may help."""
    from sandcrawler.status import Status  # noqa: PLC0415

    for status in Status:
        put({"status": status.value, "meaning": status.meaning, "retry": status.retry})


def topics() -> None:
    """Every topic of this environment, with its settings."""
    from sandcrawler.topics import specs  # noqa: PLC0415

    config = load()
    for spec in specs():
        partitions = spec.partitions or config.kafka_partitions
        put({"topic": spec.topic.named(config.env), "partitions": partitions, **spec.settings})


def settings() -> None:
    """Every setting: its variable, its value now (passwords hidden), and what it means."""
    values = load().model_dump(mode="json")
    for name, field in Config.model_fields.items():
        value = values[name]
        shown = masked(value) if isinstance(value, str) else value
        put({"variable": f"{PREFIX}{name.upper()}", "value": shown, "meaning": field.description})
