"""Redirects, cookies, odd Locations (checklist H41, H42, H45, H56)."""

import pytest

from sandcrawler.status import Status

from .web import get, moved, reply

SITE = "http://journal.example.org"
HTML = b"<html><title>Nests</title></html>"


def test_a_page_is_captured_whole() -> None:
    capture, web = get({f"{SITE}/a": reply(HTML, etag='"x"')}, f"{SITE}/a")
    assert (capture.status, capture.status_code, capture.body) == (Status.SUCCESS, 200, HTML)
    assert capture.hops == (f"{SITE}/a",)
    assert capture.header("ETag") == '"x"'
    assert capture.when.tzinfo is not None
    assert web.requests[0].headers["user-agent"].startswith("sandcrawler/")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_hops(status: int) -> None:
    capture, _ = get({f"{SITE}/a": moved("/b?x=1#part", status), f"{SITE}/b?x=1": reply(HTML)}, f"{SITE}/a")
    assert capture.status is Status.SUCCESS
    assert capture.hops == (f"{SITE}/a", f"{SITE}/b?x=1")
    assert (capture.url, capture.terminal_url) == (f"{SITE}/a", f"{SITE}/b?x=1")


@pytest.mark.parametrize(
    ("location", "asked"),
    [
        ("b", f"{SITE}/x/b"),
        ("../b", f"{SITE}/b"),
        ("?q", f"{SITE}/x/a?q"),
        ("//cdn.example.net/b", "http://cdn.example.net/b"),
        ("http:/b", f"{SITE}/b"),
        ("http://JOURNAL.example.org:80/B", f"{SITE}/B"),
        (" /b c ", f"{SITE}/b%20c"),
        ("/b%2Fc%e9", f"{SITE}/b%2Fc%e9"),
        ("\\b", f"{SITE}/b"),
        ("/caf\xe9", f"{SITE}/caf%E9"),  # Latin-1 bytes stay those bytes
        ("/caf\xc3\xa9", f"{SITE}/caf%C3%A9"),  # and UTF-8 bytes those
        ("http://someone:secret@journal.example.org/b", f"{SITE}/b"),
    ],
)
def test_locations_are_read_as_browsers_read_them(location: str, asked: str) -> None:
    capture, web = get({f"{SITE}/x/a": moved(location), asked: reply(HTML)}, f"{SITE}/x/a")
    assert capture.hops == (f"{SITE}/x/a", asked)
    assert capture.status is Status.SUCCESS
    assert "authorization" not in web.requests[1].headers


@pytest.mark.parametrize(
    ("page", "status"),
    [
        (reply(b"", 302), Status.BAD_REDIRECT),
        (moved(" "), Status.BAD_REDIRECT),
        (moved("http://[bad/"), Status.BAD_URL),
        (moved("http://exa mple.org/"), Status.BAD_URL),
        (reply(HTML, 300, location="/b"), Status.TERMINAL_BAD_STATUS),
        (reply(b"", 304), Status.TERMINAL_BAD_STATUS),
    ],
)
def test_redirects_that_lead_nowhere(page: bytes, status: Status) -> None:
    capture, web = get({f"{SITE}/a": page}, f"{SITE}/a")
    assert capture.status is status
    assert capture.hops == (f"{SITE}/a",)
    assert capture.status_code is not None
    assert len(web.requests) == 1


def test_h41_a_circle_is_a_loop() -> None:
    capture, web = get({f"{SITE}/a": moved("/b"), f"{SITE}/b": moved("/a")}, f"{SITE}/a")
    assert capture.status is Status.REDIRECT_LOOP
    assert capture.hops == (f"{SITE}/a", f"{SITE}/b")
    assert capture.status_code == 302
    assert len(web.requests) == 2


def test_h41_a_self_redirect_that_sets_a_cookie_is_followed_once() -> None:
    async def page(request, writer):  # type: ignore[no-untyped-def]
        writer.write(reply(HTML) if "seen=1" in request.headers.get("cookie", "") else moved("/a", set_cookie="seen=1"))

    capture, web = get({f"{SITE}/a": page}, f"{SITE}/a")
    assert capture.status is Status.SUCCESS
    assert capture.hops == (f"{SITE}/a", f"{SITE}/a")
    assert len(web.requests) == 2


