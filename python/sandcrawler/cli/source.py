"""`sandcrawler source NAME …`: harvest records, look them up, make requests. A sub-application for each source."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sandcrawler.cli.ending import end_as_by_ctrl_c
from sandcrawler.cli.feed import Queue
from sandcrawler.cli.screen import console, fail, put, say

app = typer.Typer(help="Sources of records and requests.", no_args_is_help=True)
w3c = typer.Typer(help="Publications of the W3C.", no_args_is_help=True)
app.add_typer(w3c, name="w3c")


@app.callback()
def begin() -> None:
    """Sources of records and requests."""
    end_as_by_ctrl_c()


class Shown(StrEnum):
    """How a record is printed."""

    json = "json"
    yaml = "yaml"
    xml = "xml"


@w3c.command("get")
def w3c_get(
    reference: Annotated[str, typer.Argument(help='Such as "W3C REC-json-ld11-20200716" or a URL below w3.org/TR/')],
    index: Annotated[
        str | None,
        typer.Option(help="Look in this index: a file or URL with rows as JSON lines or index-v2 YAML, or a manifest"),
    ] = None,
    data: Annotated[str | None, typer.Option(help="Folder or base URL of the records (and of their index)")] = None,
    id_only: Annotated[bool, typer.Option("--id-only", help="Print the identifier that was found, no record")] = False,
    form: Annotated[Shown, typer.Option("--format", help="How the record is printed")] = Shown.json,
) -> None:
    """Find one publication and print its record. Exit code 1 for a miss, 3 where the data cannot be reached."""
    from sandcrawler.sources.base import BadReference  # noqa: PLC0415
    from sandcrawler.sources.w3c import bibliography as looking  # noqa: PLC0415
    from sandcrawler.sources.w3c.record import to_xml, to_yaml  # noqa: PLC0415

    among = looking.dataset(data, index)
    try:
        found = looking.search(reference, among, index)
    except BadReference as error:
        say(f"not found: {error}")
        raise typer.Exit(1) from error
    if found and id_only:
        typer.echo(str(found.pubid))
        return
    record = looking.record(found, among) if found else None
    if record is None:
        say(f"{found.pubid} is indexed, but its record is not there: {found.file}" if found else "not found")
        raise typer.Exit(1)
    forms = {Shown.json: lambda each: json.dumps(each, ensure_ascii=False), Shown.yaml: to_yaml, Shown.xml: to_xml}
    typer.echo(forms[form](record).rstrip("\n"))


class Kept(StrEnum):
    """How records are kept."""

    yaml = "yaml"
    xml = "xml"
    bibxml = "bibxml"


@w3c.command("fetch")
def w3c_fetch(
    output: Annotated[Path, typer.Option(help="Folder of the records, of index-v2.yaml and errors.json")],
    form: Annotated[Kept, typer.Option("--format", help="xml: bibdata; bibxml: bibitem")] = Kept.yaml,
    prune: Annotated[bool, typer.Option("--prune", help="Delete records that this harvest did not meet")] = False,
    ledger: Annotated[bool, typer.Option("--ledger", help="Pass over what has not changed since the last")] = False,
    api: Annotated[str | None, typer.Option(help="Another server than api.w3.org (W3C_API_URL)")] = None,
    gap: Annotated[float | None, typer.Option(help="Seconds between requests; 0.1 for api.w3.org")] = None,
) -> None:
    """Harvest all publications of the W3C. Prints counts as JSON.

    Exit code 1 where the report has messages or the data set would be truncated, 3 where the API cannot be reached.
    """
    from sandcrawler.sources.base import CrawlIncomplete  # noqa: PLC0415
    from sandcrawler.sources.w3c.harvest import fetch  # noqa: PLC0415
    from sandcrawler.sources.w3c.settings import settings  # noqa: PLC0415

    chosen = settings(api=api, gap=gap)
    columns = (TextColumn("specifications"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("specifications", total=None)
            harvest = fetch(
                output,
                form.value,
                prune=prune,
                ledger=ledger,
                chosen=chosen,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
    except CrawlIncomplete as error:
        fail(str(error), 1)
    put({**harvest.counts, "pruned": len(harvest.pruned), "messages": list(harvest.messages)})
    if harvest.interrupted:
        fail("interrupted; what was harvested is saved", 130)
    if harvest.messages:
        raise typer.Exit(1)


@w3c.command("requests")
def w3c_requests(
    folder: Annotated[Path, typer.Argument(help="Folder of harvested records", exists=True, file_okay=False)],
    to_kafka: Annotated[bool, typer.Option("--publish", help="Send them to Kafka instead of printing them")] = False,
    queue: Queue = "bulk",
) -> None:
    """Make a request for the page of every version of harvested records: one JSON object a line.

    \b
    Example:
      sandcrawler source w3c fetch --output w3c && sandcrawler source w3c requests w3c
    """
    from sandcrawler.cli.source_output import conclude, emit, reporting  # noqa: PLC0415
    from sandcrawler.sources.w3c.maker import requests  # noqa: PLC0415

    report = reporting(str(folder))
    count = emit(requests(folder, report), queue if to_kafka else None)
    conclude(report, count if to_kafka else None)
