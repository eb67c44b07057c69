"""`sandcrawler fetch`: one URL as the crawler sees it, and with -v every step on the way, like `curl -v`."""

import asyncio
import sys
import time
from datetime import datetime
from hashlib import sha1
from pathlib import Path
from typing import Annotated, Any

import typer

from sandcrawler import wire
from sandcrawler.cli.screen import put
from sandcrawler.config import load
from sandcrawler.errors import ConfigurationError
from sandcrawler.model import Capture


def fetch(
    url: Annotated[str, typer.Argument(help="The URL to ask for")],
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Say on stderr what is asked, answered, decided, and how long it took"),
    ] = False,
    body_out: Annotated[Path | None, typer.Option("--body-out", help="Write the body here, if one came")] = None,
    etag: Annotated[
        str | None, typer.Option(help="Ask on condition: only if this is its ETag no more (quotes belong to it)")
    ] = None,
    last_modified: Annotated[
        str | None, typer.Option(help="Ask on condition: only if it has changed since this HTTP date")
    ] = None,
) -> None:
    """Ask for one URL, follow its redirects, print the capture as JSON: hops, status, headers, size.

    From the live web, whatever SANDCRAWLER_FETCH_BACKEND says: `ingest --backend` asks others. Nothing is read from the
    body, and nothing in it is followed. Lines of -v: `*` what was decided or measured,
    `>` what was sent, `<` what came.

    The exit code is 0 when a capture was printed, whatever its status: read that (`sandcrawler statuses`).

    Example: sandcrawler fetch https://doi.org/10.1045/july2017-williams -v
    """
    if not url.strip():
        raise ConfigurationError("URL: it is empty; give the link to fetch")
    condition = conditioned(wire.clean_text(url), etag, last_modified)
    capture = asyncio.run(_captured(wire.clean_text(url), condition, tell if verbose else None))
    if body_out:
        body_out.unlink(missing_ok=True)
        if capture.body is not None:
            body_out.write_bytes(capture.body)
    put(wire.clean(described(capture)))


def conditioned(url: str, etag: str | None, last_modified: str | None) -> Any:
    """The condition of this URL, or None. ConfigurationError: a validator that would never be sent."""
    from sandcrawler.fetch.condition import ETAG, HTTP_DATE, Condition  # noqa: PLC0415
    from sandcrawler.fetch.target import shown  # noqa: PLC0415

    if etag is not None and not ETAG.fullmatch(etag):
        raise ConfigurationError(f"--etag: {etag!r} is no entity tag; it is written with its quotes: '\"abc\"'")
    if last_modified is not None and not HTTP_DATE.fullmatch(last_modified):
        raise ConfigurationError(f"--last-modified: {last_modified!r} is not like 'Tue, 01 Oct 2024 10:00:00 GMT'")
    return Condition(shown(url), etag, last_modified) if etag or last_modified else None


async def _captured(url: str, condition: Any, watch: Any) -> Capture:
    from sandcrawler.fetch.condition import get  # noqa: PLC0415
    from sandcrawler.fetch.live import Fetcher  # noqa: PLC0415

    config, start = load(), time.monotonic()
    async with Fetcher(config, watch=watch) as fetcher, fetcher.session() as session:
        capture = await get(session, condition, url, start + config.ingest_seconds)
    if watch:
        watch("*", f"{capture.status}, {len(capture.body or b'')} bytes, {time.monotonic() - start:.3f} s in all")
    return capture


def tell(mark: str, line: str) -> None:
    """A line of -v, on stderr as it is: headers are strangers' text, so control codes are not passed on."""
    sys.stderr.write(f"{mark} {''.join(c if c.isprintable() else '?' for c in line)}\n")


def described(capture: Capture) -> dict[str, Any]:
    """A capture as JSON: its body by size and SHA-1; what is absent is left out."""
    body = capture.body
    named = {
        "url": capture.url,
        "status": capture.status.value,
        "error_message": capture.error_message,
        "retry_at": _moment(capture.retry_at),
        "hops": list(capture.hops),
        "when": _moment(capture.when),
        "terminal_url": capture.terminal_url,
        "status_code": capture.status_code,
        "headers": [list(pair) for pair in capture.headers] or None,
        "size_bytes": None if body is None else len(body),
        "sha1hex": None if body is None else sha1(body, usedforsecurity=False).hexdigest(),
    }
    return {name: value for name, value in named.items() if value is not None}


def _moment(when: datetime | None) -> str | None:
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if when else None
