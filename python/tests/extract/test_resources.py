"""Sub-resources: what is listed, in which order, and what the rules filter."""

import time

import pytest

from sandcrawler.extract.document import parse
from sandcrawler.extract.resources import ResourceRules, default_rules, list_resources, srcset_urls
from sandcrawler.extract.stylesheets import css_resources
from sandcrawler.extract.urls import resolve, same_page
from sandcrawler.model import Page

URL = "https://journal.example.org/v/1/full"


def listed(body: str, head: str = "", rules: ResourceRules | None = None) -> list[tuple[str, str]]:
    markup = f"<html><head>{head}</head><body>{body}</body></html>".encode()
    wanted, _ = list_resources(parse(Page(markup, URL, "text/html; charset=utf-8")), rules or default_rules())
    return [(one.url.removeprefix("https://journal.example.org"), one.resource_type) for one in wanted]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<script src="/a.js"></script>', [("/a.js", "script")]),
        ('<link rel="Alternate StyleSheet" href="/a.css">', [("/a.css", "stylesheet")]),
        ('<img src="a.png">', [("/v/1/a.png", "image")]),
        ('<img src="/s.gif" data-src="/big.png">', [("/s.gif", "image"), ("/big.png", "image")]),
        (
            '<img srcset="/a,b.png 1x, /c.png 2x,/d.png">',
            [("/a,b.png", "image"), ("/c.png", "image"), ("/d.png", "image")],
        ),
        (
            '<picture><source srcset="/a.webp 100w"><img src="/a.jpg"></picture>',
            [("/a.webp", "image"), ("/a.jpg", "image")],
        ),
        ('<input type="IMAGE" src="/go.gif"><input type="text" src="/no.gif">', [("/go.gif", "image")]),
        (
            '<video poster="/p.jpg" src="/v.mp4"><source src="/v.webm"><track src="/v.vtt"></video>',
            [("/p.jpg", "image"), ("/v.mp4", "media"), ("/v.webm", "media"), ("/v.vtt", "media")],
        ),
        ('<audio src="/a.mp3"></audio>', [("/a.mp3", "audio")]),
        ('<embed src="/a.swf"><object data="/b.svg"></object>', [("/a.swf", "media"), ("/b.svg", "media")]),
        ('<iframe src="/f"></iframe>', [("/f", "subdocument")]),
        ('<svg><image xlink:href="/i.png"/><use href="#x"/></svg>', [("/i.png", "image")]),
        ('<link rel="preload" as="font" href="/f.woff2">', [("/f.woff2", "font")]),
        (
            '<link rel="preload" as="image" href="/h.png" imagesrcset="/h2.png 2x">',
            [("/h.png", "image"), ("/h2.png", "image")],
        ),
        ("<div style=\"background:url('/bg.png')\">x</div>", [("/bg.png", "image")]),
        (
            '<style>@import "/i.css"; @font-face{src:url(/f.woff)} a{b:url( "c.png" )}</style>',
            [("/i.css", "stylesheet"), ("/f.woff", "font"), ("/v/1/c.png", "image")],
        ),
        ('<td background="/old.gif">x</td>', [("/old.gif", "image")]),
        ('<div data-bg="/lazy.jpg"></div>', [("/lazy.jpg", "image")]),
        ('<noscript><img src="/plain.png"></noscript>', [("/plain.png", "image")]),
        ('<template><img src="/never.png"></template>', []),
        ('<!-- <img src="/never.png"> --><script>"<img src=/never.png>"</script>', []),
        ('<img src="/a.png#x"><img src="/a.png"><script src="/a.png"></script>', [("/a.png", "image")]),
        ("<img><img src><img src=''><iframe src='about:blank'></iframe><img src='data:image/gif;base64,R0'>", []),
        ("<img src='javascript:void(0)'><img src='//[bad/x.png'><img src='http://:80/x'>", []),
    ],
)
def test_what_asks_for_what(markup: str, expected: list[tuple[str, str]]) -> None:
    assert listed(f"<table><tr>{markup}</tr></table>" if markup.startswith("<td") else markup) == expected


def test_document_order() -> None:
    body = '<img src="/1.png"><p style="background:url(/2.png)"><img src="/3.png"></p><script src="/4.js"></script>'
    assert [url for url, _ in listed(body, '<link rel="stylesheet" href="/0.css">')] == [
        "/0.css",
        "/1.png",
        "/2.png",
        "/3.png",
        "/4.js",
    ]


