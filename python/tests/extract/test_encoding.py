"""Bytes → text by the order of the HTML Standard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.extract import encoding

UMLAUT = "<p>Zählung der größten Möwenkolonie</p>"
RUSSIAN = "<p>Каждый месяц мы ходили вдоль берега и отмечали на карте заросли тростника и глубину воды.</p>"
JAPANESE = "<p>毎月、私たちは岸に沿って歩き、ヨシ原とその水深を地図に記録しました。</p>"


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        # The order: byte order mark, header, meta, XML declaration, UTF-8, guess.
        (b"\xef\xbb\xbf<meta charset=latin1>", "text/html; charset=koi8-r", "utf-8"),
        (b"\xff\xfe<\0p\0>\0", "text/html; charset=utf-8", "utf-16le"),
        (b"<meta charset=latin1>", "text/html; charset=utf-8", "utf-8"),
        (b"<meta charset=latin1>", "text/html", "windows-1252"),
        (b"<META http-equiv=Content-Type content='text/html;charset=\"shift_jis\"'>", None, "shift_jis"),
        (b'<?xml version="1.0" encoding="ISO-8859-2"?><html>', None, "iso-8859-2"),
        (UMLAUT.encode(), None, "utf-8"),
        (b"<p>plain</p>", None, "utf-8"),
        (b"", None, "utf-8"),
        (UMLAUT.encode("latin-1"), None, "windows-1252"),
        (RUSSIAN.encode("windows-1251"), None, "windows-1251"),
        (JAPANESE.encode("shift_jis"), None, "shift_jis"),
        (JAPANESE.encode("euc_jp"), None, "euc-jp"),
        # Labels are the Encoding Standard's.
        (b"", "text/html; charset=ISO-8859-1", "windows-1252"),
        (b"", "text/html; charset=us-ascii", "windows-1252"),
        (b"", "text/html; charset=gb2312", "gbk"),
        (b"", 'text/html; charset="utf8"', "utf-8"),
        (b"", "text/html; charset=hex", "utf-8"),
        (b"", "text/html; charset=utf-7", "utf-8"),
        (b"", "text/html; charset=", "utf-8"),
        # What is not a declaration.
        (b"<!-- <meta charset=koi8-r> --><p>x", None, "utf-8"),
        (b"<script>'<meta charset=koi8-r>'</script><p>x", None, "utf-8"),
        (b'<meta name=description content="charset=koi8-r"><p>x', None, "utf-8"),
        (b"<meta charset=utf-16><p>x", None, "utf-8"),
        # Late, and after a first one that is no label.
        (b"<!--" + b"x" * 4000 + b"--><meta charset=koi8-r>", None, "koi8-r"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", None, "koi8-r"),
        # Nearly UTF-8: a pasted byte, a cut at the end.
        ((UMLAUT * 5).encode() + b"\x92", None, "utf-8"),
        ((UMLAUT * 5).encode()[:-5] + "ö".encode()[:1], None, "utf-8"),
        # UTF-16 without a mark.
        ("<?xml version='1.0'?><html>".encode("utf-16le"), None, "utf-16le"),
    ],
)
def test_order(body: bytes, content_type: str | None, expected: str) -> None:
    assert encoding.determine(body, content_type) == expected


def test_undefined_bytes_and_marks() -> None:
    assert encoding.decode(b"\x93a\x94 \x9d", "windows-1252").startswith("“a” ")
    assert encoding.decode(b"\xef\xbb\xbfa", "utf-8") == "a"
    assert encoding.decode("镕㐀".encode("gb18030"), "gbk") == "镕㐀"


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("a\0b\x08c\x0cd\ufffe\uffffe", "abc de"),
        ("a&#0;b&#8;c&#x1F;d&#xfffe;e&#65535;f&#x0;g", "abcdefg"),
        ("&#9;&#10;&#13;&#14&#100;&#xA0;&#146;&#1114111;", "&#9;&#10;&#13;&#100;&#xA0;&#146;&#1114111;"),
    ],
)
def test_what_xml_cannot_hold_is_left_out(text: str, fit: str) -> None:
    assert encoding.fit(text) == fit


@given(st.binary(max_size=300), st.none() | st.text(max_size=40))
def test_anything_is_decoded(body: bytes, content_type: str | None) -> None:
    text = encoding.decode(body, encoding.determine(body, content_type))
    assert "\0" not in text
    text.encode()
