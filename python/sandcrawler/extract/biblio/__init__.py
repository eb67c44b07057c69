"""A page → its bibliography, and which source gave each field.

The rules are tables: `fields` says where each field comes from, `values` how its text is read,
`words` what words mean. This is the engine that applies them: for each field the first source with a usable
value wins. What takes more than one source (date, pages, type, stage) comes last: `derived`.
"""

import re
from typing import Any

from sandcrawler.extract import identifiers
from sandcrawler.extract.biblio import derived
from sandcrawler.extract.biblio.fields import FIELDS, Row
from sandcrawler.extract.biblio.sources import Found
from sandcrawler.extract.biblio.values import line
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
    derived.add(found, values, sources)
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
