"""What a document is, by its bytes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.extract import sniff

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"
JATS = (
    b'<?xml version="1.0"?>\n<!-- c --><!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "a.dtd" [<!ENTITY x "y">]>'
    b"\n<article><front/></article>"
)
XHTML = b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (
            b"<!DOCTYPE html><html><head><script>var a = 1; function f() {}</script>",
            "application/javascript",
            "text/html",
        ),
        (b"  \n<HTML><BODY>", None, "text/html"),
        (b"<!-- c --><p>text", "application/octet-stream", "text/html"),
        (b"text <b>bold</b> <a href=x>y</a>", "text/html", "text/html"),
        (b"plain words only", "text/html", "text/html"),
        (b"plain words only", None, "text/plain"),
        (b"\xef\xbb\xbf<html>", "application/xml", "text/html"),
        ("<!DOCTYPE html><html>".encode("utf-16"), None, "text/html"),
        (
            XHTML,
            "text/html",
            "application/xhtml+xml",
        ),
        (b"<html><nul>\0</html>", "text/html", "text/html"),
        (b"%PDF-1.4\n1 0 obj", "text/html", "application/pdf"),
        (b"\n\n  %PDF-1.7\n", "text/html", "application/pdf"),
        (b"junk" * 200 + b"%PDF-1.7\n", None, "application/pdf"),
        (b"<html><p>The header %PDF-1.4 begins a file", None, "text/html"),
        (JATS, "text/html", "application/jats+xml"),
        (b'<a:article xmlns:a="urn:x"><a:front>', "text/xml", "application/jats+xml"),
        (b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/>', "text/html", "application/tei+xml"),
        (b'<?xml version="1.0"?><rss><channel><title>x</title>', "text/html", "application/xml"),
        (b'<doc:document xmlns:doc="urn:x"><title>x</title>', "text/html", "application/xml"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None, "image/svg+xml"),
        (PNG, "text/html", "image/png"),
        (b"GIF89a\x01\0\x01\0", "image/gif", "image/gif"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", None, "image/jpeg"),
        (b"body { color: red }", "text/css", "text/css"),
        (b'{"a": 1}', "application/json; charset=utf-8", "application/json"),
        (b"", "text/css", "text/css"),
        (b"", None, "application/octet-stream"),
        (b"\0\x01\x02\x03", "text/html", "application/octet-stream"),
    ],
)
def test_sniff(body: bytes, content_type: str | None, expected: str) -> None:
    assert sniff.sniff(body, content_type) == expected


def test_file_meta_is_over_the_bytes() -> None:
    meta = sniff.file_meta(b"abc", "text/plain")
    assert meta.size_bytes == 3
    assert meta.sha1hex == "a9993e364706816aba3e25717850c26c9cd0d89d"
    assert meta.md5hex == "900150983cd24fb0d6963f7d28e17f72"
    assert meta.sha256hex.startswith("ba7816bf")
    assert meta.mimetype == "text/plain"


@given(st.binary(max_size=400), st.none() | st.text(max_size=40))
def test_anything_has_a_type(body: bytes, content_type: str | None) -> None:
    mimetype = sniff.sniff(body, content_type)
    assert mimetype.count("/") == 1
    assert mimetype.isascii()


@pytest.mark.parametrize(
    ("url", "content_type", "type_"),
    [
        ("https://repository.example.org/records/7.xml", None, "application/xml"),
        ("https://repository.example.org/records/7.nxml?version=2", None, "application/xml"),
        ("https://repository.example.org/records/7.xml", "text/html", "text/html"),
        ("https://repository.example.org/records/7?format=.xml", None, "text/html"),
    ],
)
def test_the_url_s_ending_stands_in_for_a_missing_header(url: str, content_type: str | None, type_: str) -> None:
    """A record without declaration or namespace, with names that HTML has too."""
    body = b"<record key='7'><title>Gravel</title><p>Of rivers</p></record>"
    assert sniff.sniff(body, content_type, url) == type_
