"""The sub-resources of a page, fetched in parallel; one that fails is listed with its reason and fails nothing else.

Bodies are hashed and dropped. A URL that the page asks for twice is fetched once. The URL in the result is the one
that the page asked for, whatever it redirects to.
"""

import asyncio
from collections.abc import Sequence

from sandcrawler.extract.sniff import file_meta
from sandcrawler.fetch.base import Session
from sandcrawler.fetch.surt import surt
from sandcrawler.model import Capture, FileMeta, MissingResource, WantedResource, WebResource
from sandcrawler.status import Status

# Hashing this much takes longer than a switch to a thread.
LARGE_BODY = 1 << 18

Outcome = tuple[Capture, FileMeta | None]


async def capture_resources(
    session: Session, wanted: Sequence[WantedResource], deadline: float | None, parallel: int
) -> tuple[tuple[WebResource, ...], tuple[MissingResource, ...]]:
    """What the page wants, as captured and as missing, both in the page's order; `parallel` at a time."""
    urls = dict.fromkeys(each.url for each in wanted)
    hosts = {_host(url) for url in urls}
    slots = asyncio.Semaphore(parallel)
    # A host gets its share of the places, so that waiting for a slow one does not hold up the others.
    shares = {host: asyncio.Semaphore(max(1, parallel // len(hosts))) for host in hosts}

    async def fetch(url: str) -> Outcome:
        async with shares[_host(url)], slots:
            return await _outcome(session, url, deadline)

    async with asyncio.TaskGroup() as group:
        tasks = {url: group.create_task(fetch(url)) for url in urls}
    found: list[WebResource] = []
    missing: list[MissingResource] = []
    for each in wanted:
        capture, meta = tasks[each.url].result()
        if meta is not None:
            found.append(_resource(each, capture, meta))
        else:
            missing.append(_missing(each, capture))
    return tuple(found), tuple(missing)


def _host(url: str) -> str:
    return url.split("/", 3)[2].lower() if url.count("/") > 1 else ""


async def _outcome(session: Session, url: str, deadline: float | None) -> Outcome:
    """The capture without its body, and what was in it; no meta where it is no success."""
    capture = await session.get(url, deadline)
    if capture.status is not Status.SUCCESS or capture.body is None:
        return _bare(capture), None
    body, content_type = capture.body, capture.header("content-type")
    if len(body) < LARGE_BODY:
        return _bare(capture), file_meta(body, content_type, url)
    return _bare(capture), await asyncio.to_thread(file_meta, body, content_type, url)


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
