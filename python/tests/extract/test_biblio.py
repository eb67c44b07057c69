"""The table of fields, and how values are read."""

import re

import pytest

from sandcrawler.extract import biblio, document
from sandcrawler.extract.biblio import citation, derived, fields, values
from sandcrawler.extract.biblio.languages import language
from sandcrawler.extract.biblio.shown import SHOWN
from sandcrawler.extract.biblio.sources import LINK_RELS
from sandcrawler.model import Biblio, Page

DERIVED = {"release_date", "release_year", "release_type", "release_stage", "orcids"}
SOURCES = [source for row in fields.FIELDS.values() for source in row.sources] + [
    *derived.DATES,
    *derived.TYPE_SOURCES,
    *derived.TYPE_SIGNS,
    *derived.STAGE_SOURCES,
]


def extract(head: str, body: str = "") -> tuple[Biblio, dict[str, str]]:
    html = f"<html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    return biblio.extract_biblio(document.parse(Page(html.encode(), "https://journal.example.org/a/1", "text/html")))


def test_every_field_has_its_row() -> None:
    assert set(fields.FIELDS) | DERIVED == set(Biblio.model_fields)


@pytest.mark.parametrize("source", sorted(set(SOURCES)))
def test_every_source_can_be_read(source: str) -> None:
    kind, mark, rest = source.partition(":")
    if not mark:
        assert re.fullmatch(r"[a-z][a-z0-9_.-]*", source)  # metas are compared in lower case, with points
    elif kind == "html":
        assert rest in SHOWN
    elif kind == "link":
        assert rest.partition(" ")[0] in LINK_RELS
    else:
        assert kind in {"ld", "coins"}


def test_the_order_of_the_table_decides_and_the_source_is_told() -> None:
    found, sources = extract(
        '<meta name="DC.title" content="second"><meta name="citation_title" content=" ">'
        '<meta property="og:title" content="third">'
    )
    assert (found.title, sources["title"]) == ("second", "dc.title")


def test_names_come_from_one_source_in_its_order() -> None:
    found, sources = extract(
        '<meta name="dc.creator" content="Alone, Per"><meta name="citation_author" content="Zorn, B.">'
        '<meta name="citation_author" content="Abel, A."><meta name="citation_author" content="">'
    )
    assert found.contrib_names == ("Zorn, B.", "Abel, A.")
    assert sources["contrib_names"] == "citation_author"


def test_a_later_source_adds_the_day_of_the_same_year_only() -> None:
    month = '<meta name="citation_publication_date" content="2021/08">'
    assert extract(month + '<meta name="dc.date" content="2021-07-15">')[0].release_date == "2021-07-15"
    assert extract(month + '<meta name="dc.date" content="2020-07-15">')[0].release_date is None
    assert extract(month + '<meta name="dc.date" content="2021-01-01">')[0].release_date is None
    assert extract(month + '<meta name="dc.date" content="2020-07-15">')[0].release_year == 2021


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" a\n b ", "a b"),
        ("AT&amp;amp;T &#8211; &lt;i&gt;x&lt;/i&gt;", "AT&T – x"),
        ("H<sub>2</sub>O<br>and <jats:italic>E. coli</jats:italic>", "H2O and E. coli"),
        ("p < 0.05 and x<y and y>z", "p < 0.05 and x<y and y>z"),
        ("a<script>alert(1)</script>b<!-- c -->d", "a b d"),
        ("soft\u00adhyphen zero\u200bwidth e\u0301", "softhyphen zerowidth é"),
        ("bell\x07 \ud800half", "bell half"),
        ("&copy=1 &nosuch; &#xD800;", "&copy=1 &nosuch; \ufffd"),
        ("{{title}}", None),
        ("${title}", None),
        ("undefined", None),
        ("N/A", None),
        ("---", None),
        ("", None),
    ],
)
def test_line(text: str, expected: str | None) -> None:
    assert values.line(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("en-US", "en"),
        ("EN", "en"),
        ("pt_BR", "pt"),
        ("zh-Hant-TW", "zh"),
        ("eng", "en"),
        ("ger", "de"),
        ("English", "en"),
        ("Español", "es"),
        ("de, en", "de"),
        ("und", None),
        ("x-default", None),
        ("zz", None),
        ("mul", None),
        ("", None),
        ("Klingonese", None),
    ],
)
def test_language(text: str, expected: str | None) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (" Ruiz  Cano, Ana ", ("Ruiz Cano, Ana",)),
        ("Ruiz, Ana; Ode, Per;", ("Ruiz, Ana", "Ode, Per")),
        ("Ana Ruiz|Per Ode", ("Ana Ruiz", "Per Ode")),
        ("By Ana Ruiz*", ("Ana Ruiz",)),
        ("Ode, Per, 1970-", ("Ode, Per",)),
        ("Ode, Per (author)", ("Ode, Per",)),
        ("Ode, Per [0000-0002-1825-0097]", ("Ode, Per",)),
        ("O&amp;#39;Neill, N&eacute;", ("O'Neill, Né",)),
        ("山田 太郎", ("山田 太郎",)),
        ("https://www.facebook.com/x", None),
        ("someone@example.org", None),
        ("admin", None),
        ("; ;", None),
        ("123", None),
    ],
)
def test_names(text: str, names: tuple[str, ...] | None) -> None:
    assert values.names(text) == names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fen Physics, Vol. 111, No. 16-17, August 2013, pp. 2399–2407", ("111", "16-17", "2399–2407")),
        ("Revue des Marais, 2007, 12 (3), pp.17-31", ("12", "3", "17-31")),
        ("Metabolites 2014, Vol. 4, Pages 932-945", ("4", None, "932-945")),
        ("Nature 2021 596:7873", (None, None, None)),
        ("10.5555/vol.1", (None, None, None)),
    ],
)
def test_citation(text: str, parts: tuple[str | None, ...]) -> None:
    assert tuple(citation.part(text, name) for name in ("volume", "issue", "pages")) == parts