def test_base() -> None:
    assert listed('<img src="a.png">', '<base target="_blank"><base href="/s/"><base href="/t/">') == [
        ("/s/a.png", "image")
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (" //cdn.example.net/a.css ", "https://cdn.example.net/a.css"),
        ("fig\t2\n.png", "https://journal.example.org/v/1/fig2.png"),
        ("fig 1.png", "https://journal.example.org/v/1/fig%201.png"),
        ("/figé.png", "https://journal.example.org/fig%C3%A9.png"),
        ("\\\\cdn.example.net\\8.png", "https://cdn.example.net/8.png"),
        ("https://https://journal.example.org/6.png", "https://journal.example.org/6.png"),
        ("?view=3", "https://journal.example.org/v/1/full?view=3"),
        ("mailto:a@example.org", None),
        ("#top", None),
        ("http://example.org:99999/", None),
        ("", None),
        (None, None),
    ],
)
def test_urls(written: str | None, expected: str | None) -> None:
    assert resolve(written, URL) == expected


def test_same_page() -> None:
    assert same_page("https://www.example.org/a/#x", "http://example.org/a")
    assert not same_page("https://example.org/a?b=1", "https://example.org/a")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.google-analytics.com/analytics.js",
        "https://www.googletagmanager.com/gtm.js?id=1",
        "https://journal.example.org/favicon.ico",
        "https://journal.example.org/img/favicons/48.png",
        "https://pubads.g.doubleclick.net/gampad/ad?iu=1",
        "https://journal.example.org/assets/js/mixpanel.js",
        "https://s7.addthis.com/js/300/addthis_widget.js",
        "https://www.google.com/recaptcha/api.js",
        "https://crossmark-cdn.crossref.org/widget/v2.0/widget.js",
        "https://cdn.cookielaw.org/scripttemplates/otSDKStub.js",
        "https://connect.facebook.net/en_US/sdk.js",
    ],
)
def test_the_rules_filter(url: str) -> None:
    assert default_rules().blocks(url, URL, "script")


@pytest.mark.parametrize(
    "url",
    [
        "https://cdnjs.cloudflare.com/ajax/libs/mathjax/2.7.1/MathJax.js",
        "https://code.jquery.com/jquery-3.6.0.min.js",
        "https://journal.example.org/img/figure-tracking-birds.png",
        "https://journal.example.org/analytics-of-nests/fig1.png",
        "https://fonts.googleapis.com/css?family=Lora",
    ],
)
def test_the_rules_leave_what_belongs_to_the_page(url: str) -> None:
    assert not default_rules().blocks(url, URL, "image")


def test_icons_are_filtered_and_counted() -> None:
    head = '<link rel="shortcut icon" href="/i.png"><link rel="stylesheet" href="/a.css">'
    markup = (
        f"<html><head>{head}</head><body><script src='https://www.google-analytics.com/ga.js'></script></body></html>"
    )
    wanted, filtered = list_resources(parse(Page(markup.encode(), URL)), default_rules())
    assert [one.url for one in wanted] == ["https://journal.example.org/a.css"]
    assert filtered == 2


def test_operators_add_rules_and_exceptions() -> None:
    rules = ResourceRules(["! theirs", "||cdn.example.net^", "@@||google-analytics.com/keep.js"])
    assert rules.blocks("https://cdn.example.net/a.png", URL, "image")
    assert not rules.blocks("https://www.google-analytics.com/keep.js", URL, "script")


def test_rules_cost_microseconds() -> None:
    rules = default_rules()
    start = time.thread_time()
    for index in range(2000):
        rules.blocks(f"https://journal.example.org/static/{index}/figure.png", URL, "image")
    assert (time.thread_time() - start) / 2000 < 0.004


def test_linked_css() -> None:
    css = "/* url(no.png) */ @import url('b.css') screen; @namespace s url(http://x.org/);\na{b:url(\\66 ig.png)}"
    assert [(one.url, one.resource_type) for one in css_resources(css, "https://journal.example.org/css/a.css")] == [
        ("https://journal.example.org/css/b.css", "stylesheet"),
        ("https://journal.example.org/css/fig.png", "image"),
    ]


@pytest.mark.parametrize(
    "css", ["url(" + " " * 500_000, 'url("' * 200_000, "@import " * 100_000, "/*" * 300_000, "@namespace a" * 50_000]
)
def test_hostile_css_is_read_in_linear_time(css: str) -> None:
    start = time.thread_time()
    css_resources(css, URL)
    assert time.thread_time() - start < 8


def test_srcset_is_read_in_linear_time() -> None:
    start = time.thread_time()
    assert len(list(srcset_urls("a.png (" + ",b.png 1x" * 100_000))) >= 1
    assert len(list(srcset_urls(",b.png 1x" * 100_000))) == 100_000
    assert time.thread_time() - start < 12
