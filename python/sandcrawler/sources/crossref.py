"""Crossref: works (snapshot files, JSON lines, answers of its API) → requests for their deposited links.

    {"DOI": "10.…", "type": "journal-article",
     "link": [{"URL": "https://…", "content-type": "application/pdf", "content-version": "vor",
               "intended-application": "text-mining"}],
     "license": [{"URL": "https://creativecommons.org/…", "content-version": "vor",
                  "start": {"date-parts": [[2020, 1, 1]]}}]}

`content-version` gives the release stage (vor published, am accepted; otherwise a preprint's is submitted). Licence
and dates go to edit_extra: license_url, license_start, content_version, intended_application, release_date. The link
source is `doi`, with the DOI as its identifier: that is how fatcat knows such links.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any

from sandcrawler.sources.content import kinds
from sandcrawler.sources.fields import mappings, text
from sandcrawler.sources.requests import BadRow, Request, ext_ids, request

NAME = "crossref"
LINK_SOURCE = "doi"

STAGES: Mapping[str, str] = {"vor": "published", "am": "accepted"}
TYPE_STAGES: Mapping[str, str] = {"posted-content": "submitted"}
MOST = (9999, 12, 31)  # year, month, day
DATES = ("published", "published-online", "published-print", "posted", "issued")


def drafts(record: dict[str, Any]) -> Iterator[Request]:
    """The requests of one work. A link that is deposited for several uses is asked for once, as deposited first."""
    doi = ext_ids({"doi": record.get("DOI")}).get("doi")
    if doi is None:
        raise BadRow("a work without a DOI")
    links = record.get("link")
    if not links:
        return
    ids, published = {"doi": doi}, _first_date(record)
    usual = TYPE_STAGES.get(text(record.get("type")) or "", "published")
    extras: dict[tuple[str | None, str | None], dict[str, Any]] = {}
    asked: set[tuple[str, str]] = set()
    for link in mappings(links):
        url = text(link.get("URL")) or ""
        for kind in kinds(text(link.get("content-type"))):
            if (kind, url) in asked:
                continue
            asked.add((kind, url))
            version, use = text(link.get("content-version")), text(link.get("intended-application"))
            extra = extras.get((version, use))
            if extra is None:
                said = {"content_version": version, "intended_application": use, "release_date": published}
                extra = _license(record, version) | {name: value for name, value in said.items() if value}
                extras[version, use] = extra
            stage = STAGES.get(version or "", usual)
            yield request(kind, url, LINK_SOURCE, doi, by=NAME, stage=stage, rel="publisher", ids=ids, extra=extra)


def _license(record: dict[str, Any], version: str | None) -> dict[str, Any]:
    """The licence of this version of the work, else of any."""
    chosen = None
    for one in mappings(record.get("license")):
        if text(one.get("URL")):
            chosen = chosen or one
            if text(one.get("content-version")) == version:
                chosen = one
                break
    if chosen is None:
        return {}
    start = _date(chosen.get("start"))
    return {"license_url": text(chosen.get("URL"))} | ({"license_start": start} if start else {})


def _first_date(record: dict[str, Any]) -> str | None:
    for name in DATES:
        if name in record and (date := _date(record[name])):
            return date
    return None


def _date(value: object) -> str | None:
    """A date with `date-parts`, as far as it is known: "2020", "2020-01" or "2020-01-31"."""
    parts = value.get("date-parts") if isinstance(value, dict) else None
    first = parts[0] if isinstance(parts, list) and parts else None
    if not isinstance(first, list):
        return None
    return _written(*takewhile(_is_whole, first[: len(MOST)]))


def _is_whole(part: object) -> bool:
    return type(part) is int


@lru_cache(1 << 14)  # a dump of millions has a few thousand days
def _written(*parts: int) -> str | None:
    known = ""
    for part, most in zip(parts, MOST, strict=False):
        if not 0 < part <= most:
            break
        known += f"-{part:02d}" if known else f"{part:04d}"
    return known or None
