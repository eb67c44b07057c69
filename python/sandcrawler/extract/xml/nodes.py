"""Reading trees by local names: articles come in no namespace, in a default one, and under any prefix."""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.etree import _Element as Element

from sandcrawler.extract.biblio import languages
from sandcrawler.extract.text import tidy

MAX_TEXT = 50_000

# Some fields of a Biblio, under their names.
Fields = dict[str, Any]

# Elements that are set apart from the text before and after them.
_BREAKS = frozenset({"break", "lb"})
_BLOCKS = frozenset(
    {"p", "title", "sec", "list-item", "div", "head", "td", "th", "label", "item", "cell", "ab", "l", "para"}
)
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def local_name(node: Element) -> str:
    """The element's name without its namespace; "" for comments, processing instructions and entities."""
    tag = node.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def namespace(node: Element) -> str:
    """The element's namespace, "" where it is in none."""
    tag = node.tag
    return tag[1:].rpartition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def children(node: Element | None, *names: str) -> Iterator[Element]:
    """The child elements with one of these local names, in document order."""
    if node is not None:
        yield from node.iterchildren(*(f"{{*}}{name}" for name in names))


def child(node: Element | None, *path: str) -> Element | None:
    """The first element at this path of local names."""
    for name in path:
        node = next(children(node, name), None)
    return node


def every(node: Element | None, *path: str) -> Iterator[Element]:
    """All elements at this path of local names, in document order."""
    if node is None:
        return
    if len(path) == 1:
        yield from children(node, path[0])
    else:
        for one in children(node, path[0]):
            yield from every(one, *path[1:])


def raw_text(node: Element, skipped: frozenset[str] = frozenset()) -> str:
    """The text inside an element, without what stands in elements of these names (their tails stay)."""
    pieces: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end", "comment", "pi"))
    for event, one in walk:
        if event == "start":
            if one is not node and local_name(one) in skipped:
                walk.skip_subtree()
            else:
                pieces.append(one.text or "")
                if local_name(one) in _BREAKS:
                    pieces.append(" ")
        elif one is not node:
            if local_name(one) in _BLOCKS:
                pieces.append(" ")
            pieces.append(one.tail or "")
    return "".join(pieces)


def whole_text(node: Element) -> str:
    """All text inside an element, fast; the tree is consumed (blanks are put after blocks)."""
    for one in node.iter(*(f"{{*}}{name}" for name in _BLOCKS | _BREAKS)):
        one.tail = f" {one.tail or ''}"
    return str(etree.tostring(node, method="text", encoding="unicode", with_tail=False))


def text(node: Element | None, skipped: frozenset[str] = frozenset()) -> str | None:
    """The text inside an element on one line, at most MAX_TEXT characters, None where there is none."""
    return (tidy(raw_text(node, skipped)[:MAX_TEXT]) or None) if node is not None else None


def has_words(value: str) -> bool:
    """Whether there is more than a mark or a number."""
    return bool(_TWO_LETTERS.search(value))


def language(tag: str | None) -> str | None:
    """The ISO 639-1 code of a language attribute."""
    return languages.language(tag) if tag else None
