"""The whole story of one request: fetch, read, follow what leads to a better document, gather its parts, conclude.

    request ─► fetch ─► sniff ─► extract (child) ─┬─► Follow: fetch that (within the hop limit)
                 │                                └─► verdict ─► sub-resources ─► WARC ─► result and body, together
                 └► 304: the known result again

The web's faults end here as a status. What is raised from here is a fault of ours or of the world.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandcrawler.config import Config
from sandcrawler.extract.refresh import refreshed
from sandcrawler.extract.sniff import file_meta
from sandcrawler.fetch.allowance import allowed, waited
from sandcrawler.fetch.base import Fetcher, Session
from sandcrawler.fetch.condition import get, unchanged
from sandcrawler.fetch.recording import Recording
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.fetch.target import location
from sandcrawler.ingest.archive import NO_ARCHIVE, Archive
from sandcrawler.ingest.base import HTML_TYPES, Kind
from sandcrawler.ingest.kinds import KINDS
from sandcrawler.ingest.known import condition, is_archived, told
from sandcrawler.ingest.outcome import Findings, Outcome, Trail, conclude, merge
from sandcrawler.model import (
    Capture,
    Extracted,
    FileMeta,
    Follow,
    IngestRequest,
    IngestWebResult,
    NextHop,
    Page,
    WantedResource,
)
from sandcrawler.status import KEPT, WALLS, Scope, Status, verdict

# The longest base_url that a row can be keyed by, in UTF-8 bytes.
BASE_URL_BYTES = 1500
REFRESH_HEADER = "refresh-header"
WAITING = frozenset({"meta-refresh", REFRESH_HEADER})
# The share of a request's time in which it may fetch.
FETCHING = 0.95

Extract = Callable[[str, Page], Awaitable[Extracted]]


@dataclass(frozen=True)
class Flow:
    """One worker's way of answering requests: its fetcher, its extraction children, its limits, its archive."""

    fetcher: Fetcher
    extract: Extract
    config: Config
    archive: Archive = NO_ARCHIVE
    tell: Callable[[str], object] = str
    """Is told what comes next, for people who wait."""

    async def ingest(
        self, request: IngestRequest, verbatim: dict[str, Any], known: IngestWebResult | None = None
    ) -> Outcome:
        """Answer one request, whatever happens on the web, within the limit on its own time.

        `known`: the link's last hit; only what has changed since is fetched and published again.
        Waiting for an extraction child, or for room for a large body, is time that its neighbours take.
        """
        kind, trail = KINDS[request.ingest_type], Trail([request.base_url], known=known)
        limit = self.config.ingest_seconds
        async with self.archive.recording(self.config) as recording:
            try:
                async with allowed(limit):
                    if recording and known:
                        recording.known = known.cdx
                        if not is_archived(known):  # kept in no WARC so far: now it is fetched, to be kept
                            trail.known = None
                    found = await self._pursue(kind, request.base_url, trail, recording)
            except TimeoutError:
                found = Findings(Status.TIMEOUT, f"not done after {limit:g} s")
            outcome = told(conclude(kind, verbatim, trail, found, self.config.message_bytes), known)
            return await self.archive.keep(recording, outcome, trail.capture)

    async def _pursue(self, kind: Kind, url: str, trail: Trail, recording: Recording | None) -> Findings:
        """Fetch and read documents until one needs no other."""
        if len(url.encode("utf-8", "replace")) > BASE_URL_BYTES:
            return Findings(Status.BAD_URL, f"the URL has more than {BASE_URL_BYTES} bytes")
        # A little before the end, so that what came late is missing from the page, and not the page from the result.
        end = asyncio.get_running_loop().time() + FETCHING * self.config.ingest_seconds
        async with self.fetcher.session(recording) as session:
            while True:
                found = await self._document(kind, session, url, end + waited(), trail)
                follow = found.extracted.follow if found.extracted else None
                stop = self._stops(follow, trail) if follow else None
                if follow is None or (stop and _stands(kind, found, follow)):
                    if recording:
                        recording.revisits = True  # the document stands in full; its parts may repeat what is there
                    return await self._gather(kind, session, end + waited(), found)
                if stop:
                    return stop
                if found.extracted is not None:
                    trail.landing = merge(trail.landing, found.extracted.html_biblio)
                trail.next_hops.append(NextHop(url=follow.url, technique=follow.technique))
                url = follow.url

    def _stops(self, follow: Follow, trail: Trail) -> Findings | None:
        """Why this link must not be followed, if so."""
        if follow.url in trail.hops:
            return Findings(Status.LINK_LOOP, f"{follow.url} was already visited")
        if len(trail.next_hops) >= self.config.ingest_hops:
            return Findings(Status.MAX_HOPS_EXCEEDED, f"more than {self.config.ingest_hops} documents in a row")
        return None

    async def _document(self, kind: Kind, session: Session, url: str, deadline: float, trail: Trail) -> Findings:
        """Fetch one document and read it."""
        self.tell(f"asking for {url}")
        capture = await get(session, condition(trail.known), url, deadline)
        trail.add(capture)
        if unchanged(capture):
            return Findings(capture.status, known=trail.known)
        if not capture.body:
            return refresh(capture, None) or Findings(capture.status, capture.error_message)
        content_type = capture.header("content-type")
        meta = await asyncio.to_thread(file_meta, capture.body, content_type, capture.terminal_url)
        page = Page(capture.body, capture.terminal_url, content_type)
        if capture.status is Status.SUCCESS:
            return refresh(capture, meta) or await read(kind, page, meta, self.extract)
        found = Findings(capture.status, capture.error_message, meta)
        return await refine(found, page, self.extract) if capture.status is Status.TERMINAL_BAD_STATUS else found

    async def _gather(self, kind: Kind, session: Session, deadline: float, found: Findings) -> Findings:
        """Fetch the sub-resources of a page that is kept."""
        extracted = found.extracted
        if extracted is None or kind.name != "html" or found.status not in KEPT:
            return found
        limit = self.config.ingest_resources
        if len(extracted.wanted) > limit:
            text = f"{len(extracted.wanted)} sub-resources are wanted, the limit is {limit}"
            return Findings(Status.TOO_MANY_RESOURCES, text, found.file_meta, extracted)

        async def linked(sheet: Page) -> Sequence[WantedResource]:
            return (await self.extract("css", sheet)).wanted

        self.tell(f"asking for its parts, {len(extracted.wanted)} of them")
        bounds = Bounds(self.config.ingest_resources_parallel, limit)
        got, missing = await capture_resources(session, extracted.wanted, deadline, bounds, linked)
        return Findings(found.status, found.error_message, found.file_meta, extracted, got, missing)


