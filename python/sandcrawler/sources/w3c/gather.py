"""What a record is made of, gathered from the API: the lists that a resource links to, and what stands in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from sandcrawler.sources.base import Record
from sandcrawler.sources.w3c import parse
from sandcrawler.sources.w3c.api import Resource, href_of, links
from sandcrawler.sources.w3c.realize import Realizer

HISTORY = "version-history"
# rel of the link → rel of the entries in the list that it leads to
LISTS = {
    "editors": "editors",
    "deliverers": "deliverers",
    "predecessor-version": "predecessor-version",
    "successor-version": "successor-version",
}


@dataclass(slots=True)
class Gathering:
    """One record's reading. `whole` turns False when a part was lost that another time might be there."""

    realizer: Realizer
    whole: bool = True

    def editions(self, resource: Resource) -> list[str]:
        """The addresses of a specification's versions, newest first."""
        return [entry["href"] for entry in self._entries(resource, HISTORY, HISTORY)]

    def specification(self, resource: Resource, editions: list[str]) -> Record:
        """The record of a specification."""
        return parse.specification(resource, list(self._resources(editions)))

    def version(self, resource: Resource) -> Record:
        """The record of a version."""
        of = href_of(resource, "specification")
        lists = {rel: list(self._entries(resource, rel, entries)) for rel, entries in LISTS.items()}
        hrefs = {rel: [entry["href"] for entry in entries] for rel, entries in lists.items()}
        return parse.version(
            resource,
            next(self._resources([of]), None) if of else None,
            list(self._resources(hrefs["editors"])),
            [str(entry.get("title") or "") for entry in lists["deliverers"]],
            predecessors=list(self._resources(hrefs["predecessor-version"])),
            successors=list(self._resources(hrefs["successor-version"])),
        )

    def _entries(self, resource: Resource, rel: str, entries: str) -> Iterator[dict[str, str]]:
        """The entries of a linked list, all its pages. (Upstream stops at the first page: 100 versions.)"""
        href, last = href_of(resource, rel), 0
        while href:
            page = self.realizer.page(href)
            if page is None:
                self._lost(href)
                return
            yield from links(page, entries)
            number = page.get("page")
            # A list whose pages do not go forward must not hold us for ever.
            if not isinstance(number, int) or number <= last:
                return
            href, last = href_of(page, "next"), number

    def _resources(self, hrefs: list[str]) -> Iterator[Resource]:
        for href in hrefs:
            resource = self.realizer.resource(href)
            if resource is None:
                self._lost(href)
            else:
                yield resource

    def _lost(self, href: str) -> None:
        if href not in self.realizer.skipped:
            self.whole = False


def lists_of(resource: Resource) -> int:
    """How many requests the lists of a version take, at least."""
    return sum(1 for rel in LISTS if href_of(resource, rel))
