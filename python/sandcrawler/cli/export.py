"""`sandcrawler export …`: what is persisted, for fatcat and for analysts."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic_core import to_json

from sandcrawler.cli.document import Type
from sandcrawler.cli.ending import end_as_by_ctrl_c
from sandcrawler.cli.screen import put, say
from sandcrawler.config import load
from sandcrawler.errors import ConfigurationError
from sandcrawler.status import Status

if TYPE_CHECKING:
    from sandcrawler.export.selection import Selection

app = typer.Typer(help="What is persisted, for fatcat and for analysts.", no_args_is_help=True)

Statuses = Annotated[
    list[str] | None, typer.Option("--status", help="Only what results with this status say; can be repeated")
]
Kinds = Annotated[list[Type] | None, typer.Option("--type", help="Only what results of this type say; can be repeated")]
Since = Annotated[str | None, typer.Option(help="Only results made since then: 2024-01-31 or 2024-01-31T12:00:00Z")]
Until = Annotated[str | None, typer.Option(help="Only results made before then")]
Tables = Annotated[list[str] | None, typer.Option("--table", help="Only this table; can be repeated")]
Folder = Annotated[Path, typer.Argument(help="Folder of the files, one for each table")]


@app.callback()
def begin() -> None:
    """What is persisted, for fatcat and for analysts."""
    end_as_by_ctrl_c()


@app.command()
def fatcat(
    status: Statuses = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    archive: Annotated[
        str, typer.Option(help="The web archive that holds the captures; archive_urls lead there")
    ] = "https://web.archive.org/web",
) -> None:
    """Print fatcat's entities as JSON lines: webcaptures for HTML, files for XML and PDF. Only hits, by default."""
    from sandcrawler.export.fatcat import entities  # noqa: PLC0415

    if not archive.lower().startswith(("http://", "https://")):
        raise ConfigurationError(f"--archive: {archive!r} is no http or https address")
    selection, count = _selection(status or [Status.SUCCESS.value], kind, since, until), 0
    out = sys.stdout.buffer
    for entity in entities(load(), selection, archive):
        out.write(to_json(entity) + b"\n")
        count += 1
    out.flush()
    say(f"{count} entities; their archive_urls lead to {archive} (--archive names the one that holds the captures)")


def _tables(form: str) -> Callable[..., None]:
    """The command that writes tables in one form."""

    def write(
        folder: Folder,
        table: Tables = None,
        status: Statuses = None,
        kind: Kinds = None,
        since: Since = None,
        until: Until = None,
    ) -> None:
        from sandcrawler.export.tables import export  # noqa: PLC0415

        selection = _selection(status, kind, since, until)
        for path, count in export(load(), folder, form, selection, table or ()).items():
            put({"file": str(path), "rows": count})

    return write


for name, about in (
    (
        "csv",
        "Write tables as CSV files with a header, all of one moment. JSON is text. Cells may begin with = (a formula).",
    ),
    ("parquet", "Write tables as Parquet files with typed columns, all of one moment. Needs the extra `export`."),
):
    app.command(name, help=about)(_tables(name))


def _selection(status: list[str] | None, kind: list[Type] | None, since: str | None, until: str | None) -> "Selection":
    from sandcrawler.export.selection import Selection, moment  # noqa: PLC0415

    known = {word.value for word in Status}
    for word in status or ():
        if word not in known:
            raise ConfigurationError(f"--status: there is no status {word!r}; `sandcrawler statuses` lists them")
    kinds = tuple(one.value for one in kind or ())
    return Selection(tuple(status or ()), kinds, moment(since, "--since"), moment(until, "--until"))
