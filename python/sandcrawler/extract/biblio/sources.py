"""What a page says of its bibliography, gathered once: source → texts, as `fields` names the sources.

Metas, links and html@lang are read in one pass each. What costs more (JSON-LD, microdata, COinS, what the page shows)
is read when a field asks for it and nothing better was there.
"""

from collections.abc import Mapping
from functools import cached_property
from urllib.parse import parse_qsl

from sandcrawler.extract import identifiers
from sandcrawler.extract.biblio import schemaorg
from sandcrawler.extract.biblio.schemaorg import Described
from sandcrawler.extract.biblio.shown import WORK_SOURCES, Shown
from sandcrawler.extract.biblio.titles import Titles
from sandcrawler.extract.biblio.values import line
from sandcrawler.extract.document import Document

MAX_VALUES = 10_000  # of one source: an article of a collaboration has 5,000 authors and 2,000 references
SITE_SOURCES = (
    "og.site_name", "og-site-name", "application-name", "citation_journal_title", "prism.publicationname",
    "citation_publisher", "dc.publisher", "citation_conference_title", "dc.source", "apple-mobile-web-app-title",
)  # fmt: skip
LINK_RELS = {"canonical", "cite-as", "license", "alternate", "item"}
_SCHEMES = frozenset({"doi", "issn", "isbn", "pmid", "pmcid"})
_ITEMPROPS = ("citation_", "dc.", "dcterms.", "prism.")
# What content systems put on <body> where a page is one post.
POST_CLASSES = {"single-post", "single-article", "node-type-article", "page-node-type-article", "node-type-blog"}


class Found:
    """The sources of one page. `get(source)` gives its texts and the name to explain it by."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.metas = _metas(document)
        self.orcids = _orcids(document)

    def get(self, source: str) -> tuple[list[str], str]:
        """The texts of a source, in document order, none of them empty."""
        kind, mark, rest = source.partition(":")
        if not mark:
            return self.metas.get(source, []), source
        if kind == "ld":
            return self._described(rest)
        if kind == "coins":
            return self._coins.get(rest, []), source
        if kind == "link":
            return self._links.get(rest, []), source
        return self._shown.get(rest), source

    @cached_property
    def is_work(self) -> bool:
        """Whether the page says that it is about one work, not a site, a list or an error."""
        return any(name in self.metas for name in WORK_SOURCES) or self.is_post

    @cached_property
    def is_post(self) -> bool:
        """Whether the page says so only as blogs, magazines and content systems do."""
        kinds = self.metas.get("og.type", []) + self.metas.get("og-type", [])
        body = next(self._document.root.iter("body"), self._document.root)
        marked = POST_CLASSES & set((body.get("class") or "").lower().split())
        return "article" in kinds or bool(marked) or bool(self.described.works)

    @cached_property
    def described(self) -> Described:
        """The page's JSON-LD and microdata."""
        stated = (text for name in ("citation_title", "dc.title", "og.title") for text in self.metas.get(name, [])[:1])
        return schemaorg.describe(
            self._document, tuple(t for text in (*stated, self.titles.title) if text and (t := line(text)))
        )

    @cached_property
    def titles(self) -> Titles:
        """The page's own title and headings."""
        return Titles(self._document, self._sites)

    def _sites(self) -> list[str]:
        stated = [text for name in SITE_SOURCES for text in self.metas.get(name, [])]
        return [*stated, *self.described.sites, *self.described.found("publisher.name")[0]]

    @cached_property
    def _shown(self) -> Shown:
        return Shown(self._document, self.metas, self.titles, self)

    @cached_property
    def _links(self) -> Mapping[str, list[str]]:
        links: dict[str, list[str]] = {}
        for link in self._document.root.iter("link"):
            rels = LINK_RELS & set((link.get("rel") or "").lower().split())
            address = self._document.absolute(link.get("href") or "") if rels else None
            kind = (link.get("type") or "").partition(";")[0].strip().lower()
            for rel in rels if address else ():
                links.setdefault(f"{rel} {kind}".strip(), []).append(str(address))
        return links

    @cached_property
    def _coins(self) -> Mapping[str, list[str]]:
        """The page's COinS, if it has one: many describe the works that it cites or lists."""
        spans = {span.get("title") for span in self._document.root.xpath("//span[@title][contains(@class,'Z3988')]")}
        if len(spans) != 1:
            return {}
        coins: dict[str, list[str]] = {}
        try:
            for key, value in parse_qsl(spans.pop(), max_num_fields=1000):
                coins.setdefault(key, []).append(value)
        except ValueError:
            return {}
        if "rft.au" not in coins and "rft.aulast" in coins:
            coins["rft.au"] = [" ".join([*coins.get("rft.aufirst", [])[:1], coins["rft.aulast"][0]])]
        return coins

    def _described(self, path: str) -> tuple[list[str], str]:
        if path in {"pdf", "xml"}:
            return self.described.files(path), f"ld:{path}"
        if path == "title":
            return self._ld_title()
        texts, syntax = self.described.found(path)
        return texts, f"{syntax}:{path}"

    def _ld_title(self) -> tuple[list[str], str]:
        """`headline`, unless only `name` is what the page shows (Wikipedia's headline is a description)."""
        headline, syntax = self.described.found("headline")
        name, name_syntax = self.described.found("name")
        shown = " ".join((self.titles.title or "", *self.titles.headings)).casefold()
        agrees = [bool(texts) and (line(texts[0]) or "\0").casefold() in shown for texts in (headline, name)]
        if not headline or agrees == [False, True]:
            return name, f"{name_syntax}:name"
        return headline, f"{syntax}:headline"


def _metas(document: Document) -> dict[str, list[str]]:
    metas: dict[str, list[str]] = {}
    for meta in document.metas:
        name = meta.name.replace(":", ".")
        if meta.attribute == "itemprop" and not name.startswith(_ITEMPROPS):
            name = f"itemprop.{name}"
        if meta.attribute == "http-equiv" and name != "content-language":
            continue
        scheme = (meta.scheme or "").lower().rpartition(".")[2]
        if scheme in _SCHEMES and name in {"dc.identifier", "dcterms.identifier"}:
            metas.setdefault(f"dc.identifier.{scheme}", []).append(meta.content)
        values = metas.setdefault(name, [])
        if len(values) < MAX_VALUES:
            values.append(meta.content)
    # A list of other articles gives each its itemprop; a page's own stands once.
    return {name: values for name, values in metas.items() if len(set(values)) == 1 or not name.startswith("itemprop.")}


def _orcids(document: Document) -> dict[str, str]:
    """ORCID iD by the author's name as the meta gives it: citation_author_orcid follows its citation_author."""
    known: dict[str, str] = {}
    author = None
    for meta in document.metas:
        if meta.name == "citation_author":
            author = line(meta.content)
        elif meta.name == "citation_author_orcid" and author and (orcid := identifiers.orcid(meta.content)):
            known.setdefault(author, orcid)
    return known
