"""`sandcrawler source NAME requests`: requests for ingest from lists, dumps and live endpoints.

One JSON request a line on stdout, or with `--publish` straight into Kafka. Nothing is held whole: rows come in and
requests go out. What cannot become a request is named on stderr with its line number; the exit code is then 1.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandcrawler.cli.document import Type
from sandcrawler.cli.feed import Queue
from sandcrawler.cli.screen import say
from sandcrawler.cli.source_help import ABOUT
from sandcrawler.cli.source_output import conclude, emit, reporting
from sandcrawler.config import load
from sandcrawler.errors import ConfigurationError

if TYPE_CHECKING:
    from sandcrawler.sources.makers import Maker

NAMES = ("doaj", "crossref", "openalex", "pmc", "arxiv", "fatcat")  # those of sources.makers; a test compares them


def filled(option: typer.CallbackParam, given: str | None) -> str | None:
    """An option's text. ConfigurationError for a blank one."""
    if given is not None and not given.strip():
        raise ConfigurationError(f"{option.opts[0]}: it is blank: leave the option out, or give it a value")
    return given


Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE…|-", help="Files, also .gz, .zst, .bz2, .xz, .tar, or folders of them; - is stdin"),
]
Kinds = Annotated[list[Type] | None, typer.Option("--type", help="Only requests of this type; can be repeated")]
BY_HELP = "Who asks (ingest_request_source); fatcat imports what doaj, unpaywall or fatcat-ingest asked for"
By = Annotated[str | None, typer.Option("--request-source", help=BY_HELP, callback=filled)]
Publish = Annotated[bool, typer.Option("--publish", help="Send the requests to Kafka instead of printing them")]


def apps() -> dict[str, typer.Typer]:
    """A sub-application for each source, by its name."""
    made = {name: _file_app(name) for name in NAMES}
    for name, function in (("list", list_requests), ("oai", oai_requests)):
        made[name] = typer.Typer(help=function.__doc__, no_args_is_help=True)
        made[name].command("requests", help=ABOUT[name])(function)
    return made


def _file_app(name: str) -> typer.Typer:
    app = typer.Typer(help=f"Requests from {name}.", no_args_is_help=True)

    @app.command("requests", help=ABOUT[name])
    def requests(
        files: Files, kind: Kinds = None, by: By = None, publish: Publish = False, queue: Queue = "bulk"
    ) -> None:
        from sandcrawler.sources.makers import MAKERS, chosen  # noqa: PLC0415

        maker = chosen(MAKERS[name], [one.value for one in kind] if kind else None, by)
        make_all(lambda _: maker, files, queue if publish else None)

    return app


def list_requests(
    files: Files,
    kind: Kinds = None,
    by: By = None,
    column: Annotated[
        list[str] | None, typer.Option(help="FIELD=COLUMN: which column (name, or number from 1) holds a field")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="lines, csv, tsv or jsonl; else by how it begins")
    ] = None,
    link_source: Annotated[str, typer.Option(help="Where the links are from", callback=filled)] = "list",
    publish: Publish = False,
    queue: Queue = "bulk",
) -> None:
    """Requests from lists of links."""
    from sandcrawler.sources import plain  # noqa: PLC0415
    from sandcrawler.sources.forms import by_name  # noqa: PLC0415
    from sandcrawler.sources.makers import Maker  # noqa: PLC0415

    columns = {}
    for one in column or ():
        field, mark, name = one.partition("=")
        if not mark or not name:
            raise ConfigurationError(f"--column: {one!r} is not FIELD=COLUMN")
        columns[field.strip()] = name
    options = plain.Options(
        kinds=tuple(one.value for one in kind or (Type.html,)),
        link_source=link_source,
        by=by or link_source,
        columns=columns,
        format=form,
        notice=lru_cache(None)(say),  # a thousand parts of one dump have the same columns
    )

    def of(file: str) -> Maker:
        own = replace(options, format=form or by_name(file))
        return Maker(plain.NAME, plain.rows(own), lambda row: plain.drafts(row, own), "")

    make_all(of, files, queue if publish else None)


