"""Bibliography of a JATS or NLM article, from its <front>: field → where it stands, in order.

Titles keep the text of their mark-up (H<sub>2</sub>O) and lose their notes. Names are those of the article's own
authors, in document order, "Given Family"; members of a group author, editors and translators are no authors.
"""

from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from sandcrawler.extract import identifiers
from sandcrawler.extract.biblio.values import licence
from sandcrawler.extract.xml import jats_dates, jats_people
from sandcrawler.extract.xml.jats_people import NOISE, NOISE_AND_MARKS
from sandcrawler.extract.xml.nodes import (
    XLINK_HREF,
    XML_LANG,
    Fields,
    child,
    children,
    every,
    has_words,
    language,
    local_name,
    text,
)
from sandcrawler.model import Biblio

MAX_PEOPLE = 20_000  # the largest collaborations have five thousand
MAX_KEYWORDS = 1000


# article-type (JATS' suggested values, and publishers' own) → fatcat's release_type.
RELEASE_TYPES = {
    "research-article": "article-journal", "article": "article-journal", "review-article": "review",
    "brief-report": "article-journal", "rapid-communication": "article-journal", "case-report": "article-journal",
    "systematic-review": "review", "book-review": "review-book", "editorial": "editorial", "letter": "letter",
    "reply": "letter", "discussion": "letter", "abstract": "abstract", "meeting-report": "article-journal",
    "retraction": "retraction", "preprint": "article", "data-paper": "article-journal",
}  # fmt: skip
# Abstracts for other readers than the article's.
_SPECIAL_ABSTRACTS = frozenset(
    {"graphical", "teaser", "toc", "executive-summary", "editor", "highlights", "key-points", "web-summary", "precis",
     "plain-language-summary", "author-highlights", "short", "object", "video", "summary"}
)  # fmt: skip
_NO_ABSTRACT = NOISE | {"title", "label", "sec-meta"}
_NO_KEYWORDS = frozenset({"abbreviations", "abbrev", "jel", "pacs", "msc", "coi-statement"})


def read(article: Element) -> Biblio:
    """The bibliography of an <article>."""
    front = child(article, "front")
    meta = child(front, "article-meta")
    if meta is None:
        meta = child(article, "front-stub")
    journal = child(front, "journal-meta")
    people = list(islice(jats_people.authors(meta), MAX_PEOPLE))
    return Biblio(
        **_titles(meta),
        **_identifiers(meta),
        **_journal(journal),
        **_place(meta),
        **jats_dates.read(meta),
        contrib_names=tuple(name for name, _ in people) or None,
        orcids=tuple(orcid for _, orcid in people) if any(orcid for _, orcid in people) else None,
        release_type=RELEASE_TYPES.get((article.get("article-type") or "").lower()),
        lang=_language(article, meta),
        abstract=_abstract(meta),
        keywords=_keywords(article, meta),
        license=_license(meta),
        pdf_fulltext_url=_pdf(meta),
    )


def _titles(meta: Element | None) -> Fields:
    group = child(meta, "title-group")
    title = next(filter(None, map(title_text, children(group, "article-title"))), None)
    if title is None:
        title = title_text(child(group, "alt-title")) or title_text(child(group, "trans-title-group", "trans-title"))
    if title is None and group is None:
        title = title_text(child(meta, "article-title"))
    return {"title": title, "subtitle": title_text(child(group, "subtitle"))}


def title_text(title: Element | None) -> str | None:
    """A title's text without its notes and reference marks, and with one of the spellings of its formulas."""
    if title is None:
        return None
    noise = NOISE_AND_MARKS
    if any(has_words(text(xref) or "") for xref in title.iter("{*}xref")):
        noise -= {"xref"}  # a reference that is part of the sentence: "Reply to Smith (2010)"
    if next(title.iter("{*}math"), None) is not None:
        noise |= {"tex-math"}
    return text(title, noise) or text(title)


