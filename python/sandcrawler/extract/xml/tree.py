"""A document in UTF-8 → its tree, and the same document to publish: only the encoding changes.

Where nothing has to be resolved, the published document is the original's text under a new declaration and without
the internal subset. Otherwise (named entities, attribute defaults) the root is written from the tree, in which the
parser has resolved them; what stands round it stays as written. Names of characters that only an external DTD would
declare come from a table. A name that no table knows becomes its own spelling as text, `&amp;name;`: nothing is lost,
and the published document can be read without any DTD.

Nothing is ever opened: no external identifier reaches the parser, which has no network, no DTD loading, and a
resolver that refuses.
"""

from dataclasses import dataclass
from typing import NoReturn

from lxml import etree
from lxml.etree import _Element as Element
from lxml.etree import _LogEntry

from sandcrawler.extract.xml import entities, expansion, prolog
from sandcrawler.extract.xml.errors import XmlError
from sandcrawler.extract.xml.prolog import Prolog

DECLARATION = b'<?xml version="1.0" encoding="UTF-8"%s?>'

# The prefixes that the NLM and JATS DTDs bind by a fixed attribute of the root.
_DTD_PREFIXES = {
    "xlink": "http://www.w3.org/1999/xlink",
    "mml": "http://www.w3.org/1998/Math/MathML",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "ali": "http://www.niso.org/schemas/ali/1.0/",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A well-formed document: its root, and its bytes to publish."""

    root: Element
    body: bytes


def parse(text: bytes) -> Parsed:
    """The document of these bytes (UTF-8, no byte order mark). XmlError where it is not well-formed or refused."""
    head = prolog.read(text)
    names = expansion.check(text, head)
    root, written = _tree(text, head, _missing(head, names))
    named = {name.decode() for name in names} - entities.PREDEFINED
    body = _rewritten(root, head) if named or head.has_attributes or written else _sliced(text, head)
    return Parsed(root, body)


def _missing(head: Prolog, names: set[bytes]) -> tuple[bytes, ...]:
    """Declarations for the names that the document uses and that only an unread DTD can declare.

    Without such a DTD an undeclared name is an error, which is the parser's to raise.
    """
    if not head.open_ended:
        return ()
    table = entities.table()
    wanted = {raw.decode() for raw in names - head.entities.keys() - head.withheld} - entities.PREDEFINED
    return tuple(entities.declaration(name, table.get(name, f"&{name};")).encode() for name in sorted(wanted))


def _tree(text: bytes, head: Prolog, declarations: tuple[bytes, ...]) -> tuple[Element, bool]:
    """The root, and whether attributes that a DTD would have fixed were added to it."""
    try:
        return _parse(_fed(text, head, declarations)), False
    except XmlError as error:
        bound = _fixed_prefixes(text, head)
        if not (head.open_ended and bound and "amespace prefix" in str(error)):
            raise
    return _parse(_fed(text, head, (*declarations, bound))), True


def _fixed_prefixes(text: bytes, head: Prolog) -> bytes:
    """Declarations of the prefixes that the document uses and never binds itself."""
    fixed = b" ".join(
        b'xmlns:%s CDATA #FIXED "%s"' % (prefix.encode(), uri.encode())
        for prefix, uri in _DTD_PREFIXES.items()
        if b"xmlns:%s" % prefix.encode() not in text and b"%s:" % prefix.encode() in text
    )
    return b"<!ATTLIST %s %s>" % (head.name, fixed) if fixed else b""


def _fed(text: bytes, head: Prolog, declarations: tuple[bytes, ...]) -> bytes:
    """What the parser gets: the document with the harmless part of its internal subset, and nothing external."""
    subset = b""
    if head.name:
        inside = b"".join((*head.declarations, *declarations))
        # Errors are told by line: as many as the original's DOCTYPE has.
        around = sum(part.count(b"\n") for part in (head.declaration, head.before, inside, head.after))
        lines = max(0, text.count(b"\n", 0, head.end) - around)
        subset = b"<!DOCTYPE %s [%s%s]>" % (head.name, inside, b"\n" * lines)
    return b"".join((head.declaration, head.before, subset, head.after, memoryview(text)[head.end :]))


class _Refusal(etree.Resolver):
    """Refuses whatever the parser would open."""

    def resolve(self, *_: object) -> NoReturn:
        raise XmlError("nothing external is read")


def _parser(*, recover: bool = False) -> etree.XMLParser:
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities="internal",  # type: ignore[arg-type]  # the stubs are older than lxml 5
        no_network=True,
        load_dtd=False,
        attribute_defaults=True,  # the internal subset's; there is no other
        huge_tree=True,
        strip_cdata=False,
        recover=recover,
    )
    parser.resolvers.add(_Refusal())
    return parser


def _parse(fed: bytes) -> Element:
    """The root. Errors beyond XML 1.0's well-formedness (a bad xml:id) are let pass; bad namespaces are not."""
    parser = _parser()
    try:
        return etree.fromstring(fed, parser)
    except etree.XMLSyntaxError as error:
        entries = [entry for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR]
        refused = next(filter(_refused, entries), None)
        if refused is not None or not entries:
            raise XmlError(_reason(refused) if refused is not None else str(error)) from error
    return etree.fromstring(fed, _parser(recover=True))


def _refused(entry: _LogEntry) -> bool:
    fatal = entry.level == etree.ErrorLevels.FATAL
    return bool(fatal or (entry.domain == etree.ErrorDomains.NAMESPACE and entry.type != etree.ErrorTypes.WAR_NS_URI))


def _reason(entry: _LogEntry) -> str:
    return f"{entry.message}, line {entry.line}, column {entry.column}"


def _declaration(head: Prolog) -> bytes:
    return DECLARATION % (b' standalone="%s"' % head.standalone if head.standalone else b"")


def _sliced(text: bytes, head: Prolog) -> bytes:
    """The document as written, under its new declaration."""
    return b"".join((_prolog(head), memoryview(text)[head.end :]))


def _rewritten(root: Element, head: Prolog) -> bytes:
    """The document with its root from the tree."""
    parts = [_prolog(head), etree.tostring(root, encoding="UTF-8", xml_declaration=False, with_tail=False)]
    for node in root.itersiblings():
        parts += [b"\n", etree.tostring(node, encoding="UTF-8", xml_declaration=False, with_tail=False)]
    return b"".join((*parts, b"\n"))


def _prolog(head: Prolog) -> bytes:
    before = head.before if head.before[:1].isspace() else b"\n" + head.before
    return b"".join((_declaration(head), before, head.doctype, b">" if head.doctype else b"", head.after))