def oai_requests(
    endpoint: Annotated[str, typer.Argument(help="The base URL of the OAI-PMH endpoint")],
    prefix: Annotated[str, typer.Option(help="metadataPrefix: oai_dc, jats, arXivRaw, …")] = "oai_dc",
    since: Annotated[str | None, typer.Option("--from", help="Only records changed since then: 2024-01-31")] = None,
    until: Annotated[str | None, typer.Option(help="Only records changed until then")] = None,
    named_set: Annotated[str | None, typer.Option("--set", help="Only this set", callback=filled)] = None,
    state: Annotated[
        Path | None, typer.Option(help="Keep the place here: the same command goes on where it was interrupted")
    ] = None,
    kind: Kinds = None,
    by: By = None,
    publish: Publish = False,
    queue: Queue = "bulk",
) -> None:
    """Requests from live OAI-PMH endpoints."""
    from sandcrawler.sources import oai, oai_records, oai_state  # noqa: PLC0415
    from sandcrawler.sources.http import STRANGER, Client  # noqa: PLC0415
    from sandcrawler.sources.makers import Maker, chosen  # noqa: PLC0415
    from sandcrawler.sources.requests import make  # noqa: PLC0415
    from sandcrawler.sources.seen import Seen  # noqa: PLC0415

    query = oai_state.Query(endpoint, prefix, since, until, named_set)
    client = Client(load().fetch_user_agent, retries=oai.RETRIES, stranger=STRANGER)
    maker = Maker(oai_records.NAME, lambda _: iter(()), oai_records.drafts, "")
    maker = chosen(maker, [one.value for one in kind] if kind else None, by)
    seen, report, count = Seen(), reporting(endpoint), 0
    with oai_state.held(state) if state else nullcontext():
        harvest = oai.Harvest(client, oai_state.load(state, query) if state else oai_state.State(query))
        for page in harvest.pages():
            rows = ((record.identifier or "?", record) for record in page.records)
            count += emit(make(rows, maker.draft, seen, report), queue if publish else None, before=count)
            if page.broken:
                report.leave_out(f"page {harvest.state.pages + (page.token is None)}", page.broken)
            if state:
                oai_state.save(state, harvest.state)
    conclude(report, count if publish else None)


def make_all(maker_of: "Callable[[str], Maker]", files: list[str], queue: str | None) -> None:
    """All requests of all files, and of those in folders, to stdout or to a queue."""
    from sandcrawler.sources.makers import requests as requests_of  # noqa: PLC0415
    from sandcrawler.sources.parts import parts  # noqa: PLC0415
    from sandcrawler.sources.seen import Seen  # noqa: PLC0415
    from sandcrawler.sources.streams import check, is_live, opened  # noqa: PLC0415

    folders = {file for file in files if file != "-" and Path(file).is_dir()}
    for file in files:
        if file not in folders:
            check(file)
    seen, report, passed_over = Seen(), reporting(""), list[str]()

    def of_file(file: str) -> Iterator[dict[str, Any]]:
        report.place = file
        with opened(file) as stream:
            yield from requests_of(maker_of(file), stream, report, seen)

    def every() -> Iterator[dict[str, Any]]:
        for file in files:
            if file not in folders:
                yield from of_file(file)
                continue
            for part in parts(file, passed_over.append):
                try:
                    yield from of_file(part)
                except ConfigurationError as error:  # one that is no dump costs itself, not the thousand behind it
                    report.leave_out(0, str(error))

    count = emit(every(), queue, live=any(map(is_live, files)))
    if passed_over:
        say(f"{len(passed_over)} files in the folders hold no records by their names, such as {passed_over[0]}")
    conclude(report, count if queue else None)
