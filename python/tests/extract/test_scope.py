"""What pages are, kind by kind: each row is a page that we wrote as such a site writes it."""

from typing import NamedTuple

import pytest

from sandcrawler.extract.html import extract_html
from sandcrawler.model import Page
from sandcrawler.status import HIDING, Scope
from tests.extract.pages import ABSTRACT, HEADLINE, metas, page, prose, references, sections

HOST = "https://journal.example.org"
DOI = {"doi": "10.5555/nest.1"}
BUY = "<div><a href='/cart'>Purchase PDF</a> <a href='/sso'>Access through your institution</a></div>"
CAPTIONS = "".join(
    f"<figure><img src='f{i}.png'><figcaption>Figure {i}. {prose(90)}</figcaption></figure>" for i in range(14)
)
IMRAD = ("Introduction", "Materials and Methods", "Results", "Discussion")
LABELLED = "".join(f"<p><b>{name}</b></p>{prose(200)}" for name in IMRAD)
CHINESE = "沿海鸟群每年春天步行计数，每个巢穴记录一次其位置以及高出潮线的高度和卵的数量，两天后由第二组重复计数。" * 40
TOC = "<h1>Vol. 7 No. 2</h1>" + "".join(
    f"<p><a href='/article/view/{i}'>Nests, part {i}</a> Lena Marek</p>" for i in range(9)
)
OJS3 = '<meta name="generator" content="Open Journal Systems 3.3.0.8">'
WIKI = '<meta name="generator" content="MediaWiki 1.43">'


class Row(NamedTuple):
    name: str
    path: str
    body: bytes
    scope: Scope


