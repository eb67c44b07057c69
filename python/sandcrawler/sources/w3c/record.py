"""A bibliographic record as YAML and as XML, there and back, by the table in `shape`.

The record itself is a map in the shape of the published YAML. XML comes as `bibdata` (a document of its own) or as
`bibitem` (a part of one); `grammar.rng` says what is valid.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from lxml import etree

from sandcrawler.sources import yamltext
from sandcrawler.sources.base import Record
from sandcrawler.sources.w3c.shape import BIBDATA, BIBITEM, ROOTS, Part

Form = Literal["bibdata", "bibitem"]
BOOLEANS = {"true": True, "false": False}
# What XML 1.0 cannot hold at all.
UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_yaml(record: Record) -> str:
    """The record as YAML, keys as they stand."""
    return yamltext.dump(dict(record))


def from_yaml(text: str) -> Record:
    """The record in a YAML document. ValueError where it is none. An identifier that cannot be read is no matter."""
    value = yamltext.load(text)
    if not isinstance(value, dict):
        raise ValueError("not a record: there is no map")  # noqa: TRY004  (one error for all that is no record)
    return value


def ordered(record: Record) -> Record:
    """The record with its topmost keys in the order that the published ones have."""
    return {key: record[key] for key in BIBDATA.order if key in record}


def to_xml(record: Record, form: Form = "bibdata") -> str:
    """The record as XML, indented, without a declaration. Keys that the table does not know are left out."""
    element = _written(ROOTS[form], record)
    etree.indent(element, "  ")
    return etree.tostring(element, encoding="unicode")


def from_xml(text: str | bytes) -> Record:
    """The record in an XML document: bibdata or bibitem. ValueError where it is neither."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(text.encode() if isinstance(text, str) else text, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"not XML: {error}") from error
    if root.tag not in ROOTS:
        raise ValueError(f"neither bibdata nor bibitem: {root.tag}")
    value: Record = _read(ROOTS[str(root.tag)], root)
    return value


def grammar() -> bytes:
    """The RelaxNG grammar of the XML."""
    return (files(__package__) / "grammar.rng").read_bytes()


@cache
def _schema() -> etree.RelaxNG:
    return etree.RelaxNG(etree.fromstring(grammar()))


def problems(text: str | bytes) -> list[str]:
    """What the grammar finds wrong with an XML record; nothing where it is valid."""
    schema = _schema()
    schema.validate(etree.fromstring(text.encode() if isinstance(text, str) else text))
    return [f"line {entry.line}: {entry.message}" for entry in schema.error_log]


def _written(part: Part, value: Any) -> "etree._Element":
    part = BIBITEM if part.key == "bibitem" else part
    element = etree.Element(part.tag)
    if not isinstance(value, Mapping):
        element.text = _characters(value)
        return element
    for key, attribute in part.attributes:
        if value.get(key) is not None:
            element.set(attribute, _characters(value[key]))
    if part.text:
        element.text = _characters(value.get(part.text) or "")
    for child in part.children:
        element.extend(_written(child, one) for one in _each(value.get(child.key)))
    return element


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _characters(value: Any) -> str:
    return UNWRITABLE.sub("", str(value).lower() if isinstance(value, bool) else str(value))


def _read(part: Part, element: "etree._Element") -> Any:
    part = BIBITEM if part.key == "bibitem" else part
    if part.text == "":
        return element.text or ""
    value: dict[str, Any] = {}
    for key, attribute in part.attributes:
        if (found := element.get(attribute)) is not None:
            value[key] = BOOLEANS.get(found, found) if key == "primary" else found
    if part.text:
        value[part.text] = element.text or ""
    for child in part.children:
        found_all = [_read(child, one) for one in element.iterchildren(child.tag)]
        if found_all:
            value[child.key] = found_all if child.many else found_all[-1]
    return {key: value[key] for key in part.keys if key in value}
