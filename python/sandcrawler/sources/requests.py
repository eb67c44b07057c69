"""What all makers of requests share: how a request is put together, what may pass, and what is said of the rest.

    rows (number, value) ─► draft(value) ─► drafts ─► checked ─► not seen before ─► requests

A maker's `draft` is pure: one record of the source in, its requests out. It never raises for a hostile record, except
`BadRow` with a reason; `make` reports that under the row's number and goes on.

Two requests are the same where link_source, link_source_id, ingest_type and base_url are: the key of the table
ingest_request. So two articles that name one link stay two, and the pipeline answers both from one row of results.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from sandcrawler.extract import identifiers
from sandcrawler.extract.urls import resolve
from sandcrawler.sources.fields import PLAIN_URL, text
from sandcrawler.sources.seen import Seen

# Limits of the tables, in UTF-8 bytes: persist/rows.py holds the same, and a test compares them.
BASE_URL_BYTES = 1500
ID_BYTES = 500
SOURCE_BYTES = 100
# Of a whole request: it travels on in every message about its document, and those have a limit.
REQUEST_BYTES = 1 << 20

Request = dict[str, Any]
# Where in the input (a line's number, or FILE:NUMBER inside an archive), and the value or what is wrong there.
Numbered = tuple[int | str, Any]

# Most DOIs of dumps need no second look; a test holds this to what identifiers.doi says of them.
_PLAIN_DOI = re.compile(r"10\.[0-9]{4,9}/[a-z0-9._/-]*[a-z0-9]", re.IGNORECASE | re.ASCII)

_BROKEN_DOI = re.compile(r"10\.[0-9.]+/\S*\s+\S")


def doi(written: str) -> str | None:
    """A DOI in its one form. One with a blank in it is none: what stands before the blank may be another's."""
    if _PLAIN_DOI.fullmatch(written):
        return written.lower()
    return None if _BROKEN_DOI.search(written) else identifiers.doi(written)


# ext_ids: name (fatcat's) -> its one form. Other names are kept as written, without blanks around.
FORMS: Mapping[str, Callable[[str], str | None]] = {
    "doi": doi,
    "pmid": identifiers.pmid,
    "pmcid": identifiers.pmcid,
    "arxiv": identifiers.arxiv,
    "isbn13": identifiers.isbn,
}
# Other parts of a request that have a row to go to, and how long they may be there.
NAMES = (("link_source", SOURCE_BYTES), ("ingest_request_source", ID_BYTES))
STAGES = frozenset({"draft", "submitted", "accepted", "published", "updated"})
KINDS = frozenset({"html", "xml", "pdf"})


class BadRow(Exception):
    """A row, or one link of it, that no request can be made of; the text says why."""


@dataclass
class Report:
    """Counts of one run. `bad` is called with place, where and why for everything that is left out.

    `without_links`: rows that are well but name nothing to ask for.
    """

    bad: Callable[[str, int | str, str], object]
    place: str = ""
    rows: int = 0
    requests: int = 0
    duplicates: int = 0
    without_links: int = 0
    left_out: int = 0

    def leave_out(self, where: int | str, reason: str) -> None:
        """Count and report one thing that does not get through."""
        self.left_out += 1
        self.bad(self.place, where, reason)


