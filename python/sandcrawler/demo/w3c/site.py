"""The web of `make demo-w3c` as values: the API in small at 127.0.0.1, and the publications' pages at www.w3.org."""

import json
import tomllib
from collections.abc import Iterator
from datetime import date
from html import escape
from importlib.resources import files

from sandcrawler.demo.documents import Answer
from sandcrawler.demo.w3c.api import Person, Specification, Version, answers, page_url

HERE = files("sandcrawler.demo.w3c")
API_HOST = "127.0.0.1"

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="citation_title" content="{title}">
{authors}
<meta name="citation_publication_date" content="{day}">
</head>
<body>
<header>
<h1>{title}</h1>
<h2>W3C {status} <time datetime="{day}">{written}</time></h2>
<dl><dt>Editors:</dt>{editors}</dl>
</header>
<main>
{body}
</main>
</body>
</html>
"""


def table() -> tuple[list[Specification], list[Person]]:
    """The publications and the people of `publications.toml`."""
    rows = tomllib.loads((HERE / "publications.toml").read_text(encoding="utf-8"))
    return (
        [Specification.model_validate(row) for row in rows["specification"]],
        [Person.model_validate(row) for row in rows["person"]],
    )


def site() -> Iterator[Answer]:
    """What every URL of this web answers."""
    specifications, people = table()
    for path, value in answers(specifications, people, page_size=2).items():
        if value is not None:
            yield Answer(
                url=f"http://{API_HOST}{path}", type="application/hal+json;version=1.0", body=json.dumps(value).encode()
            )
    for one in specifications:
        body = (HERE / "pages" / f"{one.name}.html").read_text(encoding="utf-8")
        for version in one.versions:
            text = _page(one, version, {person.key: person for person in people}, body)
            yield Answer(url=page_url(one, version), type="text/html; charset=utf-8", body=text.encode())


def _page(one: Specification, version: Version, people: dict[str, Person], body: str) -> str:
    names = [f"{people[key].given} {people[key].family}" for key in version.editors]
    day = date.fromisoformat(version.date)
    return PAGE.format(
        title=escape(one.title),
        authors="\n".join(f'<meta name="citation_author" content="{escape(name)}">' for name in names),
        day=version.date,
        status=escape(version.status),
        written=f"{day.day} {day:%B %Y}",
        editors="".join(f"<dd>{escape(name)}</dd>" for name in names),
        body=body,
    )