FULL, ABOUT = Scope.ARTICLE_FULLTEXT, Scope.ARTICLE_ABSTRACT
ROWS = (
    # Full texts.
    Row("usual sections", "/a/1", page(HEADLINE + ABSTRACT + sections(*IMRAD) + references(9), metas(**DOI)), FULL),
    Row(
        "sections of other languages",
        "/a/2",
        page(HEADLINE + sections("Einleitung", "Methoden", "Ergebnisse"), metas()),
        FULL,
    ),
    Row(
        "numbered sections",
        "/a/3",
        page(HEADLINE + sections("1. Introducción", "2. Métodos", "3. Resultados"), metas()),
        FULL,
    ),
    Row("headings that are bold lines", "/a/4", page("<center><b>Nests</b></center>" + LABELLED), FULL),
    Row("an essay without sections", "/essay.html", page(HEADLINE + prose(1500)), FULL),
    Row("no metas at all", "/vol3/nests.htm", page(HEADLINE + sections(*IMRAD)), FULL),
    Row("OJS: the HTML galley", "/index.php/sb/article/view/7/12", page(HEADLINE + sections(*IMRAD), OJS3), FULL),
    Row("OJS: a short galley", "/index.php/sb/article/view/7/12", page(HEADLINE + prose(240), OJS3), FULL),
    Row("an editorial", "/e/1", page(HEADLINE + prose(320), metas(**DOI)), FULL),
    Row(
        "a letter with its PDF beside it",
        "/e/2",
        page(HEADLINE + prose(320) + "<a href='/e/2.pdf'>PDF</a>", metas(**DOI)),
        FULL,
    ),
    Row(
        "a post of a blog",
        "/2020/nests",
        page(HEADLINE + prose(600), '<meta name="generator" content="WordPress 6">'),
        FULL,
    ),
    Row("Chinese", "/a/5", page(f"<h1>鸟巢</h1><p>{CHINESE}</p>", metas()), FULL),
    Row(
        "about captchas and paywalls",
        "/a/6",
        page(
            HEADLINE + "<p>Why a captcha says Just a moment, and you do not have access.</p>" + sections(*IMRAD),
            metas(),
        ),
        FULL,
    ),
    Row(
        "about pages not found",
        "/a/7",
        page("<h1>404: page not found</h1>" + sections(*IMRAD), metas(), "Page not found: a study of 404"),
        FULL,
    ),
    # Pages about an article.
    Row("an abstract page", "/a/1/abs", page(HEADLINE + ABSTRACT, metas(**DOI)), ABOUT),
    Row(
        "with long figure captions",
        "/abstract/1",
        page(HEADLINE + ABSTRACT + CAPTIONS + references(40), metas(**DOI)),
        ABOUT,
    ),
    Row("with references", "/a/1", page(HEADLINE + ABSTRACT + references(60), metas(**DOI)), ABOUT),
    Row(
        "a structured abstract",
        "/a/1",
        page(
            HEADLINE
            + "<div class='abstract'><h2>Abstract</h2>"
            + sections("Background", "Methods", "Results", words=60, level=3)
            + "</div>",
            metas(**DOI),
        ),
        ABOUT,
    ),
    Row("with access buttons", "/a/1", page(HEADLINE + ABSTRACT + BUY, metas(**DOI)), ABOUT),
    Row(
        "OJS landing page",
        "/index.php/sb/article/view/7",
        page(
            HEADLINE
            + f"<section class='item abstract'><h2>Abstract</h2>{prose(150)}</section>"
            + "<a class='obj_galley_link pdf' href='/index.php/sb/article/view/7/11'>PDF</a>",
            metas() + OJS3,
        ),
        ABOUT,
    ),
    Row(
        "citation and PDF alone",
        "/p/1",
        page(HEADLINE + "<a href='/p/1.pdf'>PDF</a>", metas(pdf_url="/p/1.pdf")),
        Scope.LANDINGPAGE,
    ),
    Row(
        "a data package",
        "/handle/10255/dryad.7",
        page(
            HEADLINE + "<p>Abstract</p>" + prose(120) + "<a href='/bitstream/1/data.xls'>data.xls</a>",
            '<meta name="generator" content="DSpace 6">',
        ),
        Scope.LANDINGPAGE,
    ),
    Row(
        "a paywall without an abstract",
        "/a/1",
        page(HEADLINE + BUY + "<p>You do not have access to this article.</p>"),
        Scope.BLOCKED_PAYWALL,
    ),
    # Walls.
    Row(
        "Cloudflare",
        "/a/1",
        page(
            "<h2>Checking your browser before accessing the site.</h2>",
            "<script src='/cdn-cgi/challenge-platform/h/b.js'></script>",
            "Just a moment...",
        ),
        Scope.BLOCKED_CAPTCHA,
    ),
    Row(
        "Incapsula",
        "/a/1",
        b"<html><body><iframe src='/_Incapsula_Resource?S=1'>Request unsuccessful.</iframe></body></html>",
        Scope.BLOCKED_CAPTCHA,
    ),
    Row(
        "a puzzle",
        "/a/1",
        page("<h1>One more step</h1><p>Please complete the security check.</p><div class='g-recaptcha'></div>"),
        Scope.BLOCKED_CAPTCHA,
    ),
    Row(
        "Akamai",
        "/a/1",
        b"<html><head><title>Access Denied</title></head><body><h1>Access Denied</h1>"
        b"You don't have permission to access this server. Reference #18.1</body></html>",
        Scope.BLOCKED_FORBIDDEN,
    ),
    Row(
        "blocked by Cloudflare",
        "/a/1",
        page(
            "<h1>Sorry, you have been blocked</h1><p>You are unable to access example.org</p>",
            title="Attention Required! | Cloudflare",
        ),
        Scope.BLOCKED_FORBIDDEN,
    ),
    Row("cookieAbsent", "/action/cookieAbsent", page(HEADLINE + prose(400)), Scope.BLOCKED_COOKIE),
    Row(
        "cookies are disabled",
        "/a/1",
        page("<h1>Cookies</h1><p>Your browser must accept cookies to view this site. Please enable cookies.</p>"),
        Scope.BLOCKED_COOKIE,
    ),
    Row(
        "consent",
        "/a/1",
        page(f"<h1>Before you continue</h1>{prose(200)}<button>Accept all</button>", title="Before you continue"),
        Scope.BLOCKED_COOKIE,
    ),
    Row(
        "login",
        "/login?back=1",
        page(
            "<h1>Log in</h1><form><input name='u'><input type='password' name='p'></form>", title="Log in | Shore Birds"
        ),
        Scope.BLOCKED_LOGIN,
    ),
    Row(
        "login in another language",
        "/anmelden",
        page("<h1>Anmeldung</h1><form><input type=password></form>", title="Anmelden"),
        Scope.BLOCKED_LOGIN,
    ),
    # The rest.
    Row(
        "a soft 404",
        "/a/9",
        page(
            "<h1>Page not found</h1><p>The page you are looking for may have been moved.</p>",
            title="Page not found - Shore Birds",
        ),
        Scope.ERRORPAGE,
    ),
    Row(
        "a soft 404 in Spanish",
        "/a/9",
        page("<h1>Página no encontrada</h1><p>Vuelva al inicio.</p>", title="Error 404"),
        Scope.ERRORPAGE,
    ),
    Row(
        "a broken server",
        "/a/9",
        page("<h1>Internal Server Error</h1><p>An error has occurred.</p>", title="500"),
        Scope.ERRORPAGE,
    ),
    Row("the home page of a journal", "/index.php/sb", page("<h1>Shore Birds</h1>" + prose(300), OJS3), Scope.OTHER),
    Row("a wiki", "/wiki/Nest", page(HEADLINE + prose(1500), WIKI), Scope.OTHER),
    Row("a table of contents", "/index.php/sb/issue/view/3", page(TOC, OJS3), Scope.OTHER),
    Row("the home page of a site", "/", page("<h1>Shore Birds</h1>" + prose(200)), Scope.HOMEPAGE_DOMAIN),
    Row("next to nothing", "/a/1", b"<html><body><p>Moved.</p></body></html>", Scope.STUB),
    Row("nothing", "/a/1", b"", Scope.STUB),
    Row("a frameset", "/index.htm", b"<html><frameset><frame src='a.htm'></frameset></html>", Scope.STUB),
    Row(
        "a little text",
        "/a/1",
        b"<html><body><article><h1>Nests</h1>" + prose(100).encode() + b"</article></body></html>",
        Scope.UNKNOWN,
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_scope(row: Row) -> None:
    assert extract_html(Page(row.body, HOST + row.path, "text/html; charset=utf-8")).scope is row.scope


@pytest.mark.parametrize("row", [row for row in ROWS if row.scope in HIDING], ids=lambda row: row.name)
def test_what_hides_an_article_has_no_bibliography_and_no_text(row: Row) -> None:
    answer = extract_html(Page(row.body, HOST + row.path, "text/html"))
    assert answer.html_biblio is None
    assert answer.body is None
    assert answer.follow is None