async def refine(found: Findings, page: Page, extract: Extract) -> Findings:
    """A response that was refused (401, 403, 503, …) may be a wall, and its page says which."""
    if found.file_meta is None or found.file_meta.mimetype not in HTML_TYPES:
        return found
    extracted = await extract("html", page)
    if extracted.scope not in WALLS:
        return found
    seen = Extracted(verdict(extracted.scope), scope=extracted.scope, platform=extracted.platform)
    return Findings(seen.status, found.error_message, found.file_meta, seen)


def refresh(capture: Capture, meta: FileMeta | None) -> Findings | None:
    """A page whose Refresh header soon leads elsewhere is a waiting page, whatever it shows; a PDF stays one."""
    header = capture.header("refresh")
    if not header or capture.status not in (Status.SUCCESS, Status.EMPTY_BLOB):
        return None
    url = refreshed(location(header), capture.terminal_url, capture.terminal_url)
    if url is None or (meta is not None and meta.mimetype not in HTML_TYPES):
        return None
    extracted = Extracted(Status.WRONG_SCOPE, scope=Scope.STUB, follow=Follow(url, REFRESH_HEADER))
    return Findings(Status.WRONG_SCOPE, None, meta, extracted)


def _stands(kind: Kind, found: Findings, follow: Follow) -> bool:
    """Whether a page whose link leads nowhere new is an answer by itself: of the asked type, and no waiting page."""
    return follow.technique not in WAITING and found.file_meta is not None and kind.accepts(found.file_meta.mimetype)


async def read(kind: Kind, page: Page, meta: FileMeta, extract: Extract) -> Findings:
    """What a document's bytes say, judged as what was asked for."""
    if kind.accepts(meta.mimetype):
        extracted = await extract(kind.name, page)
        exact = meta.model_copy(update={"mimetype": kind.mimetype(meta.mimetype, extracted)})
        return Findings(extracted.status, extracted.error_message, exact, extracted)
    if meta.mimetype in HTML_TYPES and kind.name != "html":
        extracted = await extract(f"{kind.name}-link", page)
        return Findings(extracted.status, extracted.error_message, meta, extracted)
    return Findings(Status.WRONG_MIMETYPE, f"{meta.mimetype} is not {kind.name}", meta)
