"""Bibliography of a TEI document, from its header (P5 and P4): field → where it stands, in order.

What a text is a rendering of (<sourceDesc>) knows authors and journal best; its own title statement comes next.
"""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from sandcrawler.extract import dates, identifiers
from sandcrawler.extract.xml.nodes import XML_LANG, Fields, child, children, every, language, text
from sandcrawler.model import Biblio

NOISE = frozenset({"note", "email", "idno", "affiliation", "ptr", "graphic"})
_NAMES = ("persName", "name", "orgName")


def read(document: Element) -> Biblio:
    """The bibliography of a <TEI>, <TEI.2> or <teiCorpus>."""
    header = child(document, "teiHeader")
    file = child(header, "fileDesc")
    source = child(file, "sourceDesc", "biblStruct")
    if source is None:
        source = child(file, "sourceDesc", "biblFull")
    article = child(source, "analytic")
    book = child(source, "monogr")
    statement = child(file, "titleStmt")
    people = list(_authors(article)) or list(_authors(statement)) or list(_authors(book))
    titles = [*children(statement, "title"), *children(article, "title")]
    journal = _journal(book, article)
    return Biblio(
        title=text(_typed(titles, {"main", "a"}), NOISE) or text(next(iter(titles), None), NOISE),
        subtitle=text(next((one for one in titles if (one.get("type") or "").startswith("sub")), None), NOISE),
        contrib_names=tuple(people) or None,
        **_identifiers(file, article, source),
        container_name=text(journal, NOISE),
        publisher=text(child(book, "imprint", "publisher")) or text(child(file, "publicationStmt", "publisher")),
        **_place(book),
        **_date(book, file),
        lang=_language(document, header),
        abstract=text(child(header, "profileDesc", "abstract")),
        keywords=_keywords(header),
        license=_license(file),
    )


def _typed(titles: list[Element], kinds: set[str]) -> Element | None:
    wanted = (one for one in titles if one.get("type") == "main" or one.get("level") in kinds)
    return next((one for one in wanted if text(one)), None)


def _journal(book: Element | None, article: Element | None) -> Element | None:
    """What the text appeared in: a journal's title, or the title of the book that an article is part of."""
    titles = [*children(book, "title")]
    journal = next((one for one in titles if one.get("level") == "j"), None)
    return journal if journal is not None or article is None else next(iter(titles), None)


def _authors(part: Element | None) -> Iterator[str]:
    for author in children(part, "author"):
        names = [*children(author, *_NAMES)] or [author]
        yield from filter(None, map(_name, names[:1]))


def _name(name: Element) -> str | None:
    given = [text(one) for one in name.iter("{*}forename")]
    family = [text(one) for one in name.iter("{*}surname")]
    return " ".join(filter(None, (*given, *family))) or text(name, NOISE)


def _identifiers(file: Element | None, article: Element | None, source: Element | None) -> Fields:
    places = (
        article,
        source,
        child(source, "monogr"),
        child(file, "publicationStmt"),
        child(file, "sourceDesc", "bibl"),
    )
    idnos = [one for place in places for one in children(place, "idno")]
    found: Fields = {}
    for field, kinds, form in (
        ("doi", ("doi",), identifiers.doi),
        ("pmid", ("pmid",), identifiers.pmid),
        ("pmcid", ("pmcid", "pmc"), identifiers.pmcid),
        ("arxiv_id", ("arxiv",), identifiers.arxiv),
        ("isbn", ("isbn",), identifiers.isbn),
        ("container_issn", ("eissn", "issn", "issnl"), identifiers.issn),
    ):
        texts = (text(one) for kind in kinds for one in idnos if (one.get("type") or "").lower() == kind)
        found[field] = next(filter(None, (form(value) for value in texts if value)), None)
    return found


def _place(book: Element | None) -> Fields:
    scopes = {
        (one.get("unit") or one.get("type") or "").lower(): one
        for one in [*every(book, "imprint", "biblScope"), *children(book, "biblScope")]
    }
    page = next((scopes[unit] for unit in ("page", "pp", "pages") if unit in scopes), None)
    first, last = (page.get("from"), page.get("to")) if page is not None else (None, None)
    volume = next((scopes[unit] for unit in ("volume", "vol") if unit in scopes), None)
    issue = next((scopes[unit] for unit in ("issue", "no") if unit in scopes), None)
    span = f"{first}-{last}" if first and last else None
    return {
        "volume": text(volume),
        "issue": text(issue),
        "pages": span or text(page),
        "first_page": first,
        "last_page": last,
    }


def _date(book: Element | None, file: Element | None) -> Fields:
    for one in (*every(book, "imprint", "date"), *every(file, "publicationStmt", "date")):
        said = one.get("when") or one.get("value") or text(one)
        date = dates.parse_date(said) if said else None
        if date is not None:
            return {"release_date": date.iso, "release_year": date.year}
    return {"release_date": None, "release_year": None}


def _language(document: Element, header: Element | None) -> str | None:
    used = [one.get("ident") or one.get("id") for one in every(header, "profileDesc", "langUsage", "language")]
    body = child(document, "text")
    said = [body.get(XML_LANG) or body.get("lang") if body is not None else None, *used[:1], document.get(XML_LANG)]
    return next(filter(None, map(language, said)), None)


def _keywords(header: Element | None) -> tuple[str, ...] | None:
    words = child(header, "profileDesc", "textClass", "keywords")
    if words is None:
        return None
    terms = [*words.iter("{*}term")] or [*words.iter("{*}item")]
    return tuple(filter(None, map(text, terms))) or None


def _license(file: Element | None) -> str | None:
    availability = child(file, "publicationStmt", "availability")
    if availability is None:
        return None
    targets = (one.get("target") for one in availability.iter("{*}licence", "{*}license", "{*}ref"))
    return next((one for one in targets if one and "://" in one), None)