def test_h41_a_counting_cookie_does_not_go_on_for_ever() -> None:
    counted = iter(range(100))

    async def page(request, writer):  # type: ignore[no-untyped-def]
        writer.write(moved("/a", set_cookie=f"n={next(counted)}"))

    capture, web = get({f"{SITE}/a": page}, f"{SITE}/a")
    assert capture.status is Status.REDIRECT_LOOP
    assert len(web.requests) == 2


def test_h42_more_redirects_than_the_limit() -> None:
    pages = {f"{SITE}/{n}": moved(f"/{n + 1}") for n in range(40)}
    capture, web = get(dict(pages), f"{SITE}/0", fetch_redirects=5)
    assert capture.status is Status.REDIRECTS_EXCEEDED
    assert capture.hops == tuple(f"{SITE}/{n}" for n in range(6))
    assert len(web.requests) == 6
    exact, _ = get({**pages, f"{SITE}/5": reply(HTML)}, f"{SITE}/0", fetch_redirects=5)
    assert exact.status is Status.SUCCESS


def test_cookies_go_to_their_host_only_and_end_with_the_session() -> None:
    pages = {
        f"{SITE}/a": moved("http://cdn.example.net/b", set_cookie="id=1"),
        "http://cdn.example.net/b": moved(f"{SITE}/c"),
        f"{SITE}/c": reply(HTML),
    }
    _, web = get(dict(pages), f"{SITE}/a")
    assert [request.headers.get("cookie") for request in web.requests] == [None, None, "id=1"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "gopher://x/1", "ftp://x/y", "javascript:alert(1)", "data:,x"])
def test_h45_other_schemes_are_no_urls(url: str) -> None:
    capture, web = get({f"{SITE}/a": moved(url)}, url)
    assert capture.status is Status.BAD_URL
    assert web.requests == []
    capture, web = get({f"{SITE}/a": moved(url)}, f"{SITE}/a")
    assert capture.status is Status.BAD_URL
    assert capture.hops == (f"{SITE}/a",)


@pytest.mark.parametrize(
    "url", ["", "   ", "x", "//x/y", "http://", "http:///", "http://.", "http://a b/", "\ud800", "http://x/\ud800"]
)
def test_what_is_no_url(url: str) -> None:
    capture, _ = get({}, url)
    assert capture.status in (Status.BAD_URL, Status.DNS_ERROR)
    assert capture.body is None


def test_h56_line_breaks_blanks_names_and_users() -> None:
    async def page(request, writer):  # type: ignore[no-untyped-def]
        writer.write(reply(HTML))

    pages = {f"{SITE}/a%20b/X-Injected:%20yes": page}
    capture, web = get(pages, " http://me:secret@journal.exam\r\nple.org/a b/\r\nX-Injected: yes#top ")
    assert capture.status is Status.SUCCESS
    assert b"secret" not in web.requests[0].raw
    assert "x-injected" not in web.requests[0].headers
    assert "secret" not in repr(capture)
    assert capture.hops == (f"{SITE}/a%20b/X-Injected:%20yes",)


def test_h56_a_password_in_a_bad_url_is_not_told() -> None:
    for url in ("http://me:secret@exa mple.org/", "http://me:secret@journal.example.org:22/x", "ftp://me:secret@x/"):
        capture, _ = get({}, url)
        assert "secret" not in repr(capture)
    capture, _ = get({f"{SITE}/a": moved("ftp://me:secret@x/")}, f"{SITE}/a")
    assert "me:secret" not in (capture.error_message or "")


def test_h56_long_urls() -> None:
    long = f"{SITE}/" + "a" * 8000
    assert get({long: reply(HTML)}, long)[0].status is Status.SUCCESS
    assert get({}, long + "a" * 500)[0].status is Status.BAD_URL
    assert get({f"{SITE}/a": moved(long + "a" * 500)}, f"{SITE}/a")[0].status is Status.BAD_URL


def test_h56_international_names() -> None:
    capture, _ = get({}, "http://münchen.example/ü")
    assert capture.hops == ("http://xn--mnchen-3ya.example/%C3%BC",)
