"""The archive world's key of a URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.fetch.surt import surt


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://repository.example.edu/item?y=2&x=1", "edu,example,repository)/item?x=1&y=2"),
        ("http://www.example.edu", "edu,example)/"),
        ("http://WWW3.Example.EDU/a", "edu,example)/a"),
        ("http://www.gov.uk/x", "uk,gov)/x"),
        ("http://www77.net/", "net,www77)/"),
        ("http://www.com/", "com,www)/"),
        ("http://example.edu/find?q=salt+%26+pepper&author=x", "edu,example)/find?author=x&q=salt+%26+pepper"),
        ("http://example.edu/find?q=a%2526b", "edu,example)/find?q=a%26b"),
        ("http://example.edu/find?q=%23a", "edu,example)/find?q=%23a"),
        ("http://example.edu/find?b&a=&a", "edu,example)/find?a&a=&b"),
        ("http://example.edu/?", "edu,example)/"),
        ("http://example.fr/%C9tude.html", "fr,example)/%c9tude.html"),
        ("http://example.fr/Étude", "fr,example)/%c3%89tude"),
        ("http://example.edu/a/%7Ejoe", "edu,example)/a/~joe"),
        ("http://example.edu:80/A//b/./c/../d/", "edu,example)/a/b/d"),
        ("https://example.edu:443/", "edu,example)/"),
        ("https://example.edu:80/", "edu,example:80)/"),
        ("http://me:secret@example.edu/x#part", "edu,example)/x"),
        ("example.edu:8080/x", "edu,example:8080)/x"),
        ("http://https://example.edu/x", "edu,example)/x"),
        ("http://bücher.example/", "example,xn--bcher-kva)/"),
        ("http://192.0.2.7/x", "7,2,0,192)/x"),
        ("http://[2001:DB8::1]:8080/x", "[2001:db8::1]:8080)/x"),
        ("http://example.edu/?PHPSESSID=0123456789abcdef0123456789abcdef&a=1", "edu,example)/?a=1"),
        ("http://example.edu/(0123456789abcdefghijklmn)/page.aspx", "edu,example)/page.aspx"),
        ("", "-"),
    ],
)
def test_keys(url: str, key: str) -> None:
    assert surt(url) == key


@given(st.text())
def test_every_text_has_a_key(text: str) -> None:
    assert surt(text).encode("utf-8", "strict") is not None


@given(st.lists(st.sampled_from(["a=1", "b", "c=%26", "d=", "A=%FC"]), max_size=5))
def test_the_order_of_parameters_is_no_matter(fields: list[str]) -> None:
    forwards, backwards = (surt("http://example.edu/?" + "&".join(order)) for order in (fields, fields[::-1]))
    assert forwards == backwards