def _identifiers(meta: Element | None) -> Fields:
    found: Fields = {}
    for field, kinds, form in (
        ("doi", ("doi",), identifiers.doi),
        ("pmid", ("pmid",), identifiers.pmid),
        ("pmcid", ("pmc", "pmcid"), _pmcid),
        ("arxiv_id", ("arxiv",), identifiers.arxiv),
    ):
        texts = (text(one) for one in children(meta, "article-id") if (one.get("pub-id-type") or "").lower() in kinds)
        found[field] = next(filter(None, (form(value) for value in texts if value)), None)
    return found


def _pmcid(value: str) -> str | None:
    return identifiers.pmcid(f"PMC{value}" if value.isdigit() else value)


def _journal(journal: Element | None) -> Fields:
    group = child(journal, "journal-title-group")
    ids = {
        (one.get("journal-id-type") or "").lower(): text(one) for one in reversed([*children(journal, "journal-id")])
    }
    names = [*children(group, "journal-title"), *children(journal, "journal-title")]
    short = [*children(group, "abbrev-journal-title"), *children(journal, "abbrev-journal-title")]
    issns = [*children(journal, "issn-l"), *sorted(children(journal, "issn"), key=_issn_order)]
    return {
        "container_name": next(filter(None, map(text, names)), None),
        "container_abbrev": next(filter(None, map(text, short)), None) or ids.get("iso-abbrev") or ids.get("nlm-ta"),
        "container_issn": next(filter(None, (identifiers.issn(text(one) or "") for one in issns)), None),
        "publisher": next(filter(None, map(text, every(journal, "publisher", "publisher-name"))), None),
    }


def _issn_order(issn: Element) -> int:
    kind = f"{issn.get('pub-type')} {issn.get('publication-format')}".lower()
    return 0 if "epub" in kind or "electronic" in kind or "online" in kind else 1


def _place(meta: Element | None) -> Fields:
    first, last = text(child(meta, "fpage")), text(child(meta, "lpage"))
    span = f"{first}-{last}" if first and last and first != last else first
    return {
        "volume": text(child(meta, "volume")),
        "issue": text(child(meta, "issue")) or text(child(meta, "numero")),
        "pages": text(child(meta, "page-range")) or span or text(child(meta, "elocation-id")),
        "first_page": first,
        "last_page": last,
    }


def _language(article: Element, meta: Element | None) -> str | None:
    titles = every(meta, "title-group", "article-title")
    return language(article.get(XML_LANG)) or next((language(t.get(XML_LANG)) for t in titles if t.get(XML_LANG)), None)


def _abstract(meta: Element | None) -> str | None:
    """The first abstract for the article's own readers, without its heading."""
    for abstract in children(meta, "abstract"):
        if (abstract.get("abstract-type") or "").lower() not in _SPECIAL_ABSTRACTS:
            parts = [one for one in abstract.iterchildren(etree.Element) if local_name(one) not in _NO_ABSTRACT]
            return " ".join(filter(None, (text(one, NOISE) for one in parts))) or text(abstract, NOISE)
    return None


def _keywords(article: Element, meta: Element | None) -> tuple[str, ...] | None:
    own = language(article.get(XML_LANG))
    groups = [g for g in children(meta, "kwd-group") if (g.get("kwd-group-type") or "").lower() not in _NO_KEYWORDS]
    groups.sort(key=lambda group: language(group.get(XML_LANG)) not in {own, None})
    for group in groups:
        words = tuple(filter(None, (text(one, NOISE_AND_MARKS) for one in islice(group.iter("{*}kwd"), MAX_KEYWORDS))))
        if words:
            return words
    return None


def _license(meta: Element | None) -> str | None:
    """The licence's URL: an attribute, ali:license_ref, a link in its text, or the text itself."""
    for one in every(meta, "permissions", "license"):
        links = [one.get(XLINK_HREF), *(text(ref) for ref in children(one, "license_ref"))]
        links += [link.get(XLINK_HREF) for link in one.iter("{*}ext-link", "{*}uri")]
        found = next((link.strip() for link in links if link and "://" in link), None) or licence(text(one) or "")
        if found:
            return found
    return None


def _pdf(meta: Element | None) -> str | None:
    links = (
        one.get(XLINK_HREF) or "" for one in children(meta, "self-uri") if "pdf" in (one.get("content-type") or "")
    )
    return next((link for link in links if link.startswith(("http://", "https://"))), None)
