"""XML: what must hold of any bytes, and in which encoding they are read."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sandcrawler.extract.xml import extract_xml, xml_mimetype
from sandcrawler.model import Extracted, Page
from sandcrawler.status import Status

CASES = [path.read_bytes() for path in sorted((Path(__file__).parent / "cases" / "xml").glob("*/input.xml"))]
ARTICLE = (
    "<article><front><article-meta><title-group><article-title>%s</article-title></title-group></article-meta></front>"
    "</article>"
)
TYPES = st.sampled_from(
    [
        None,
        "",
        "text/xml",
        "application/xml; charset=utf-16",
        "text/html; charset=latin1",
        "x/y; charset=rot13",
        ";;=\0",
    ]
)


def extracted(text: str | bytes, content_type: str | None = None) -> Extracted:
    body = text if isinstance(text, bytes) else text.encode()
    return extract_xml(Page(body, "https://birds.example.org/7.xml", content_type))


def title(text: str | bytes, content_type: str | None = None) -> str | None:
    got = extracted(text, content_type)
    assert got.status is Status.SUCCESS, got.error_message
    assert got.xml_meta is not None
    assert got.xml_meta.biblio is not None
    return got.xml_meta.biblio.title


def valid(got: Extracted) -> None:
    """What every answer must hold to."""
    assert got.xml_meta is not None
    assert got.xml_meta.status == got.status
    assert got.status in {Status.SUCCESS, Status.UNKNOWN_SCOPE, Status.XML_PARSE_ERROR}
    assert (got.body is None) == (got.status is Status.XML_PARSE_ERROR) == bool(got.error_message)
    assert (got.xml_meta.schema_ in {"jats", "tei"}) == (got.status is Status.SUCCESS)
    assert len(got.error_message or "") <= 1600
    if got.body is not None:
        assert got.body.startswith(b'<?xml version="1.0" encoding="UTF-8"')
        etree.fromstring(got.body, etree.XMLParser(huge_tree=True, recover=True))
        got.body.decode("utf-8")


@given(st.binary(max_size=2000), TYPES)
def test_any_bytes(body: bytes, content_type: str | None) -> None:
    valid(extracted(body, content_type))


PIECES = st.sampled_from(
    [
        *(
            "<?xml",
            ' version="1.0"',
            ' encoding="',
            "utf-16",
            "?>",
            "<!DOCTYPE a ",
            'SYSTEM "x"',
            "PUBLIC",
            "[",
            "]",
            ">",
        ),
        *("<!--", "-->", "<!ENTITY ", "% p ", "x ", '"&x;&y;"', "'%p;'", "%p;", "&x;", "&copy;", "&#0;", "&#xD800;"),
        *("<!ATTLIST a ", "b CDATA ", "<a", " b='1'", "/>", "</a>", "<![CDATA[", "]]>", "<?pi ", "é", "\ufffe", "\x85"),
        *("article", "<article>", " ", "\n"),
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from(["utf-8", "utf-16", "utf-32-be", "cp037"]))
def test_any_pieces_of_markup(text: str, encoding: str) -> None:
    valid(extracted(text.encode(encoding, "replace")))


@settings(max_examples=300)
@given(st.data(), st.sampled_from(CASES), TYPES)
def test_flips_and_cuts_of_documents(data: st.DataObject, document: bytes, content_type: str | None) -> None:
    changed = bytearray(document[: data.draw(st.integers(0, len(document)))] or b" ")
    for _ in range(data.draw(st.integers(0, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    valid(extracted(bytes(changed), content_type))


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=("Cc", "Cs", "Cn")), min_size=1)
)
def test_text_survives_in_any_encoding(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    bodies = {
        extracted(f'<?xml version="1.0" encoding="{name}"?>\n{ARTICLE % escaped}'.encode(name)).body
        for name in ("utf-8", "utf-16", "utf-32", "gb18030")
    }
    assert len(bodies) == 1
    (body,) = bodies
    assert body is not None
    assert etree.fromstring(body).findtext(".//article-title") == text


@pytest.mark.parametrize(
    ("encoding", "label", "content_type", "want"),
    [
        ("latin-1", "ISO-8859-1", None, "año"),
        ("latin-1", "ISO-8859-1", "text/xml", "año"),
        ("latin-1", "utf-8", "application/xml;charset=ISO-8859-1", "año"),
        ("utf-8", "iso-8859-1", 'application/jats+xml; charset="UTF-8"', "año"),
        ("utf-8", "utf-8", "text/html; charset=ISO-8859-1", "año"),  # a server's default for pages
        ("utf-8-sig", "iso-8859-1", "text/xml; charset=iso-8859-1", "año"),
        ("utf-16-be", "utf-16", None, "año"),
        ("utf-16-le", "utf-16", "application/xml; charset=utf-16", "año"),
        ("utf-16-le", "utf-8", None, "año"),
        ("utf-32", "utf-32", None, "año"),
        ("cp037", "ibm037", None, "año"),
        ("windows-1252", "windows-1252", None, "“x”"),
        ("gb18030", "GB2312", None, "镕"),
    ],
)
def test_encodings(encoding: str, label: str, content_type: str | None, want: str) -> None:
    text = f'<?xml version="1.0" encoding="{label}"?>{ARTICLE % want}'
    assert title(text.encode(encoding), content_type) == want


@pytest.mark.parametrize("label", ["utf-16", "us-ascii", "rot13", "hex", "utf-7", "idna", "x-own", "unicode_escape"])
def test_labels_that_are_wrong_or_no_encodings(label: str) -> None:
    got = extracted(f'<?xml version="1.0" encoding="{label}"?>{ARTICLE % "año"}')
    assert got.status is Status.XML_PARSE_ERROR


def test_mimetypes() -> None:
    assert [xml_mimetype(one) for one in ("jats", "tei", "other", None)] == [
        "application/jats+xml", "application/tei+xml", "application/xml", "application/xml",
    ]  # fmt: skip


def test_errors_are_told_by_the_line_of_the_original() -> None:
    got = extracted('<!DOCTYPE article [\n<!-- x -->\n<!ENTITY x SYSTEM "y">\n]>\n<article>\n<front>\n</article>')
    assert "line 7" in (got.error_message or "")


@pytest.mark.parametrize("inside", ['<b xml:id="1a"/>', '<b xml:id="a"/><b xml:id="a"/>', '<b xmlns="ht tp//own"/>'])
def test_errors_beyond_well_formedness_are_let_pass(inside: str) -> None:
    """libxml2 counts them as errors; XML 1.0 does not."""
    got = extracted(ARTICLE % f"T{inside}")
    assert got.status is Status.SUCCESS
    assert inside.encode() in (got.body or b"")
