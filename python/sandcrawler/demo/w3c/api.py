"""The API of the W3C in small: a table of invented publications as the JSON answers that the real one would give.

    specification ─ versions (a list of pages) ─ version ─ editors, deliverers, predecessors, successors ─ users

Shapes, link names and paging follow https://github.com/w3c/w3c-api; tests and the demo serve it on the loopback.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

API = "https://api.w3.org"
PLACE = "http://www.w3.org/TR"


class Row(BaseModel):
    """A row of the table: frozen, and a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(Row):
    """Somebody who edits. `gone`: the API answers 404, as it does for people who left."""

    key: str
    given: str
    family: str
    gone: bool = False


class Version(Row):
    """One publication of a specification. `level` begins its name: WD, CR, REC, NOTE, …"""

    date: str
    level: str
    status: str
    editors: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Specification(Row):
    """A specification and its versions, oldest first."""

    name: str
    title: str
    versions: tuple[Version, ...]


Answers = dict[str, Any]


def answers(
    specifications: Sequence[Specification],
    people: Sequence[Person] = (),
    *,
    page_size: int = 100,
    list_size: int = 100,
) -> Answers:
    """Path and query → JSON value; None stands for 404. `page_size` cuts the index, `list_size` all other lists."""
    resources = {f"/specifications/{one.name}": _specification(one) for one in specifications}
    known: Answers = dict(resources)
    for one in specifications:
        known |= _versions(one, list_size, {person.key: person for person in people})
    for person in people:
        known[f"/users/{person.key}"] = None if person.gone else _user(person)
    entries = [_entry(path, value["title"]) for path, value in resources.items()]
    for number, page in _pages("/specifications", "specifications", entries, page_size, "embed=1&"):
        shown = [resources[entry["href"].removeprefix(API)] for entry in page["_links"]["specifications"]]
        page["_embedded"] = {"specifications": shown}
        known[f"/specifications?embed=true&page={number}"] = page
        if number == 1:
            known["/specifications?embed=true"] = page
    return known


def page_url(specification: Specification, version: Version) -> str:
    """Where a version is published."""
    stamp = version.date.replace("-", "")
    return f"{PLACE}/{version.date[:4]}/{version.level}-{specification.name}-{stamp}/"


def _specification(one: Specification) -> dict[str, Any]:
    path = f"/specifications/{one.name}"
    return {
        "shortlink": f"{PLACE}/{one.name}/",
        "description": f"<p>{one.title}, an invented specification.</p>",
        "title": one.title,
        "shortname": one.name,
        "_links": {
            "self": _link(path),
            "version-history": _link(f"{path}/versions"),
            "first-version": _entry(_place(one, one.versions[0]), one.versions[0].status),
            "latest-version": _entry(_place(one, one.versions[-1]), one.versions[-1].status),
        },
    }


def _versions(one: Specification, size: int, people: Mapping[str, Person]) -> Answers:
    newest_first = list(reversed(one.versions))
    entries = [_entry(_place(one, version), one.title) for version in newest_first]
    known = _listed(f"/specifications/{one.name}/versions", "version-history", entries, size)
    for number, version in enumerate(one.versions):
        before, after = one.versions[max(0, number - 1) : number], one.versions[number + 1 : number + 2]
        place = _place(one, version)
        editors = [_entry(f"/users/{key}", _name(people[key])) for key in version.editors]
        groups = [_entry(f"/groups/wg/{group.lower().replace(' ', '-')}", group) for group in version.groups]
        known |= {
            place: _version(one, version, bool(before), bool(after)),
            **_listed(f"{place}/editors", "editors", editors, size),
            **_listed(f"{place}/deliverers", "deliverers", groups, size),
        }
        for rel, others in (("predecessor", before), ("successor", after)):
            if others:
                targets = [_entry(_place(one, other), other.status) for other in others]
                known |= _listed(f"{place}/{rel}s", f"{rel}-version", targets, size)
    return known


def _version(one: Specification, version: Version, has_before: bool, has_after: bool) -> dict[str, Any]:
    place = _place(one, version)
    return {
        "status": version.status,
        "rec-track": version.level != "NOTE",
        "uri": page_url(one, version),
        "date": version.date,
        "informative": version.level == "NOTE",
        "title": one.title,
        "shortlink": f"{PLACE}/{one.name}/",
        "_links": {
            "self": _link(place),
            "editors": _link(f"{place}/editors"),
            "deliverers": _link(f"{place}/deliverers"),
            "specification": _link(f"/specifications/{one.name}"),
            **({"predecessor-version": _link(f"{place}/predecessors")} if has_before else {}),
            **({"successor-version": _link(f"{place}/successors")} if has_after else {}),
        },
    }


def _user(person: Person) -> dict[str, Any]:
    path = f"/users/{person.key}"
    return {
        "name": _name(person),
        "given": person.given,
        "family": person.family,
        "discr": "user",
        "_links": {"self": _link(path)},
    }


def _name(person: Person) -> str:
    return f"{person.given} {person.family}"


def _place(one: Specification, version: Version) -> str:
    return f"/specifications/{one.name}/versions/{version.date.replace('-', '')}"


def _listed(path: str, rel: str, entries: list[dict[str, str]], size: int) -> Answers:
    """A list's pages: the first without a query, too. An empty list has no entries' key at all."""
    pages = dict(_pages(path, rel, entries, size))
    return {path: pages[1], **{f"{path}?page={number}&items={size}": page for number, page in pages.items()}}


def _pages(
    path: str, rel: str, entries: list[dict[str, str]], size: int, query: str = ""
) -> Iterator[tuple[int, dict[str, Any]]]:
    count = -(-len(entries) // size)
    for number in range(1, max(1, count) + 1):
        shown = entries[(number - 1) * size : number * size]
        near = {"self": number, "first": 1, "last": max(1, count)}
        near |= {"next": number + 1} if number < count else {}
        near |= {"previous": number - 1} if number > 1 else {}
        places = {name: _link(f"{path}?{query}page={other}&items={size}") for name, other in near.items()}
        yield (
            number,
            {
                "page": number,
                "limit": size,
                "pages": count,
                "total": len(entries),
                "_links": {**({rel: shown} if shown else {}), **places},
            },
        )


def _link(path: str) -> dict[str, str]:
    return {"href": API + path}


def _entry(path: str, title: str) -> dict[str, str]:
    return {"href": API + path, "title": title}
