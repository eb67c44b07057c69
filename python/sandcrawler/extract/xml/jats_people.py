"""The authors of a JATS or NLM article: who of its contributors they are, and each one's name.

Contributors without a type are authors where nobody is one by name (NLM 1). Members of a group author stand inside it
and are not listed; editors, translators and reviewers are no authors.
"""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from sandcrawler.extract import identifiers
from sandcrawler.extract.xml.nodes import XLINK_HREF, child, children, every, text

# Notes, pictures and addresses: no part of a title or a name.
NOISE = frozenset({"fn", "inline-graphic", "graphic", "object-id", "contrib-group", "email", "uri"})
NOISE_AND_MARKS = NOISE | {"xref"}


def authors(meta: Element | None) -> Iterator[tuple[str, str | None]]:
    """Name and ORCID of each author."""
    everyone = [*every(meta, "contrib-group", "contrib"), *children(meta, "contrib")]
    kinds = [(one.get("contrib-type") or one.getparent().get("content-type") or "").lower() for one in everyone]  # type: ignore[union-attr]
    wanted = "author" if any(kind.startswith("author") for kind in kinds) else ""
    for one, kind in zip(everyone, kinds, strict=True):
        if kind.startswith(wanted) if wanted else not kind:
            for name in _names(one):
                ids = [
                    text(i) or "" for i in children(one, "contrib-id") if "orcid" in (i.get("contrib-id-type") or "")
                ]
                ids += [uri.get(XLINK_HREF) or "" for uri in children(one, "uri", "ext-link")]
                yield name, next(filter(None, map(identifiers.orcid, ids)), None)


def _names(contrib: Element) -> Iterator[str]:
    """The name, one of its alternatives; one <contrib> of NLM 1 may hold several people."""
    alternatives = next(children(contrib, "name-alternatives", "collab-alternatives"), None)
    found = children(contrib, "name", "string-name", "collab")
    if alternatives is not None:
        found = iter([next(children(alternatives, "name", "string-name", "collab"), alternatives)])
    yield from filter(None, map(name_text, found))


def name_text(name: Element) -> str | None:
    """A <name>, <string-name> or <collab> as "Given Family Suffix"; an Eastern name in its script as "FamilyGiven"."""
    family, given = text(child(name, "surname"), NOISE_AND_MARKS), text(child(name, "given-names"), NOISE_AND_MARKS)
    if not family and not given:
        return text(name, NOISE_AND_MARKS)
    if family and given and not given.isascii() and name.get("name-style") == "eastern" and len(family + given) <= 6:
        return f"{family}{given}"
    return " ".join(filter(None, (given, family, text(child(name, "suffix")))))
