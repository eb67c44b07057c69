"""A page → its bibliography, and which source gave each field.

The rules are tables: `fields` says where each field comes from, `values` how its text is read,
`words` what words mean. This is the engine that applies them: for each field the first source with a usable
value wins. What follows from other fields (year, pages, type, stage) comes last.
"""

import re
from typing import Any

from sandcrawler.extract import identifiers
from sandcrawler.extract.biblio import fields
from sandcrawler.extract.biblio.fields import FIELDS, Row
from sandcrawler.extract.biblio.sources import Found
from sandcrawler.extract.biblio.values import line, split_pages
from sandcrawler.extract.biblio.words import PREPRINT_SERVERS, STAGES, TYPES
from sandcrawler.extract.dates import PartialDate, parse_date
from sandcrawler.extract.document import Document
from sandcrawler.model import Biblio

Values = dict[str, Any]
Sources = dict[str, str]

# Sources of names that sites fill with their own.
_WEAK_NAMES = ("ld:", "microdata:", "author", "article.author", "parsely-author", "sailthru.author", "html:rel-author")


def extract_biblio(document: Document) -> tuple[Biblio, dict[str, str]]:
    """The bibliography of a page, and field → source that gave it (as `fields` writes sources)."""
    found = Found(document)
    values: Values = {}
    sources: Sources = {}
    for field, row in FIELDS.items():
        value, source = _read(found, field, row, document)
        if not value and row.second:
            value, source = _read(found, field, row._replace(read=row.second), document)
        if value:
            values[field], sources[field] = value, source
    _names(found, values, sources)
    _date(found, values, sources)
    _pages(values, sources)
    _type(found, values, sources)
    _stage(found, values, sources)
    return Biblio(**values), sources


def _read(found: Found, field: str, row: Row, document: Document) -> tuple[Any, str]:
    """The field's value from its best source that has one."""
    for source in row.sources:
        texts, named = found.get(source)
        if not texts:
            continue
        read = [value for text in texts if (value := row.read(text))]
        if field.endswith(("_url", "_urls")):
            read = [
                link
                for value in read
                if isinstance(value, str) and (link := document.absolute(value)) and not _is_host(link)
            ]
        if not read:
            continue
        if not row.many:
            return read[0], named
        many = tuple(one for value in read for one in (value if isinstance(value, tuple) else (value,)))
        if field == "contrib_names":
            many = _once(many)
            if _is_site(many, named, found) or _is_unsplit(many, row, found):
                continue
        return (tuple(dict.fromkeys(many)) if field in {"keywords", "component_urls"} else many), named
    return None, ""


def _is_host(link: str) -> bool:
    """A link to a site's front door is no document: templates leave it where they had no file."""
    return re.fullmatch(r"https?://[^/]+/?", link) is not None


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names once, where the page gives the whole list several times; two people of one name stay two."""
    counts = {name: names.count(name) for name in set(names)} if len(names) < 500 else dict.fromkeys(names, 1)
    repeated = len(names) > 1 and min(counts.values(), default=1) > 1 and len(set(counts.values())) == 1
    return tuple(dict.fromkeys(names)) if repeated else names


def _is_site(names: tuple[str, ...], source: str, found: Found) -> bool:
    """Whether the only "author" is the site or the publisher."""
    return len(names) == 1 and source.startswith(_WEAK_NAMES) and found.titles.is_site(names[0])


def _is_unsplit(names: tuple[str, ...], row: Row, found: Found) -> bool:
    """Whether one "name" is a list with commas, which is never split: another source has the same people one by one."""
    if len(names) != 1 or names[0].count(",") < 1 or len(names[0].split()) < 4:
        return False
    words = set(re.findall(r"\w+", names[0].casefold()))
    lists = ([name for text in found.get(source)[0] for name in row.read(text) or ()] for source in row.sources)
    return any(len(people) > 1 and set(re.findall(r"\w+", " ".join(people).casefold())) <= words for people in lists)


def _names(found: Found, values: Values, sources: Sources) -> None:
    """ORCID iDs in the order of the names, where the names' own source gives some."""
    source = sources.get("contrib_names", "")
    if source.startswith(("ld:", "microdata:")):
        stated = found.described.people(source.partition(":")[2])
        known = {plain: orcid for name, ids in stated if (plain := line(name)) and (orcid := identifiers.orcid(ids))}
    else:
        known = found.orcids if source == "citation_author" else {}
    if known:
        values["orcids"] = tuple(known.get(name) for name in values["contrib_names"])
        sources["orcids"] = "citation_author_orcid" if source == "citation_author" else source


def _date(found: Found, values: Values, sources: Sources) -> None:
    """The date of the first source that has one. A later source may add the day, if it agrees on the year."""
    best: PartialDate | None = None
    for name in fields.DATES:
        texts, named = found.get(name)
        date = next((date for text in texts if (date := parse_date(line(text) or ""))), None)
        if date is None:
            continue
        if best is None:
            best, sources["release_year"] = date, named
        # 1 January of a later source is a year that a program has filled up.
        elif date.iso and date.year == best.year and (date.month, date.day) != (1, 1):
            best, sources["release_date"] = date, named
        if best.iso:
            sources.setdefault("release_date", named)
            break
    if best:
        values["release_year"] = best.year
        if best.iso:
            values["release_date"] = best.iso


def _pages(values: Values, sources: Sources) -> None:
    """First page, last page and range from each other."""
    if "pages" in values:
        first, last = split_pages(values["pages"])
        for field, value in (("first_page", first), ("last_page", last)):
            if value and values.setdefault(field, value) is value:
                sources.setdefault(field, sources["pages"])
    elif values.get("first_page") and values.get("last_page"):
        values["pages"] = f"{values['first_page']}-{values['last_page']}"
        sources["pages"] = f"{sources['first_page']}, {sources['last_page']}"
    # bioRxiv's citation_firstpage is the second half of its DOI.
    if values.get("first_page") and values.get("doi", "").partition("/")[2] == values["first_page"].lower():
        for field in ("first_page", "last_page", "pages"):
            values.pop(field, None)
            sources.pop(field, None)


def _type(found: Found, values: Values, sources: Sources) -> None:
    """The type that the page names, else the one whose pages alone have such a source."""
    for source in fields.TYPE_SOURCES:
        texts, named = found.get(source)
        for text in texts:
            if kind := TYPES.get((line(text) or "").lower().rpartition("/")[2]):
                values["release_type"], sources["release_type"] = kind, named
                return
    for source, kind in fields.TYPE_SIGNS.items():
        texts, named = found.get(source)
        if any(map(line, texts)):
            values["release_type"], sources["release_type"] = kind, named
            return


def _stage(found: Found, values: Values, sources: Sources) -> None:
    """published, submitted, …: as the page says, else by where it appeared."""
    for source in fields.STAGE_SOURCES:
        for text in found.get(source)[0]:
            if stage := STAGES.get((line(text) or "").lower().rpartition("/")[2]):
                values["release_stage"], sources["release_stage"] = stage, source
                return
    container = re.sub(r"\W", "", values.get("container_name", "").lower())
    if container in PREPRINT_SERVERS or (not container and "arxiv_id" in values):
        values["release_stage"], sources["release_stage"] = "submitted", "container_name" if container else "arxiv_id"
    elif container and any(field in values for field in ("volume", "issue", "container_issn", "first_page")):
        values["release_stage"], sources["release_stage"] = "published", "container_name"