def request(  # noqa: PLR0913  (the fields of a request)
    kind: str,
    url: str,
    link_source: str,
    link_source_id: str | None,
    *,
    by: str,
    stage: str | None = None,
    rel: str | None = None,
    ids: Mapping[str, str] | None = None,
    fatcat: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Request:
    """A draft: absent fields are left out. `by` is who asks (ingest_request_source)."""
    draft: Request = {
        "ingest_type": kind,
        "base_url": url,
        "link_source": link_source,
        "link_source_id": link_source_id,
        "ingest_request_source": by,
    }
    if stage:
        draft["release_stage"] = stage
    if rel:
        draft["rel"] = rel
    if ids:
        draft["ext_ids"] = ids
    if fatcat:
        draft["fatcat"] = fatcat
    if extra:
        draft["edit_extra"] = extra
    return draft


def ext_ids(written: Mapping[str, object]) -> dict[str, str]:
    """Identifiers by fatcat's names, each in its one form; what is none is left out."""
    found = {}
    for name, raw in written.items():
        if raw is not None and (value := text(raw)) is not None:
            form = FORMS.get(name)
            if normal := value if form is None else form(value):
                found[name] = normal
    return found


def web_url(written: object) -> str:
    """The URL as it is asked for. Plain ones stay as written; others are spelled as a browser would.

    BadRow where there is none, for other schemes, beyond 1,500 bytes, with a password, and for several lines: a browser
    would join them, but in lists they are two rows that a quote has put together.
    """
    if not isinstance(written, str) or not written or written.isspace():
        raise BadRow("the URL is blank")
    if len(written) <= BASE_URL_BYTES and PLAIN_URL.fullmatch(written):
        return written
    if "\ufffd" in written:  # what decoding puts where it cannot read: the link would lead to another page
        raise BadRow(f"bytes that are not UTF-8 in the URL: {written[:200]!r}")
    if not {"\n", "\r"}.isdisjoint(written.strip()):
        raise BadRow(f"a line break in the URL: {written[:200]!r}")
    url = resolve(written, "")
    if url is None and len(written) <= BASE_URL_BYTES:
        raise BadRow(f"not an http or https URL: {written[:200]!r}")
    if url is None or len(url.encode("utf-8", "replace")) > BASE_URL_BYTES:
        raise BadRow(f"the URL has more than {BASE_URL_BYTES} bytes: {written[:60]!r}…")
    host = url.split("/", 3)[2]
    if "@" in host:  # requests are published, and so is what they lead to
        raise BadRow(f"a user's name or password in the URL, at {host.rpartition('@')[2]}")
    return url


def checked(draft: Request) -> Request:
    """The draft with its URL as it is asked for; BadRow says what must not get through."""
    if draft["ingest_type"] not in KINDS:
        raise BadRow(f"ingest_type {draft['ingest_type']!r} is not one of {', '.join(sorted(KINDS))}")
    url, identifier = web_url(draft["base_url"]), draft["link_source_id"]
    if not identifier:
        raise BadRow("no identifier of its own (link_source_id)")
    if len(identifier) > ID_BYTES // 4 and len(identifier.encode("utf-8", "replace")) > ID_BYTES:
        raise BadRow(f"link_source_id has more than {ID_BYTES} bytes: {identifier[:60]!r}…")
    for name, limit in NAMES:
        if len(draft[name]) > limit // 4 and len(draft[name].encode("utf-8", "replace")) > limit:
            raise BadRow(f"{name} has more than {limit} bytes: {draft[name][:60]!r}…")
    draft["base_url"] = url
    if len(to_json(draft)) > REQUEST_BYTES:
        raise BadRow(f"the request has more than {REQUEST_BYTES} bytes")
    return draft


def make(
    rows: Iterable[Numbered], draft: Callable[[Any], Iterable[Request]], seen: Seen, report: Report
) -> Iterator[Request]:
    """The requests of all rows: streaming, checked, each once. What is wrong goes to the report."""
    for where, value in rows:
        report.rows += 1
        said, has_links = "", False
        try:
            if isinstance(value, BadRow):
                raise value
            for one in draft(value):
                has_links = True
                try:
                    good = checked(one)
                except BadRow as problem:
                    if said != str(problem):  # one link may be asked for in several types
                        report.leave_out(where, said := str(problem))
                    continue
                if seen.add(good["link_source"], good["link_source_id"], good["ingest_type"], good["base_url"]):
                    report.requests += 1
                    yield good
                else:
                    report.duplicates += 1
            report.without_links += not has_links
        except BadRow as problem:
            report.leave_out(where, str(problem))
