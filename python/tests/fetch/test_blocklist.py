"""Lists of what is not fetched: parsed URLs are matched, never substrings."""

from pathlib import Path

import pytest

from sandcrawler.config import Config
from sandcrawler.demo.documents import answers
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch import blocklist, target
from sandcrawler.fetch.live import Fetcher
from sandcrawler.status import Status

from .web import get, moved, reply

URLS, WALL = Status.SKIP_URL_BLOCKLIST, Status.SKIP_WALL
LIST = """
# a comment
skip-url-blocklist  archive.example.org        # and another
skip-url-blocklist  resolver.example/10.5072
skip-wall           */**/login?target
skip-wall           sso.example.net?a=1&b
skip-wall           Bücher.example/a*z/x
allow               good.archive.example.org/open
"""


def find(url: str, text: str = LIST) -> Status | None:
    rule = blocklist.Blocklist(blocklist.read(text, "list")).find(target.read(url))
    return rule.status if rule else None


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://archive.example.org/", URLS),
        ("https://web.archive.example.org:8080/a?b", URLS),
        ("http://ARCHIVE.example.org./x", URLS),
        ("http://myarchive.example.org/", None),
        ("http://archive.example.org.evil.net/", None),
        ("http://x.org/?u=http://archive.example.org/", None),
        ("http://x.org/archive.example.org", None),
        ("http://user:archive.example.org@x.org/", None),
        ("http://example.org/", None),
        ("http://good.archive.example.org/open/1", None),
        ("http://good.archive.example.org/other", URLS),
        ("https://resolver.example/10.5072", URLS),
        ("https://dx.resolver.example/10.5072/abc", URLS),
        ("https://resolver.example/10.5072%2Fabc", URLS),
        ("https://resolver.example/10.50721/abc", None),
        ("https://resolver.example/x/10.5072/abc", None),
        ("https://resolver.example/?10.5072", None),
        ("http://x.org/login?TARGET=http://y.org/", WALL),
        ("http://x.org/a/b/Login?x=1&target=", WALL),
        ("http://x.org/a/%6Cogin/?target", WALL),
        ("http://x.org/login?targets=1", None),
        ("http://x.org/login#target", None),
        ("http://x.org/blogin?target=1", None),
        ("http://x.org/a?u=/login?target=1", None),
        ("http://sso.example.net/any?b&a=1", WALL),
        ("http://sso.example.net/any?b&a=2", None),
        ("http://sso.example.net/any?a=1", None),
        ("http://bücher.example/abcz/x", WALL),
        ("http://xn--bcher-kva.example/az/x/y", WALL),
        ("http://bücher.example/a/z/x", None),
    ],
)
def test_what_a_list_means(url: str, status: Status | None) -> None:
    found = find(url)
    assert found is status


@pytest.mark.parametrize(
    "line",
    ["skip archive.org", "skip-wall", "skip-wall a.org b.org", "skip-wall /path", "skip-wall *.org", "skip-wall a:8/x"],
)
def test_errors_name_file_and_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "more.txt"
    path.write_text(f"# mine\n{line}\n")
    with pytest.raises(ConfigurationError, match=r"more\.txt, line 2"):
        blocklist.load([path])


def test_a_list_that_is_not_there_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="SANDCRAWLER_FETCH_BLOCKLIST"):
        Fetcher(Config(fetch_blocklist=(tmp_path / "none.txt",)))


def test_operators_add_lists_and_take_things_out(tmp_path: Path) -> None:
    path = tmp_path / "more.txt"
    path.write_text("skip-url-blocklist  journal.example.org/private\nallow  orcid.org\n")
    rules = blocklist.load([path])
    assert rules.find(target.read("http://journal.example.org/private/1")) is not None
    assert rules.find(target.read("https://web.archive.org/web/2020/http://x.org/")) is not None
    orcid = rules.find(target.read("https://orcid.org/0000-0002-1825-0097"))
    assert orcid is not None
    assert orcid.status is None


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://scholar.archive.org/search", URLS),
        ("https://idp.example.edu/idp/profile/SAML2/Redirect/SSO?SAMLRequest=abc", WALL),
        ("https://journal.example.org/password-login", WALL),
        ("https://sso.example.org/cas/login?TARGET=https%3A%2F%2Fx", WALL),
        # Sites that set a cookie and send the reader back are no walls.
        ("https://idp.nature.com/authorize?response_type=cookie&client_id=grover&redirect_uri=https%3A%2F%2Fx", None),
        ("https://journal.example.org/action/cookieAbsent", None),
        ("https://doi.org/10.1038/nature12373", None),
        ("https://doi.org/10.15468/dl.abc", URLS),
        ("https://journal.example.org/article/login-behaviour?target=x", None),
    ],
)
def test_our_own_list(url: str, status: Status | None) -> None:
    rule = blocklist.load().find(target.read(url))
    assert (rule.status if rule else None) is status


def test_our_own_list_leaves_the_example_site_alone() -> None:
    rules = blocklist.load()
    assert [answer.url for answer in answers() if rules.find(target.read(answer.url))] == []


A, WALLED = "http://journal.example.org/a", "http://other.example.com/login?target=a"


@pytest.mark.parametrize("robots", [True, False])
def test_the_base_url_and_every_hop_are_checked_before_a_byte_is_sent(robots: bool) -> None:
    capture, web = get({}, WALLED, fetch_robots=robots)
    assert (capture.status, capture.hops, web.connections) == (WALL, (WALLED,), 0)
    assert capture.error_message == "other.example.com is a login page or another wall (*/**/login?target)"
    capture, web = get({A: moved(WALLED), WALLED: reply(b"log in")}, A, fetch_robots=robots)
    assert (capture.status, capture.hops, capture.body) == (WALL, (A, WALLED), None)
    assert {request.url.split("/")[2] for request in web.requests} == {"journal.example.org"}


def test_a_robots_txt_behind_a_wall_is_none() -> None:
    pages = {A: reply(b"<html></html>"), "http://journal.example.org/robots.txt": moved(WALLED)}
    capture, web = get(dict(pages), A, fetch_robots=True)
    assert capture.status is Status.SUCCESS
    assert WALLED not in {request.url for request in web.requests}
