"""Harvested records → requests: the page of every version, as HTML.

A specification's own link (…/TR/webrtc/) shows whichever version is the latest: it would be the same document twice.
"""

from collections.abc import Iterator
from pathlib import Path

from sandcrawler.sources.base import Record
from sandcrawler.sources.fields import mapping, mappings, text
from sandcrawler.sources.requests import BadRow, Numbered, Report, Request, make, request
from sandcrawler.sources.seen import Seen
from sandcrawler.sources.w3c.index import INDEX_NAME
from sandcrawler.sources.w3c.record import from_xml, from_yaml

NAME = "w3c"
# Status → stage of release. All other statuses are steps on the way, and drafts.
STAGES = {
    "Recommendation": "published",
    "Superseded Recommendation": "published",
    "Obsolete Recommendation": "published",
    "Rescinded Recommendation": "published",
    "Note": "published",
    "Group Note": "published",
    "Working Group Note": "published",
    "Interest Group Note": "published",
    "Coordination Group Note": "published",
    "Statement": "published",
    "Registry": "published",
}
DRAFT = "draft"


def rows(folder: Path) -> Iterator[Numbered]:
    """The records in a folder, by the names of their files, in their order."""
    for path in sorted(folder.rglob("*")):
        if path.name == INDEX_NAME or path.name.startswith(".") or path.suffix not in {".yaml", ".xml"}:
            continue
        try:
            body = path.read_bytes()
            yield path.name, from_xml(body) if path.suffix == ".xml" else from_yaml(body.decode())
        except (OSError, ValueError) as error:
            yield path.name, BadRow(f"no record: {error}")


def drafts(record: Record) -> Iterator[Request]:
    """The request of one record; none for a specification."""
    if not record.get("date"):
        return
    docid = next((text(each.get("content")) for each in mappings(record.get("docidentifier"))), None)
    source = next((each for each in mappings(record.get("source")) if each.get("type") == "src"), None)
    if docid is None or source is None:
        raise BadRow("a record without identifier or link")
    status = text(mapping(mapping(record.get("status")).get("stage")).get("content"))
    stage = STAGES.get(status or "", DRAFT)
    yield request("html", source.get("content", ""), NAME, docid, by=NAME, stage=stage, ids={NAME: docid})


def requests(folder: Path, report: Report | None = None) -> Iterator[Request]:
    """The requests of all records in a folder, each link once. What is wrong goes to the report."""
    yield from make(rows(folder), drafts, Seen(), report or Report(lambda *_: None))
