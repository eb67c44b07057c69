"""URLs as pages write them: what comes out can be asked for, or is None."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.extract.urls import resolve

BASE = "https://journal.example.org/article/1"


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://ex\u00e4mple.org/\u00e9?q=\u00e9", "https://xn--exmple-cua.org/%C3%A9?q=%C3%A9"),
        ("//\ufffddn.example.org/style.css", None),
        ("https://a\ufffd.org:8080/", None),
        ("https://\u00e9" + "a" * 70 + ".org/", None),
    ],
)
def test_hosts_that_are_not_ascii(written: str, url: str | None) -> None:
    assert resolve(written, BASE) == url


@given(st.text(max_size=30), st.sampled_from(["", "/", "//", "https://", "https://a.org/"]))
def test_whatever_comes_out_is_ascii(text: str, before: str) -> None:
    url = resolve(before + text, BASE)
    assert url is None or (url.isascii() and url.startswith(("http://", "https://")))
