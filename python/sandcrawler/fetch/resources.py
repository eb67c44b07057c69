"""The sub-resources of a page, fetched in parallel; one that fails is listed with its reason and fails nothing else.

Bodies are hashed and dropped. A URL that the page asks for twice is fetched once. The URL in the result is the one
that the page asked for, whatever it redirects to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sandcrawler.extract.sniff import file_meta
from sandcrawler.fetch.base import Session
from sandcrawler.fetch.surt import surt
from sandcrawler.model import Capture, FileMeta, MissingResource, Page, WantedResource, WebResource
from sandcrawler.status import Status

# Hashing this much takes longer than a switch to a thread.
LARGE_BODY = 1 << 18
# Longer style sheets are kept, but not searched for what they ask for.
SHEET_BYTES = 2 << 20

# A style sheet in, what it asks for out.
Linked = Callable[[Page], Awaitable[Sequence[WantedResource]]]


async def nothing(_sheet: Page) -> Sequence[WantedResource]:
    """Style sheets are not searched."""
    return ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many resources of one page are fetched at a time, and in all."""

    parallel: int
    most: int = 200


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A capture without its body; `meta` where it succeeded, `sheet` where it is a style sheet."""

    capture: Capture
    meta: FileMeta | None = None
    sheet: Page | None = None


async def capture_resources(
    session: Session,
    wanted: Sequence[WantedResource],
    deadline: float | None,
    bounds: Bounds,
    linked: Linked = nothing,
) -> tuple[tuple[WebResource, ...], tuple[MissingResource, ...]]:
    """What the page wants, as captured and as missing, both in the page's order.

    `linked` says what a captured style sheet asks for. That is fetched too, but no further (one level), within the
    bounds; what is beyond them is listed as missing.
    """
    tasks = await _capture(session, wanted, deadline, bounds.parallel)
    named = dict.fromkeys(each.url for each in wanted if each.resource_type == "stylesheet")
    sheets = [sheet for url in named if (sheet := tasks[url].sheet) is not None]
    more = [each for found in await asyncio.gather(*map(linked, sheets)) for each in found if each.url not in tasks]
    new = list({each.url: each for each in more}.values())
    room = max(0, bounds.most - len(wanted))
    kept, left = new[:room], new[room:]
    tasks |= await _capture(session, kept, deadline, bounds.parallel)
    found: list[WebResource] = []
    missing: list[MissingResource] = []
    for each in [*wanted, *kept]:
        outcome = tasks[each.url]
        if outcome.meta is not None:
            found.append(_resource(each, outcome.capture, outcome.meta))
        else:
            missing.append(_missing(each, outcome.capture))
    missing += [MissingResource(**dict(each), status=Status.TOO_MANY_RESOURCES) for each in left]
    return tuple(found), tuple(missing)


async def _capture(
    session: Session, wanted: Sequence[WantedResource], deadline: float | None, parallel: int
) -> dict[str, _Outcome]:
    """Each URL's outcome; one that is named twice is asked for once."""
    urls = dict.fromkeys(each.url for each in wanted)
    hosts = {_host(url) for url in urls}
    slots = asyncio.Semaphore(parallel)
    # A host gets its share of the places, so that waiting for a slow one does not hold up the others.
    shares = {host: asyncio.Semaphore(max(1, parallel // len(hosts))) for host in hosts}

    async def fetch(url: str) -> _Outcome:
        async with shares[_host(url)], slots:
            return await _outcome(session, url, deadline)

    async with asyncio.TaskGroup() as group:
        tasks = {url: group.create_task(fetch(url)) for url in urls}
    return {url: task.result() for url, task in tasks.items()}


def _host(url: str) -> str:
    return url.split("/", 3)[2].lower() if url.count("/") > 1 else ""


async def _outcome(session: Session, url: str, deadline: float | None) -> _Outcome:
    """The capture without its body, and what was in it; no meta where it is no success."""
    capture = await session.get(url, deadline)
    if capture.status is not Status.SUCCESS or capture.body is None:
        return _Outcome(_bare(capture))
    body, content_type = capture.body, capture.header("content-type")
    large = len(body) >= LARGE_BODY
    meta = await asyncio.to_thread(file_meta, body, content_type, url) if large else file_meta(body, content_type, url)
    is_sheet = (content_type or "").lower().startswith("text/css") and len(body) <= SHEET_BYTES
    return _Outcome(_bare(capture), meta, Page(body, capture.terminal_url, content_type) if is_sheet else None)


def _bare(capture: Capture) -> Capture:
    return Capture(
        capture.url,
        capture.status,
        capture.hops,
        capture.when,
        capture.terminal_url,
        capture.status_code,
        error_message=capture.error_message,
        retry_at=capture.retry_at,
    )


def _resource(wanted: WantedResource, capture: Capture, meta: FileMeta) -> WebResource:
    return WebResource(
        surt=surt(wanted.url),
        timestamp=capture.when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        url=wanted.url,
        sha1hex=meta.sha1hex,
        sha256hex=meta.sha256hex,
        size=meta.size_bytes,
        mimetype=meta.mimetype,
        status_code=capture.status_code or 200,
        resource_type=wanted.resource_type,
    )


def _missing(wanted: WantedResource, capture: Capture) -> MissingResource:
    return MissingResource(
        url=wanted.url,
        resource_type=wanted.resource_type,
        status=capture.status,
        status_code=capture.status_code,
        error_message=capture.error_message,
    )
