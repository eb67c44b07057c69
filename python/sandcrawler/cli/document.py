"""Commands for one document, without a broker: `ingest` fetches it, `extract` reads a file."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from sandcrawler import wire
from sandcrawler.cli.screen import console, printable, put, say
from sandcrawler.config import Config, load
from sandcrawler.errors import ConfigurationError


class Type(StrEnum):
    """The kinds of document, for the command line."""

    html = "html"
    xml = "xml"
    pdf = "pdf"


TypeOption = Annotated[Type, typer.Option("--type", help="What the document should be")]
BODY_SUFFIX = {Type.html: ".tei.xml", Type.xml: ".xml", Type.pdf: ".txt"}
BodyOut = Annotated[
    Path | None, typer.Option("--body-out", help="Write the TEI, XML or text here, if there is one to publish")
]


def ingest(
    url: Annotated[str, typer.Argument(help="The link to follow")],
    kind: TypeOption = Type.html,
    body_out: BodyOut = None,
    out: Annotated[Path | None, typer.Option(help="Keep everything in this folder: result, body and WARC")] = None,
    warc: Annotated[Path | None, typer.Option(help="Keep the WARC in this folder")] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            help="Where answers come from: live, wayback[:YYYYMMDDhhmmss], spn, live-then-wayback, "
            "wayback-then-live, warc:PATH|URL"
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Fetch it whole, whatever is known (SANDCRAWLER_INGEST_KNOWN=always)")
    ] = False,
) -> None:
    """Fetch one URL, read it, print the result as JSON. No broker, database or bucket is needed.

    The exit code is 0 when a result was printed, whatever its status: read that.

    Example: sandcrawler ingest https://www.dlib.org/dlib/july17/williams/07williams.html --type html
    """
    from sandcrawler.ingest.outcome import Outcome  # noqa: PLC0415
    from sandcrawler.model import IngestRequest  # noqa: PLC0415

    if not url.strip():
        raise ConfigurationError("URL: it is empty; give the link to fetch")
    writable(body_out, out and out / "result.json")
    request = IngestRequest(ingest_type=kind.value, base_url=wire.clean_text(url), force_recrawl=force or None)
    folder = warc or (out / "warc" if out else None)
    given = {"warc": str(folder) if folder else None, "fetch_backend": backend}
    config = load(**{name: value for name, value in given.items() if value is not None})
    with waiting() as tell:
        outcome: Outcome = asyncio.run(_answer(request, config, tell))
    keep(outcome.document, body_out)
    result = wire.jsonable(outcome.result)
    if out:
        (out / "result.json").write_bytes(wire.encode(outcome.result) + b"\n")
        keep(outcome.document, out / f"body{BODY_SUFFIX[kind]}")
        say(f"kept in {out}")
    put(wire.clean(result))


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is being waited for; elsewhere nothing."""
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("starting") as status:
        yield lambda text: status.update(escape(printable(text)[:150]))


async def _answer(request, config: Config, tell: Callable[[str], None]):  # type: ignore[no-untyped-def]
    from sandcrawler.fetch.backends import Backends  # noqa: PLC0415
    from sandcrawler.ingest.archive import Archive  # noqa: PLC0415
    from sandcrawler.ingest.flow import Flow  # noqa: PLC0415
    from sandcrawler.ingest.known import known  # noqa: PLC0415
    from sandcrawler.ingest.sandbox import Sandbox  # noqa: PLC0415
    from sandcrawler.persist.known import open_past  # noqa: PLC0415
    from sandcrawler.persist.warcs import open_store  # noqa: PLC0415

    verbatim = request.model_dump(mode="json", exclude_none=True)
    async with open_past(config, "command") as past:
        last = await known(past, request, time.time())
    async with Backends(config) as backends, backends.fetcher() as fetcher, Sandbox(config) as sandbox:
        flow = Flow(fetcher, sandbox.extract, config, Archive(open_store(config)), tell)
        return await flow.ingest(request, verbatim, last)


def extract(
    file: Annotated[Path, typer.Argument(help="A saved document")],
    url: Annotated[str, typer.Option(help="The URL that the document came from")],
    kind: TypeOption = Type.html,
    content_type: Annotated[
        str | None, typer.Option("--content-type", help="The Content-Type header that it came with")
    ] = None,
    body_out: BodyOut = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say on stderr which source gave each field")] = False,
) -> None:
    """Say what would be said of a file's bytes, without any network. Prints the result as JSON.

    html_resources lists every wanted sub-resource, whatever the scope; no link is followed.
    """
    from sandcrawler.ingest.describe import describe_bytes  # noqa: PLC0415

    config = load()
    writable(body_out)
    with file.open("rb") as opened:
        body = opened.read(config.fetch_body_bytes + 1)  # one more: what is longer than the limit shows it
    outcome, sources = describe_bytes(kind.value, body, wire.clean_text(url), content_type, config)
    keep(outcome.document, body_out)
    if explain:
        for field, source in sources.items():
            say(f"{field}: {source}")
    put(wire.clean(wire.jsonable(outcome.result)))


def writable(*paths: Path | None) -> None:
    """Make the folders that these files go to; said before the work, not after it."""
    for path in paths:
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("ab"):
                    pass
            except OSError as error:
                raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
            if not path.stat().st_size:
                path.unlink()


def keep(document: bytes | None, path: Path | None) -> None:
    """Write a body where one would be published; the file exists exactly then."""
    if path is None:
        return
    if document is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(document)
