"""Commands that look: what is known of a document, the statuses, the topics, the settings."""

from typing import Annotated

import typer

from sandcrawler.cli.screen import masked, put, say
from sandcrawler.config import PREFIX, Config, load


def show(
    what: Annotated[str, typer.Argument(metavar="URL|SHA1|SURT", help="A link, a SHA-1 in hex, or a SURT")],
) -> None:
    """Print what the tables and the bucket hold of a document, one JSON object a row. Exit code 1: nothing."""
    from sandcrawler.show import show as find  # noqa: PLC0415

    found = 0
    for row in find(load(), what):
        put(row)
        found += 1
    if not found:
        say(f"nothing is known of {what}")
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
