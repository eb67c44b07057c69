"""Microdata (itemscope, itemprop) in a page → nodes of the same shape as JSON-LD's."""

from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from sandcrawler.extract.biblio.jsonld import Node, types
from sandcrawler.extract.document import Document
from sandcrawler.extract.text import text_of

MAX_PROPERTIES = 3000  # a page describes one article; more is a catalogue
_SCOPE = etree.XPath("ancestor::*[@itemscope][1]")
_WHOLE_TEXT = frozenset({"articleBody", "text", "articlebody"})

# Where an element keeps its value; all others in their text.
_VALUE = {
    "meta": "content", "a": "href", "link": "href", "area": "href", "img": "src", "source": "src", "iframe": "src",
    "embed": "src", "audio": "src", "video": "src", "track": "src", "object": "data", "time": "datetime",
    "data": "value", "meter": "value", "abbr": "title",
}  # fmt: skip


def nodes(document: Document, wanted: set[str]) -> list[Node]:
    """The items of a page that are no property of another item, in document order.

    `wanted`: types without namespace. Where there is no item of one of them (most pages mark up only their trail of
    breadcrumbs), nothing is read.
    """
    found: list[HtmlElement] = document.root.xpath("//*[@itemscope]")
    items: dict[HtmlElement, Node] = {element: {"@type": (element.get("itemtype") or "").split()} for element in found}
    if not any(wanted & set(types(node)) for node in items.values()):
        return []
    inner = set()
    for element in document.root.xpath("//*[@itemprop]")[:MAX_PROPERTIES]:
        above: Any = _SCOPE(element)
        if not above:
            continue
        owner = items[above[0]]
        nested = items.get(element)
        if nested is not None:
            inner.add(element)
        for name in element.get("itemprop").split():
            if name not in _WHOLE_TEXT:
                owner.setdefault(name, []).append(nested if nested is not None else _value(element))
    return [node for element, node in items.items() if element not in inner]


def _value(element: HtmlElement) -> Any:
    attribute = _VALUE.get(element.tag)
    stated = element.get("content") or (element.get(attribute) if attribute else None)
    if stated and attribute == "href" and element.tag == "a" and (shown := text_of(element, 1000).strip()):
        # <a itemprop="author" href="/u/7">Lena Marek</a> means the name.
        return {"name": shown, "url": stated}
    return stated or text_of(element, 20_000)