@pytest.mark.parametrize(
    ("text", "container"),
    [
        ("Shore Notes; Vol. 3 (2020): 1-10", "Shore Notes"),
        ("Nature 2021 596:7873", "Nature"),
        ("Metabolites 2014, Vol. 4, Pages 932-945", "Metabolites"),
        ("Trials 2014 15:511", "Trials"),
        ("2D Materials", "2D Materials"),
        ("Journal of the 1960s", "Journal of the 1960s"),
        ("https://doi.org/10.5555/1", None),
        ("10.5555/1", None),
        ("ISSN: 1234-5679", None),
        ("17;22;2008", None),
    ],
)
def test_container(text: str, container: str | None) -> None:
    assert values.container(text) == container


@pytest.mark.parametrize(
    ("text", "first", "pages"),
    [
        ("123-145", "123", "123-145"),
        ("pp. 123–145", "123", "123-145"),
        ("S1--S9", "S1", "S1-S9"),
        ("xi-xxiv", "xi", "xi-xxiv"),
        ("e5", "e5", None),
        ("041027", "041027", None),
        ("2020-04-01", "2020-04-01", None),
        ("0", None, None),
        ("n/a", None, None),
    ],
)
def test_pages(text: str, first: str | None, pages: str | None) -> None:
    assert (values.page(text), values.pages(text)) == (first, pages)


def test_links_are_absolute_without_fragment_and_never_a_front_door() -> None:
    found, _ = extract('<base href="/b/"><meta name="citation_pdf_url" content=" a.pdf?x=1&amp;amp;copy=2#page=3 ">')
    assert found.pdf_fulltext_url == "https://journal.example.org/b/a.pdf?x=1&copy=2"
    assert extract('<meta name="citation_pdf_url" content="https://journal.example.org/">')[0].pdf_fulltext_url is None
    assert extract('<meta name="citation_pdf_url" content="javascript:open()">')[0].pdf_fulltext_url is None


def test_exports_and_feeds_are_no_full_text() -> None:
    head = "".join(
        f'<link rel="alternate" type="{kind}" href="/{name}" title="{title}">'
        for kind, name, title in [
            ("application/rss+xml", "feed.xml", "Feed"),
            ("text/xml", "oai?verb=GetRecord", "OAI"),
            ("text/xml", "x.xml", "MODS"),
            ("text/xml+oembed", "oembed", ""),
            ("text/xml", "articles/4.xml", "XML version"),
        ]
    )
    assert extract(head)[0].xml_fulltext_url == "https://journal.example.org/articles/4.xml"
