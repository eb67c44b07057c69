"""Links to better documents: waiting pages, and full texts in three forms."""

import pytest

from sandcrawler.extract.document import parse
from sandcrawler.extract.html import extract_html, extract_pdf_link, extract_xml_link
from sandcrawler.extract.links import FINDERS, find_follow
from sandcrawler.extract.platform import find_platform
from sandcrawler.extract.refresh import find_refresh
from sandcrawler.model import Biblio, Follow, Page
from tests.extract.pages import ABSTRACT, HEADLINE, metas, page, prose

HOST = "https://journal.example.org"
URL = f"{HOST}/index.php/sb/article/view/7"


def refresh(meta: str, before: str = "") -> str | None:
    markup = f"<html><head>{before}{meta}</head><body>Wait.</body></html>".encode()
    found = find_refresh(parse(Page(markup, f"{HOST}/doi/12", "text/html")))
    return found.url if found else None


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ('<meta http-equiv="refresh" content="0; url=/full/12">', "/full/12"),
        ("<META CONTENT='3;URL=\"/full/12\"' HTTP-EQUIV=Refresh>", "/full/12"),
        ('<meta http-equiv="refresh" content="0;url=&#39;/a?b=1&amp;c=2&#39;">', "/a?b=1&c=2"),
        ('<meta http-equiv="refresh" content="1, /full/12">', "/full/12"),
        ('<meta http-equiv="refresh" content="0; full">', "/doi/full"),
        ('<meta http-equiv="refresh" content="31; url=/full/12">', None),
        ('<meta http-equiv="refresh" content="5">', None),
        ('<meta http-equiv="refresh" content="0; url=/doi/12#x">', None),
        ('<meta http-equiv="refresh" content="0; url=javascript:go()">', None),
        ('<!-- <meta http-equiv="refresh" content="0; url=/no"> -->', None),
        ('<script>\'<meta http-equiv="refresh" content="0; url=/no">\'</script>', None),
        ('<noscript><meta http-equiv="refresh" content="0; url=/no"></noscript>', None),
        ('<meta name="refresh" content="0; url=/no">', None),
    ],
)
def test_meta_refresh(meta: str, expected: str | None) -> None:
    assert refresh(meta) == (expected and HOST + expected)


def test_a_refresh_resolves_against_the_base() -> None:
    base = '<base href="/pub/">'
    assert refresh('<meta http-equiv="refresh" content="0;url=../full/12">', base) == f"{HOST}/full/12"


def test_a_waiting_page_is_no_document() -> None:
    answer = extract_html(Page(page("", '<meta http-equiv="refresh" content="2; url=/full">' + metas()), URL))
    assert answer.follow == Follow(f"{HOST}/full", "meta-refresh")
    assert answer.html_biblio is None
    assert answer.body is None


def follow(kind: str, body: str, head: str = "", biblio: Biblio | None = None) -> tuple[str, str] | None:
    document = parse(Page(page(body, head), URL, "text/html"))
    found = find_follow(document, biblio or Biblio(), find_platform(document), kind)
    return (found.url.removeprefix(HOST), found.technique) if found else None


GALLEYS = (
    '<a class="obj_galley_link file" href="/view/7/12">HTML</a><a class="obj_galley_link pdf" href="/view/7/11">PDF</a>'
    '<a class="obj_galley_link xml" href="/view/7/13">XML</a>'
)


