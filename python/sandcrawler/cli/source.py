"""`sandcrawler source NAME …`: harvest records, look them up, make requests. A sub-application for each source."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sandcrawler.cli.screen import say

app = typer.Typer(help="Sources of records and requests.", no_args_is_help=True)
w3c = typer.Typer(help="Publications of the W3C.", no_args_is_help=True)
app.add_typer(w3c, name="w3c")


class Shown(StrEnum):
    """How a record is printed."""

    json = "json"
    yaml = "yaml"
    xml = "xml"


@w3c.command("get")
def w3c_get(
    reference: Annotated[str, typer.Argument(help='Such as "W3C REC-json-ld11-20200716" or a URL below w3.org/TR/')],
    index: Annotated[
        Path | None, typer.Option(help="Look in this index: rows as JSON lines, or an index-v2 YAML")
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
        say(f"not found: {found.pubid if found else reference}")
        raise typer.Exit(1)
    forms = {Shown.json: lambda each: json.dumps(each, ensure_ascii=False), Shown.yaml: to_yaml, Shown.xml: to_xml}
    typer.echo(forms[form](record).rstrip("\n"))
