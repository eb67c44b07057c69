"""What kind of XML a document is, by its parsed structure; names in comments, CDATA and DOCTYPEs say nothing.

JATS (and the NLM sets before it) is an <article> with a <front> that has <article-meta> or <journal-meta>, in any
namespace. Many others call their root <article> too (DocBook, dblp, Copernicus, Elsevier), and none of them has these.
TEI is <TEI>, <TEI.2> or a corpus of them, with a <teiHeader>. Either may stand in an envelope (<pmc-articleset>,
OAI-PMH): the document is of that kind when it holds exactly one. All else is `other`, and its root is named.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lxml.etree import _Element as Element

from sandcrawler.extract.xml.nodes import child, children, local_name, namespace

Schema = Literal["jats", "tei", "other"]

# XHTML and DocBook can hold anything; what they hold is not what they are.
_NO_ENVELOPES = frozenset({"http://www.w3.org/1999/xhtml", "http://docbook.org/ns/docbook"})


@dataclass(frozen=True, slots=True)
class Kind:
    """`element` is what the document is about: its root, or the one article that its envelope holds.

    `platform` is scielo for its dialects of JATS: the SciELO Publishing Schema, and the older articleXML export.
    """

    schema: Schema
    root: str
    element: Element
    platform: str | None = None


def kind(root: Element) -> Kind:
    """The kind of the document with this root. `root` in the answer is the root's local name."""
    name = local_name(root)
    for schema, names, holds in _SCHEMAS:
        found = _outermost(root, names, holds)
        if found is not None:
            return Kind(schema, name, found, _platform(found) if schema == "jats" else None)
    return Kind("other", name, root)


def _is_jats(element: Element) -> bool:
    front = child(element, "front")
    if front is not None:
        return next(children(front, "article-meta", "journal-meta"), None) is not None
    return child(element, "front-stub", "title-group") is not None


def _is_tei(element: Element) -> bool:
    return child(element, "teiHeader", "fileDesc") is not None


_SCHEMAS: tuple[tuple[Schema, tuple[str, ...], Callable[[Element], bool]], ...] = (
    ("jats", ("article",), _is_jats),
    ("tei", ("TEI", "TEI.2", "teiCorpus", "teiCorpus.2", "tei", "tei.2"), _is_tei),
)


def _outermost(root: Element, names: tuple[str, ...], holds: Callable[[Element], bool]) -> Element | None:
    """The one element of these names that `holds` accepts and that stands in no other, None where it is not one."""
    if local_name(root) in names and holds(root):
        return root
    if namespace(root) in _NO_ENVELOPES:
        return None
    found: list[Element] = []
    for element in root.iter(*(f"{{*}}{name}" for name in names)):
        if holds(element) and not any(above is one for above in element.iterancestors() for one in found):
            found.append(element)
            if len(found) > 1:
                return None
    return found[0] if found else None


def _platform(article: Element) -> str | None:
    said = (article.get("specific-use") or "").lower()
    older = child(article, "front", "article-meta", "numero") is not None
    return "scielo" if said.startswith("sps-") or older else None
