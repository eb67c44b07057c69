"""What is already known of a link, and what is said when a server answers that it is still so.

    last hit, from the rows ─► older than the request? ─► condition ─► 304: the same result, told again
                                                                    └► same bytes: the result, without its body

A result counts for a request only if it was made before that request was published. So a worker that gets a request
again, after it was killed between the result and its body, does not take its own half-done work for done. See
proposals/0010-known-captures.md.
"""

import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

from prometheus_client import Counter

from sandcrawler.fetch.condition import Condition
from sandcrawler.ingest.outcome import Outcome
from sandcrawler.model import IngestRequest, IngestWebResult
from sandcrawler.wire import clean_text

# Seconds by which a result must be older than the request: two machines' clocks differ, but hardly by more.
MARGIN = 300.0

UNCHANGED = Counter("sandcrawler_ingest_bodies_unchanged", "Bodies that were not published again")


class Past(Protocol):
    """Where results are looked up; see `persist.known`."""

    async def last_hit(self, ingest_type: str, base_url: str) -> IngestWebResult | None:
        """The last result of a link, if it is a success that can be told again whole, its body published.

        Without its request, hops and next hops; its timestamp is when it was made. Never raises for a database that
        is away, and never waits for it long: then nothing is known.
        """
        ...


class OpeningPast(Past, Protocol):
    """A past with its life: open within `async with`."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


async def known(past: Past, request: IngestRequest, asked: float | None) -> IngestWebResult | None:
    """What counts as known for a request that was published at `asked` (seconds since 1970), if anything does."""
    if request.force_recrawl or asked is None or asked > time.time() + MARGIN:
        return None
    found = await past.last_hit(request.ingest_type, clean_text(request.base_url))
    return found if found is not None and made(found) + MARGIN < asked else None


def made(result: IngestWebResult) -> float:
    """When a result was made, in seconds since 1970."""
    return datetime.fromisoformat(result.timestamp).replace(tzinfo=UTC).timestamp()


def condition(known: IngestWebResult | None) -> Condition | None:
    """On what condition the document is asked for; None where nothing is known that could be sent."""
    return Condition.of(known.cdx) if known is not None and known.cdx is not None else None


def is_archived(known: IngestWebResult) -> bool:
    """Whether a WARC has the bytes of the known capture."""
    return known.cdx is not None and known.cdx.warc_path is not None


def told(outcome: Outcome, known: IngestWebResult | None) -> Outcome:
    """The outcome without a body that is published already: the same bytes, of which the same is said as before."""
    if known is None or outcome.key is None or known.file_meta is None or outcome.key != known.file_meta.sha1hex:
        return outcome
    result = outcome.result
    if (result.html_body, result.xml_meta, result.pdf_meta) != (known.html_body, known.xml_meta, known.pdf_meta):
        return outcome  # the extraction has got better, or the one that was published worse
    UNCHANGED.inc()
    return Outcome(result)