@pytest.mark.parametrize(
    ("kind", "body", "head", "expected"),
    [
        (
            "html",
            "",
            '<meta name="citation_fulltext_html_url" content="/full/7">',
            ("/full/7", "citation_fulltext_html_url"),
        ),
        (
            "html",
            "<iframe name='htmlFrame' src='/download/7/12?inline=1'></iframe>",
            "",
            ("/download/7/12?inline=1", "ojs-html-iframe"),
        ),
        ("html", GALLEYS, "", ("/view/7/12", "ojs-html-galley")),
        ("pdf", GALLEYS, "", ("/view/7/11", "ojs-pdf-galley")),
        ("xml", GALLEYS, "", ("/view/7/13", "ojs-xml-galley")),
        (
            "xml",
            "",
            '<meta name="citation_xml_url" content="a.xml">',
            ("/index.php/sb/article/view/a.xml", "citation_xml_url"),
        ),
        ("xml", "", '<link rel="alternate" type="application/jats+xml" href="/a.xml">', ("/a.xml", "link-alternate")),
        ("xml", "", '<link rel="alternate" type="application/xml" href="/feed.rss">', None),
        (
            "xml",
            "<a target='xml' href='/scielo.php?script=articleXML'>x</a>",
            "",
            ("/scielo.php?script=articleXML", "scielo-xml"),
        ),
        ("xml", "<a href='/7.xml'> XML </a>", "", ("/7.xml", "labelled-xml")),
        ("pdf", "", '<meta name="citation_pdf_url" content="/7.pdf">', ("/7.pdf", "citation_pdf_url")),
        ("pdf", "<embed type='application/pdf' src='/7.pdf'>", "", ("/7.pdf", "embedded-pdf")),
        ("pdf", "<a href='/download/7'>Download PDF</a>", "", ("/download/7", "labelled-pdf")),
        ("pdf", "<a href='javascript:pdf()'>PDF</a>", "", None),
        ("pdf", f"<a href='{URL}#pdf'>PDF</a>", "", None),
        ("html", "", f'<meta name="citation_fulltext_html_url" content="{URL}/">', None),
        ("html", "", '<meta name="citation_fulltext_html_url" content="about:blank">', None),
        ("html", "", '<meta name="citation_fulltext_html_url" content="https://doi.org/10.5555/1">', None),
    ],
)
def test_full_text_links(kind: str, body: str, head: str, expected: tuple[str, str] | None) -> None:
    assert follow(kind, body, head) == expected


def test_the_bibliography_names_links_too() -> None:
    assert follow("pdf", "", biblio=Biblio(pdf_fulltext_url=f"{HOST}/7.pdf")) == ("/7.pdf", "pdf-fulltext-url")


def test_landing_pages_are_followed_and_full_texts_are_not() -> None:
    head = metas(fulltext_html_url="/full/7", doi="10.5555/7")
    landing = extract_html(Page(page(HEADLINE + ABSTRACT, head), URL))
    assert landing.follow == Follow(f"{HOST}/full/7", "citation_fulltext_html_url")
    assert landing.html_biblio is not None
    assert extract_html(Page(page(HEADLINE + prose(1500), head), URL)).follow is None


def test_xml_and_pdf_links_come_with_the_bibliography() -> None:
    markup = page(HEADLINE, metas(pdf_url="/7.pdf", xml_url="/7.xml"))
    assert (answer := extract_pdf_link(Page(markup, URL))).follow == Follow(f"{HOST}/7.pdf", "citation_pdf_url")
    assert answer.html_biblio is not None
    assert answer.html_biblio.title == "Nests above the tide line"
    assert extract_xml_link(Page(markup, URL)).follow == Follow(f"{HOST}/7.xml", "citation_xml_url")
    assert extract_xml_link(Page(page(HEADLINE), URL)).follow is None


def test_a_wall_names_no_links() -> None:
    wall = page("<h1>Log in</h1><form><input type=password></form><a href='/7.pdf'>PDF</a>", title="Log in")
    assert extract_pdf_link(Page(wall, f"{HOST}/login")).follow is None


def test_techniques_are_named_once_for_a_type() -> None:
    for finders in FINDERS.values():
        names = [finder.technique for finder in finders]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("head", "url", "expected"),
    [
        ('<meta name="generator" content="Open Journal Systems 3.3.0.8">', HOST, "ojs3"),
        ('<meta name="generator" content="Open Journal Systems 2.4.8">', HOST, "ojs"),
        ('<meta name="generator" content="Plone - http://plone.org">', HOST, "plone"),
        ('<meta name="Generator" content="Drupal 9 (https://www.drupal.org)">', HOST, "drupal"),
        ('<meta name="generator" content="Joomla! - Open Source">', HOST, "joomla"),
        ('<script src="/wp-content/themes/x.js"></script>', HOST, "wordpress"),
        ('<meta name="bepress_citation_title" content="x">', HOST, "digital-commons"),
        ('<meta name="eprints.title" content="x">', HOST, "eprints"),
        ("", "https://nests.blogspot.com/2020/01/a.html", "blogger"),
        ("", "http://www.scielo.br/scielo.php?script=sci_arttext", "scielo"),
        ("", "https://distill.pub/2020/nests/", "distill"),
        ("", "https://nests.pubpub.org/pub/1", "pubpub"),
        ("", "https://zookeys.pensoft.net/article/1/", "arpha"),
        ("", HOST, None),
    ],
)
def test_platform(head: str, url: str, expected: str | None) -> None:
    assert find_platform(parse(Page(page(HEADLINE, head), url))) == expected
