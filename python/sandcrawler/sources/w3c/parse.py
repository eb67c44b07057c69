"""The API's answers as a bibliographic record: pure functions from resources to the map of the published YAML.

A version (…/specifications/X/versions/DATE) has a URI, a status and a date; a specification is the series of them and
has neither. The description, the editor's draft, errata and keywords are not mapped: the published records have none.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sandcrawler.sources.base import Record
from sandcrawler.sources.w3c.record import ordered
from sandcrawler.sources.w3c.reference import identifier

Resource = Mapping[str, Any]

SCHEMA_VERSION, EXT_VERSION = "v1.5.6", "v1.0.0"
SPECIFICATION_SERIES = "technicalReport"
LOCAL = {"language": "en", "script": "Latn"}
CONSORTIUM = {
    "uri": [{"content": "https://www.w3.org"}],
    "name": [{"content": "World Wide Web Consortium"}],
    "abbreviation": {"content": "W3C"},
}
PUBLISHER = {"role": [{"type": "publisher"}], "organization": CONSORTIUM}
NOTE_STATUS, REPORT_STATUS, REPORT_PLACE = "NOTE", "TR", "www.w3.org/TR"

# What some record of a data set must have, by the name in the report; only versions have the second kind.
EVERY_RECORD = {
    "title": "title",
    "doc_uri": "source",
    "series": "series",
    "relation": "relation",
    "contributor": "contributor",
    "doctype": "doctype",
}
EVERY_VERSION = {"status": "status", "formattedref": "formattedref", "date": "date"}


def url_of(resource: Resource) -> str:
    """The publication's URL. ValueError where it has none."""
    url = _url(resource)
    if url is None:
        raise ValueError("neither uri nor shortlink")
    return url


def _url(resource: Resource) -> str | None:
    url = resource.get("uri") or resource.get("shortlink")
    return url if isinstance(url, str) else None


def specification(resource: Resource, editions: Iterable[Resource]) -> Record:
    """The record of a specification, with its versions as editions, newest first."""
    return _record(resource, SPECIFICATION_SERIES, [PUBLISHER], related("hasEdition", editions))


def version(  # noqa: PLR0913  (the five lists that the API keeps apart)
    resource: Resource,
    of: Resource | None,
    editors: Iterable[Resource],
    groups: Iterable[str],
    *,
    predecessors: Iterable[Resource] = (),
    successors: Iterable[Resource] = (),
) -> Record:
    """The record of a version: `of` is its specification, `groups` the names of those that deliver it."""
    contributors = [PUBLISHER, *map(_editor, editors), *map(_group, groups)]
    relations = [
        *related("editionOf", [of] if of else []),
        *related("obsoletes", predecessors),
        *related("updatedBy", successors, "errata"),
    ]
    status = resource.get("status")
    own: dict[str, Any] = {"formattedref": {"content": f"W3C {identifier(url_of(resource))}"}}
    if resource.get("date"):
        own["date"] = [{"type": "published", "at": str(resource["date"])}]
    if status:
        own["status"] = {"stage": {"content": status}}
    return ordered({**_record(resource, status, contributors, relations), **own})


def related(kind: str, targets: Iterable[Resource], description: str | None = None) -> list[dict[str, Any]]:
    """Relations to other publications; those that have no URL cannot be named."""
    said = {"description": {"content": description}} if description else {}
    named = (target for target in targets if _url(target))
    return [{"type": kind, **said, "bibitem": _names(target)} for target in named]


def _record(resource: Resource, status: str | None, contributors: list[Any], relations: list[Any]) -> Record:
    name = identifier(url_of(resource))
    doctype = _doctype(status, resource)
    record = {
        "id": re.sub(r"\W", "", f"W3C {name}", flags=re.ASCII),
        "schema_version": SCHEMA_VERSION,
        "type": "standard",
        **_names(resource),
        "docnumber": name,
        "contributor": contributors,
        "language": ["en"],
        "script": ["Latn"],
        "relation": relations,
        "series": [{"title": [{**LOCAL, "content": f"W3C {status}"}], "number": name}] if status else [],
        "ext": {
            "schema_version": EXT_VERSION,
            **({"doctype": {"content": doctype}} if doctype else {}),
            "flavor": "w3c",
        },
    }
    return ordered({key: value for key, value in record.items() if value != []})


def _names(resource: Resource) -> dict[str, Any]:
    url = url_of(resource)
    title = resource.get("title")
    return {
        **({"title": [{**LOCAL, "content": title}]} if isinstance(title, str) and title.strip() else {}),
        "source": [{"type": "src", "content": url}],
        "docidentifier": [{"content": f"W3C {identifier(url)}", "type": "W3C", "primary": True}],
    }


def _doctype(status: str | None, resource: Resource) -> str | None:
    if status == NOTE_STATUS:
        return "groupNote"
    if status == REPORT_STATUS or REPORT_PLACE in str(resource.get("shortlink") or ""):
        return "technicalReport"
    return None


def _editor(user: Resource) -> dict[str, Any]:
    names: dict[str, Any] = {}
    if user.get("given"):
        names["forename"] = [{**LOCAL, "content": user["given"]}]
    if user.get("family"):
        names["surname"] = {**LOCAL, "content": user["family"]}
    if not names:
        names["completename"] = {**LOCAL, "content": user.get("name") or ""}
    return {"role": [{"type": "editor"}], "person": {"name": names}}


def _group(name: str) -> dict[str, Any]:
    return {
        "role": [{"type": "author", "description": [{"content": "committee"}]}],
        "organization": {
            "uri": CONSORTIUM["uri"],
            "name": CONSORTIUM["name"],
            "subdivision": [{"name": [{"content": name}], "type": "technical-committee"}],
            "abbreviation": CONSORTIUM["abbreviation"],
        },
    }


def lacking(record: Record, expected: Mapping[str, str]) -> dict[str, bool]:
    """Which of the expected fields a record lacks, by the field's name in the report."""
    held = {**record, "doctype": record.get("ext", {}).get("doctype")}
    return {name: not held.get(key) for name, key in expected.items()}
