"""What stands before the root, read by hand: the parser is given nothing that could make it open a file or a socket.

A document is split into declaration, the comments before the DOCTYPE, the DOCTYPE as written, the declarations of its
internal subset, and the rest. Of the internal subset the parser gets what has its meaning inside the document:
internal entities, element and attribute declarations, notations. External entities and references to external
parameter entities are dropped, so a reference to one is an error, never a fetch. Parameter entities declared in the
subset itself are expanded within a budget.
"""

import re
from dataclasses import dataclass

from sandcrawler.extract.xml.errors import XmlError

_S = rb"[ \t\r\n]"
_NAME = rb"[^\s<>&;%\"'\[\]/=!?#]+"
_CONTROLS = rb"\x00-\x08\x0b\x0c\x0e-\x1f"
_LITERAL = rb"(?:\"[^\"" + _CONTROLS + rb"]*+\"|'[^'" + _CONTROLS + rb"]*+')"
_PUBLIC = rb"(?:\"[-'()+,./:=?;!*#@$_% \r\nA-Za-z0-9]*\"|'[-()+,./:=?;!*#@$_% \r\nA-Za-z0-9]*')"
_DECLARATION = re.compile(rb"<\?xml(?=" + _S + rb")(?P<inside>.*?)\?>", re.DOTALL)
_STANDALONE = re.compile(rb"standalone" + _S + rb"*=" + _S + rb"*[\"'](yes|no)[\"']")
_MISC = re.compile(rb"(?>" + _S + rb"++|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
_DOCTYPE = re.compile(
    rb"<!DOCTYPE" + _S + rb"++(?P<name>" + _NAME + rb")"
    rb"(?P<external>" + _S + rb"++(?:SYSTEM|PUBLIC" + _S + rb"++" + _PUBLIC + rb")" + _S + rb"++" + _LITERAL + rb")?"
    + _S + rb"*+(?P<open>[\[>])"
)  # fmt: skip
_TOKEN = re.compile(
    rb"(?P<misc>(?:" + _S + rb"++|<!--.*?-->|<\?.*?\?>)++)|%(?P<reference>" + _NAME + rb");|(?P<end>\]" + _S + rb"*+>)"
    rb"|(?P<markup><!(?P<kind>[A-Z]+)(?>[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>)",
    re.DOTALL,
)
_ENTITY = re.compile(
    rb"<!ENTITY" + _S + rb"++(?P<parameter>%" + _S + rb"++)?(?P<name>" + _NAME + rb")" + _S + rb"++"
    rb"(?:(?P<value>" + _LITERAL + rb")|(?P<external>(?:SYSTEM|PUBLIC" + _S + rb"++" + _PUBLIC + rb")" + _S + rb"++"
    + _LITERAL + rb"(?P<ndata>" + _S + rb"++NDATA)?))"
)  # fmt: skip
_CHARREF = re.compile(rb"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")

MAX_DECLARATIONS = 20_000
MAX_EXPANSION = 1_000_000  # bytes that parameter entities stand for
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Prolog:
    """A document's bytes (UTF-8) before the root.

    `declaration` is the XML declaration as written; `before` and `after` are the comments, processing instructions and
    blanks round the DOCTYPE; `doctype` is the DOCTYPE as written up to its internal subset (empty where there is
    none); `declarations` go to the parser; `entities` has the replacement text of every internal general entity,
    `withheld` the names of external ones; `open_ended` says that declarations may stand where we do not read (external
    subset, parameter entities); `end` is where `after` ends.
    """

    declaration: bytes
    standalone: bytes | None
    before: bytes
    name: bytes
    doctype: bytes
    declarations: tuple[bytes, ...]
    entities: dict[bytes, bytes]
    withheld: frozenset[bytes]
    open_ended: bool
    has_attributes: bool
    after: bytes
    end: int


def read(text: bytes) -> Prolog:
    """The prolog of a document in UTF-8. XmlError where its DOCTYPE cannot be read."""
    declaration = _DECLARATION.match(text)
    start = declaration.end() if declaration else 0
    standalone = _STANDALONE.search(declaration["inside"]) if declaration else None
    before = _misc(text, start)
    position = start + len(before)
    doctype, subset = b"", _Subset()
    name = b""
    if text.startswith(b"<!DOCTYPE", position):
        found = _DOCTYPE.match(text, position)
        if found is None:
            raise XmlError("the DOCTYPE cannot be read")
        name, doctype, position = found["name"], found[0][:-1].rstrip(), found.end()
        subset.open_ended = found["external"] is not None
        if found["open"] == b"[":
            position = subset.read(text, position)
    after = _misc(text, position)
    return Prolog(
        declaration=text[:start],
        standalone=standalone[1] if standalone else None,
        before=before,
        name=name,
        doctype=doctype,
        declarations=tuple(subset.declarations),
        entities=subset.entities,
        withheld=frozenset(subset.withheld),
        open_ended=subset.open_ended and not (standalone and standalone[1] == b"yes"),
        has_attributes=subset.has_attributes,
        after=after,
        end=position + len(after),
    )


def _misc(text: bytes, position: int) -> bytes:
    found = _MISC.match(text, position)
    return found[0] if found else b""


class _Subset:
    """An internal subset while it is read."""

    def __init__(self) -> None:
        self.declarations: list[bytes] = []
        self.entities: dict[bytes, bytes] = {}
        self.parameters: dict[bytes, bytes | None] = {}
        self.withheld: set[bytes] = set()
        self.open_ended = False
        self.has_attributes = False
        self.read_so_far = 0
        self.expanded = 0

    def read(self, text: bytes, position: int, depth: int = 0) -> int:
        """Reads declarations from `position` to the subset's end (or the text's, inside a parameter entity)."""
        while position < len(text) or not depth:
            token = _TOKEN.match(text, position)
            self.read_so_far += 1
            if token is None or (token["end"] and depth) or self.read_so_far > MAX_DECLARATIONS:
                raise XmlError("the DOCTYPE's internal subset cannot be read")
            position = token.end()
            if token["end"]:
                break
            if token["reference"]:
                self._expand(token["reference"], depth)
            elif token["markup"]:
                self._declare(token["kind"], token["markup"])
        return position

    def _declare(self, kind: bytes, markup: bytes) -> None:
        entity = _ENTITY.match(markup) if kind == b"ENTITY" else None
        if entity is None or entity["ndata"]:
            self.declarations.append(markup)
            self.has_attributes |= kind == b"ATTLIST"
            return
        name, value = entity["name"], entity["value"]
        if entity["parameter"]:
            self.parameters.setdefault(name, value and _replacement(value))
        elif name not in self.entities and name not in self.withheld:  # the first declaration binds
            if value is None:
                self.withheld.add(name)
            else:
                self.entities[name] = _replacement(value)
                self.declarations.append(markup)

    def _expand(self, name: bytes, depth: int) -> None:
        value = self.parameters.get(name)
        if value is None:  # external, or declared where we do not read
            self.open_ended = True
            return
        self.expanded += len(value)
        if depth >= MAX_DEPTH or self.expanded > MAX_EXPANSION:
            raise XmlError("parameter entities expand beyond the limit")
        self.read(value, 0, depth + 1)


def _replacement(literal: bytes) -> bytes:
    """The replacement text of an entity: its literal with character references resolved (XML 1.0, 4.5)."""
    return _CHARREF.sub(_character, literal[1:-1])


def _character(reference: re.Match[bytes]) -> bytes:
    point = int(reference[1], 16) if reference[1] else int(reference[2])
    try:
        return chr(point).encode()
    except (ValueError, OverflowError, UnicodeEncodeError):
        return reference[0]  # the parser will say what is wrong with it
