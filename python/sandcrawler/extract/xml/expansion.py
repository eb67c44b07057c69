"""What a document's entities and default attributes would become, added up before the parser expands any.

Ten lines of declarations can stand for gigabytes. The limit is libxml2's for untrusted input (a megabyte for nothing,
then five times the document), which its mode for large documents does not keep.
"""

import re
from collections import Counter

from sandcrawler.extract.xml.errors import XmlError
from sandcrawler.extract.xml.prolog import Prolog

FREE = 1_000_000
AMPLIFICATION = 5
MAX_DEPTH = 40

_REFERENCE = re.compile(rb"&([^\s#&;<>\"'][^\s&;<>\"']*+);")
_ATTRIBUTES = re.compile(rb"<!ATTLIST\s+([^\s>]+)")


def check(text: bytes, head: Prolog) -> set[bytes]:
    """The names of all entities that the document refers to. XmlError for loops and for bombs."""
    references = Counter(found[1] for found in _REFERENCE.finditer(text, head.end))
    inside = set[bytes]().union(*(_REFERENCE.findall(value) for value in (*head.entities.values(), *head.declarations)))
    if head.entities or head.has_attributes:
        sizes = _Sizes(head.entities)
        total = sum(count * sizes.of(name) for name, count in references.items()) + _defaults(text, head, sizes)
        if total > FREE + AMPLIFICATION * len(text):
            raise XmlError("entities expand beyond the limit")
    return inside.union(references)


def _defaults(text: bytes, head: Prolog, sizes: "_Sizes") -> int:
    """Bytes that attribute defaults may add: each declaration once for every start tag that may be its element's."""
    total = 0
    for markup in head.declarations:
        if found := _ATTRIBUTES.match(markup):
            each = len(markup) + sum(map(sizes.of, _REFERENCE.findall(markup)))
            total += each * text.count(b"<" + found[1], head.end)
    return total


class _Sizes:
    """Bytes that an entity's name stands for, each worked out once."""

    def __init__(self, values: dict[bytes, bytes]) -> None:
        self._values = values
        self._known: dict[bytes, int] = {}

    def of(self, name: bytes, above: tuple[bytes, ...] = ()) -> int:
        if name not in self._known:
            if name in above or len(above) > MAX_DEPTH:
                raise XmlError(f"entity {name.decode(errors='replace')[:60]!r} contains itself or nests too deep")
            value = self._values.get(name, b"")
            inner = sum(self.of(one, (*above, name)) for one in _REFERENCE.findall(value))
            self._known[name] = len(value) + inner
        return self._known[name]
