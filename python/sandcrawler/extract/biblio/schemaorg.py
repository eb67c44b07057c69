"""schema.org in a page, whether JSON-LD or microdata: which node is the article, and what it says.

A page describes much besides its article: the site, the publisher, the trail of breadcrumbs, related and cited
works. The article is the top-level node (or its main entity) of the best type; where several could be it, the one
that has this page's URL or title; where none of them has, the page is a list and has no article.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandcrawler.extract import urls
from sandcrawler.extract.biblio import jsonld, microdata
from sandcrawler.extract.biblio.jsonld import Node
from sandcrawler.extract.biblio.values import line
from sandcrawler.extract.document import Document

# Types that a page's own work can have, best first.
WORKS = (
    {"ScholarlyArticle", "MedicalScholarlyArticle"},
    {"Article", "BlogPosting", "NewsArticle", "OpinionNewsArticle", "ReportageNewsArticle", "TechArticle", "Report"}
    | {"Thesis", "Chapter", "Dataset", "SoftwareSourceCode"},
    {"Book", "CreativeWork", "DigitalDocument", "SocialMediaPosting", "Review"},
)
# In a path, a type stands for all containers of that kind.
CONTAINERS = {
    "Periodical": {"Periodical", "Journal", "Magazine", "Newspaper"},
    "PublicationVolume": {"PublicationVolume"},
    "PublicationIssue": {"PublicationIssue"},
    "Book": {"Book"},
}
_NO_CONTAINER = {"WebPage", "ItemPage", "CollectionPage", "AboutPage", "WebSite", "Website"}
_SITE = {"WebSite", "Website"}
MAX_DEPTH = 8
MAX_VALUES = 5000


@dataclass(frozen=True)
class Described:
    """What a page's nodes say; `found` answers paths such as `author`, `publisher.name`, `Periodical.issn`."""

    works: tuple[tuple[str, Node], ...]
    index: dict[str, Node]
    sites: tuple[str, ...]

    def found(self, path: str) -> tuple[list[str], str]:
        """The texts at a path of the article, and which syntax gave them (ld or microdata)."""
        for syntax, work in self.works:
            texts = [text for value in self._walk(work, path.split(".")) for text in self._texts(value)]
            if texts:
                return texts[:MAX_VALUES], syntax
        return [], "ld"

    def files(self, mimetype: str) -> list[str]:
        """The addresses of the article's files of this type (encoding, associatedMedia, distribution)."""
        return [
            str(file["contentUrl"])
            for _, work in self.works
            for key in ("encoding", "associatedMedia", "distribution")
            for file in self._nodes(work.get(key))
            if mimetype in str(file.get("encodingFormat") or file.get("fileFormat"))
            and isinstance(file.get("contentUrl"), str)
        ]

    def people(self, path: str) -> Iterator[tuple[str, str]]:
        """Name and identifiers (one text) of each person at a path."""
        for _, work in self.works:
            for person in self._nodes(work.get(path)):
                for name in self._texts(person):
                    yield (
                        name,
                        " ".join(
                            str(person.get(key)) for key in ("@id", "identifier", "sameAs", "url") if key in person
                        ),
                    )

    def _nodes(self, value: Any) -> list[Node]:
        return [self._resolved(item) for item in _listed(value) if isinstance(item, dict)]

    def _resolved(self, node: Node) -> Node:
        name = node.get("@id")
        return self.index.get(name, node) if isinstance(name, str) and len(node) <= 2 else node

    def _walk(self, node: Node, path: list[str]) -> list[Any]:
        step, rest = path[0], path[1:]
        if step in CONTAINERS:
            values: list[Any] = [part for part in self._parts(node) if CONTAINERS[step] & set(jsonld.types(part))]
        else:
            values = _listed(jsonld.types(node) if step == "@type" else node.get(step))
            if step == "isPartOf":
                values = [part for part in self._nodes(values) if not _NO_CONTAINER & set(jsonld.types(part))]
        if not rest or rest == ["name"]:  # a text where a node could stand is the node's name
            values = [value for value in values if value is not None]
            if not rest or not any(isinstance(value, dict) for value in values):
                return values
        return [found for part in self._nodes(values) for found in self._walk(part, rest)]

    def _parts(self, node: Node) -> Iterator[Node]:
        """What the article is part of, and what that is part of, nearest first."""
        level = [node]
        for _ in range(MAX_DEPTH):
            level = [
                part for one in level for key in ("isPartOf", "publication") for part in self._nodes(one.get(key))
            ][:100]
            yield from level

    def _texts(self, value: Any, depth: int = 0) -> Iterator[str]:
        """The text of a value: itself, or what a node is called."""
        if depth > MAX_DEPTH:
            return
        if isinstance(value, list):
            for item in value[:MAX_VALUES]:
                if not isinstance(item, list):
                    yield from self._texts(item, depth + 1)
        elif isinstance(value, dict):
            node = self._resolved(value)
            called = next((node[key] for key in ("@value", "name", "value", "termCode") if node.get(key)), None)
            if called is None and isinstance(node.get("familyName"), str):
                called = f"{node.get('givenName') or ''} {node['familyName']}"
            if called is None:
                called = next(
                    (node[key] for key in ("alternateName", "url", "@id") if isinstance(node.get(key), str)), None
                )
            if not isinstance(called, dict):
                yield from self._texts(called, depth + 1)
        elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield str(value)


def describe(document: Document, titles: tuple[str, ...]) -> Described:
    """What the page's JSON-LD and microdata say of its article. `titles`: what the page says its title is."""
    described = jsonld.nodes(document)
    known = jsonld.index(described)
    works = []
    if work := _own(described, known, document, titles):
        works.append(("ld", work))
    items = microdata.nodes(document, set().union(*WORKS))
    if work := _own(items, {}, document, titles):
        works.append(("microdata", work))
    sites = tuple(
        name for node in described if _SITE & set(jsonld.types(node)) and isinstance(name := node.get("name"), str)
    )
    return Described(tuple(works), known, sites)


def _own(top: list[Node], known: dict[str, Node], document: Document, titles: tuple[str, ...]) -> Node | None:
    """The node that is this page's article."""
    candidates: list[Node] = []
    for node in top:
        entity = node.get("mainEntity")
        if isinstance(entity, dict):
            candidates.append(known.get(str(entity.get("@id")), entity) if len(entity) <= 2 else entity)
        candidates.append(node)
    for wanted in WORKS:
        works = [node for node in candidates if wanted & set(jsonld.types(node))]
        works = list({id(node): node for node in works}.values())
        if len(works) == 1:
            return works[0]
        if works:
            return next((node for node in works[:100] if _is_page(node, document, titles)), None)
    return None


def _is_page(node: Node, document: Document, titles: tuple[str, ...]) -> bool:
    """Whether a node has this page's address or title."""
    named = [part for key in ("url", "@id", "mainEntityOfPage") for part in _listed(node.get(key))]
    addresses = [part.get("@id") if isinstance(part, dict) else part for part in named[:20]]
    if any(
        isinstance(a, str) and (link := document.absolute(a)) and urls.same_page(link, document.url) for a in addresses
    ):
        return True
    called = [line(text) for key in ("headline", "name") for text in _listed(node.get(key)) if isinstance(text, str)]
    return any(plain and any(plain.casefold() in shown.casefold() for shown in titles) for plain in called)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
