"""JSON-LD in a page → its nodes, with references by @id followed.

Sites write it by hand: comments, trailing commas, raw line breaks, two objects in one script. One broken script costs
only itself. Keys and types lose their prefixes (`schema:Article`, `https://schema.org/Article` → Article).
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from sandcrawler.extract.biblio.values import decoded
from sandcrawler.extract.document import Document

Node = dict[str, Any]

MAX_CHARACTERS = 4_000_000  # of all scripts of a page together
MAX_NODES = 20_000

_WRAPPING = re.compile(r"^\s*(?://)?\s*(?:<!--|<!\[CDATA\[)|(?://)?\s*(?:-->|\]\]>)\s*$")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|/\*.*?(?:\*/|\Z)|^\s*//[^\n]*', re.DOTALL | re.MULTILINE)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def nodes(document: Document) -> list[Node]:
    """The top-level nodes of a page's JSON-LD, arrays and @graph laid open, in document order."""
    budget, found = MAX_CHARACTERS, list[Node]()
    for script in document.root.iter("script"):
        if "ld+json" in (script.get("type") or "").lower() and script.text:
            budget -= len(script.text)
            if budget < 0:
                break
            for value in _values(script.text):
                found.extend(_opened(value))
    return found


def index(top: list[Node]) -> dict[str, Node]:
    """Every node by its @id, where it says more than its @id."""
    known: dict[str, Node] = {}
    waiting: list[Any] = [top]
    seen = 0
    while waiting and seen < MAX_NODES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            name = value.get("@id")
            if isinstance(name, str) and len(value) > 1:
                known.setdefault(name, value)
            waiting.extend(child for child in value.values() if isinstance(child, dict | list))
    return known


def types(node: Node) -> list[str]:
    """The types of a node, without their namespace."""
    stated = node.get("@type")
    listed = stated if isinstance(stated, list) else [stated]
    return [re.split(r"[/#:]", text.strip())[-1] for text in listed if isinstance(text, str)]


def _values(script: str) -> Iterator[Any]:
    """Every JSON value of one script that can be read."""
    for attempt in (script, decoded(script), _TRAILING_COMMA.sub(r"\1", _COMMENT.sub(r"\1", script))):
        text = _WRAPPING.sub("", attempt).strip().rstrip(";")
        values, position = [], 0
        try:
            while position < len(text):
                value, position = _DECODER.raw_decode(text, position)
                values.append(value)
                position += len(text[position:]) - len(text[position:].lstrip(" \t\r\n,;"))
        except (ValueError, RecursionError):
            if not values:
                continue
        yield from values
        return


def _opened(value: Any) -> Iterator[Node]:
    """The nodes of a value: lists and @graph are only ways to hold several."""
    waiting = [value]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting[:0] = value[:MAX_NODES]
        elif isinstance(value, dict):
            node = {key.removeprefix("schema:"): child for key, child in value.items()}
            graph = node.pop("@graph", None)
            if set(node) - {"@context", "@id"}:
                yield node
            if isinstance(graph, list | dict):
                waiting.insert(0, graph)
