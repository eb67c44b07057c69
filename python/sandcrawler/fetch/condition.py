"""A request on condition that something has changed (RFC 9110, section 13): what is sent, and what an answer means.

Validators come from servers by way of the database, so they are sent only where they are well-formed: no line break, no
list, no `*` (which matches whatever there is), nothing that was cut. A server that says 304 and names another version
has not answered our question; it is asked again without a condition.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, Self, runtime_checkable

from sandcrawler.fetch import metrics
from sandcrawler.fetch.base import Session
from sandcrawler.fetch.watch import Watch
from sandcrawler.model import Capture, CdxRow
from sandcrawler.status import Status

NOT_MODIFIED = 304
# Codes that are no answer to what was asked: another version than ours, a failed precondition. Nor is one that cannot
# be read as HTTP, or a connection that breaks off.
REFUSALS = frozenset({NOT_MODIFIED, 412})
UNASKED = "HTTP 304 (not modified) to a request without a condition"
# An entity tag, weak or strong. Rows hold 1,000 characters of it: one that long may have been cut.
ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
LONGEST = 1000
# What came of a request on condition, for a watcher.
SAID = {
    "not-modified": "the version that is known is still there",
    "answered": "the server did not say that it is unchanged",
    "again": "not an answer to what was asked; asking once more, without",
}
HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")


@dataclass(frozen=True, slots=True)
class Condition:
    """For the request of this very URL, and no other: answer only if it is not this version any more."""

    url: str
    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def of(cls, cdx: CdxRow) -> Self | None:
        """What can be sent of a known capture's validators; None where there are none."""
        etag, modified = cdx.etag or "", cdx.last_modified or ""
        usable = len(etag) < LONGEST and ETAG.fullmatch(etag)
        made = cls(cdx.url, etag if usable else None, modified if _before(modified, cdx.datetime) else None)
        return made if made.headers else None

    @property
    def headers(self) -> dict[str, str]:
        """As they go on the wire."""
        named = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in named.items() if value}

    def met(self, answer: Capture) -> bool:
        """Whether a 304 speaks of our version: it names that one, or none. A weak tag is as good as a strong one."""
        named = answer.header("etag")
        return not (named and self.etag) or named.removeprefix("W/") == self.etag.removeprefix("W/")

    def judged(self, answer: Capture, watch: Watch | None = None) -> Capture | None:
        """The answer to a request with this condition; None where it must be asked again without."""
        met = answer.status_code == NOT_MODIFIED and self.met(answer)
        again = not met and (answer.status_code in REFUSALS or answer.status is Status.CONNECT_ERROR)
        word = "not-modified" if met else "again" if again else "answered"
        metrics.CONDITIONS.labels(word).inc()
        if watch:
            watch("*", f"asked on condition ({', '.join(self.headers)}): {SAID[word]}")
        if met:
            return replace(answer, status=Status.SUCCESS, error_message=None)
        return None if again else answer


@runtime_checkable
class Conditional(Protocol):
    """A session that can ask on condition."""

    async def get_unless(self, condition: Condition, url: str, deadline: float | None = None) -> Capture:
        """As `get`. A success of HTTP status 304, without a body: the version of the condition is still there."""
        ...


async def get(session: Session, condition: Condition | None, url: str, deadline: float | None = None) -> Capture:
    """A URL's capture, on condition where there is one and the back end can."""
    if condition is not None and isinstance(session, Conditional):
        return await session.get_unless(condition, url, deadline)
    return await session.get(url, deadline)


def unchanged(capture: Capture) -> bool:
    """Whether a capture says that the known version is still there."""
    return capture.status is Status.SUCCESS and capture.status_code == NOT_MODIFIED


def _before(modified: str, moment: str) -> bool:
    """Whether this is an HTTP date before the capture: what was captured in its very second may have changed since."""
    if not HTTP_DATE.fullmatch(modified):
        return False
    try:
        captured = datetime.strptime(moment, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return parsedate_to_datetime(modified) < captured
    except ValueError:
        return False
