"""The sub-resources of a page, fetched in parallel; one that fails is listed with its reason and fails nothing else.

Bodies are hashed as they come, and only the beginning of each is held for a moment. A URL that the page asks for twice
is fetched once. The URL in the result is the one that the page asked for, whatever it redirects to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from sandcrawler.extract.sniff import sniff
from sandcrawler.fetch.allowance import waited
from sandcrawler.fetch.base import Session
from sandcrawler.fetch.digest import Digest
from sandcrawler.fetch.surt import surt
from sandcrawler.model import Capture, MissingResource, Page, WantedResource, WebResource
from sandcrawler.status import Status

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
    """A capture without its body; `digest` and `mimetype` where it succeeded, `asked` by a style sheet."""

    capture: Capture
    digest: Digest | None = None
    mimetype: str = ""
    asked: Sequence[WantedResource] = ()


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
    fetch = _Fetch(session, deadline, waited())
    sheets = dict.fromkeys(each.url for each in wanted if each.resource_type == "stylesheet")
    tasks = await _capture(fetch, wanted, bounds.parallel, dict.fromkeys(sheets, linked))
    more = [each for url in sheets for each in tasks[url].asked if each.url not in tasks]
    new = list({each.url: each for each in more}.values())
    room = max(0, bounds.most - len(wanted))
    kept, left = new[:room], new[room:]
    tasks |= await _capture(fetch, kept, bounds.parallel, {})
    found: list[WebResource] = []
    missing: list[MissingResource] = []
    for each in [*wanted, *kept]:
        outcome = tasks[each.url]
        if outcome.digest is not None:
            found.append(_resource(each, outcome, outcome.digest))
        else:
            missing.append(_missing(each, outcome.capture))
    missing += [MissingResource(**dict(each), status=Status.TOO_MANY_RESOURCES) for each in left]
    return tuple(found), tuple(missing)


async def _capture(
    fetch: "_Fetch", wanted: Sequence[WantedResource], parallel: int, search: Mapping[str, Linked]
) -> dict[str, _Outcome]:
    """Each URL's outcome; one that is named twice is asked for once. `search`: how some of them are searched."""
    urls = dict.fromkeys(each.url for each in wanted)
    hosts = {_host(url) for url in urls}
    slots = asyncio.Semaphore(parallel)
    # A host gets its share of the places, so that waiting for a slow one does not hold up the others.
    shares = {host: asyncio.Semaphore(max(1, parallel // len(hosts))) for host in hosts}

    async def one(url: str) -> _Outcome:
        async with shares[_host(url)], slots:
            return await fetch.outcome(url, search.get(url, nothing))

    try:
        async with asyncio.TaskGroup() as group:
            tasks = {url: group.create_task(one(url)) for url in urls}
    except ExceptionGroup as faults:  # ours or the world's: the first is told as it is
        raise faults.exceptions[0] from faults
    return {url: task.result() for url, task in tasks.items()}


def _host(url: str) -> str:
    return url.split("/", 3)[2].lower() if url.count("/") > 1 else ""


@dataclass(frozen=True, slots=True)
class _Fetch:
    """`deadline` was agreed on when the document had waited for so long; it is put off by what it waits more."""

    session: Session
    deadline: float | None
    waited: float

    async def outcome(self, url: str, search: Linked) -> _Outcome:
        """The capture without its body, and what was in it; no digest where it is no success."""
        later = None if self.deadline is None else self.deadline + waited() - self.waited
        capture, taken = await self.session.digest(url, later)
        if taken is None or capture.status is not Status.SUCCESS or capture.body is None:
            return _Outcome(_bare(capture))
        content_type, sheet = capture.header("content-type"), taken.sheet
        taken.forget()
        asked = await search(Page(sheet, capture.terminal_url, content_type)) if sheet is not None else ()
        return _Outcome(_bare(capture), taken, sniff(capture.body, content_type, url), asked)


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


def _resource(wanted: WantedResource, outcome: _Outcome, taken: Digest) -> WebResource:
    capture = outcome.capture
    return WebResource(
        surt=surt(wanted.url),
        timestamp=capture.when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        url=wanted.url,
        sha1hex=taken.sha1hex,
        sha256hex=taken.sha256hex,
        size=taken.size,
        mimetype=outcome.mimetype,
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
