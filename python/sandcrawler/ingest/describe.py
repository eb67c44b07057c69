"""What would be said of a file's bytes: `read` and `conclude` without any fetching."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from sandcrawler.config import Config
from sandcrawler.extract.sniff import file_meta
from sandcrawler.ingest.flow import read
from sandcrawler.ingest.kinds import KINDS
from sandcrawler.ingest.outcome import Findings, Outcome, Trail, conclude
from sandcrawler.ingest.sandbox import extract_once
from sandcrawler.model import Extracted, IngestType, Page
from sandcrawler.status import Status


def describe_bytes(
    ingest_type: IngestType, body: bytes, url: str, content_type: str | None, config: Config
) -> tuple[Outcome, Mapping[str, str]]:
    """The outcome of a document given as bytes, and which source gave each bibliographic field.

    There is no terminal, cdx or hops; html_resources has every wanted sub-resource, by URL and type only.
    """
    kind, page = KINDS[ingest_type], Page(body, url, content_type)
    request = {"ingest_type": ingest_type, "base_url": url}
    if not body:
        return conclude(kind, request, Trail(), Findings(Status.EMPTY_BLOB), config.message_bytes), {}
    if len(body) > config.fetch_body_bytes:
        found = Findings(Status.BODY_TOO_LARGE, f"more than {config.fetch_body_bytes} bytes")
        return conclude(kind, request, Trail(), found, config.message_bytes), {}

    async def extract(step: str, page: Page) -> Extracted:
        return extract_once(step, page, config)

    found = asyncio.run(read(kind, page, file_meta(body, content_type, url), extract))
    if found.extracted is not None and ingest_type == "html":
        found = replace(found, resources=found.extracted.wanted)
    sources = found.extracted.sources if found.extracted else {}
    return conclude(kind, request, Trail(), found, config.message_bytes), sources
