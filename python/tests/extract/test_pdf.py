"""PDF: documents written by hand, byte for byte; what is broken says so; any bytes have an answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler.extract.pdf import extract_pdf
from sandcrawler.model import Extracted, Page
from sandcrawler.status import Status

LINES = ("Terns of the outer bank", "are counted in the eve-", "ning, by two observers.")


def stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def written(*objects: bytes, trailer: bytes = b"") -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return bytes(
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, len(out))
    )


def article(lines: tuple[str, ...] = LINES, pages: int = 2) -> bytes:
    shown = b"".join(b"(%s) Tj 0 -20 Td " % line.encode("latin-1") for line in lines)
    return written(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"3 0 R " * pages, pages),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        stream(b"BT /F1 12 Tf 72 720 Td %sET" % shown),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (Terns\\nof the  bank) /Author <FEFF004900640061> /Producer () /Own (x) >>",
        trailer=b"/Info 6 0 R",
    )


def extracted(body: bytes) -> Extracted:
    return extract_pdf(Page(body, "https://birds.example.org/7.pdf", "application/pdf"))


def valid(got: Extracted) -> None:
    assert got.pdf_meta is not None
    assert got.pdf_meta.status == got.status
    assert got.status in {Status.SUCCESS, Status.PDF_PARSE_ERROR}
    assert bool(got.error_message) == (got.status is Status.PDF_PARSE_ERROR)
    if got.status is Status.SUCCESS:
        assert got.pdf_meta.page_count
        assert got.pdf_meta.has_text == (got.body is not None)
        (got.body or b"").decode("utf-8")
    else:
        assert got.body is None


def test_text_pages_and_information() -> None:
    got = extracted(article())
    valid(got)
    assert got.pdf_meta is not None
    assert got.pdf_meta.page_count == 2
    assert got.pdf_meta.has_text is True
    assert got.pdf_meta.metadata == {"title": "Terns of the bank", "author": "Ida"}
    page = "Terns of the outer bank\nare counted in the evening, by two observers."
    assert got.body == f"{page}\f{page}".encode()
    assert got.pdf_meta.word_count == 2 * len(page.split())


@pytest.mark.parametrize("before", [b"\r\n\r\n", b"x" * 1000, b"\xef\xbb\xbf"])
def test_bytes_before_the_header(before: bytes) -> None:
    assert extracted(before + article()).body == extracted(article()).body


def test_a_scan_is_a_success_without_text() -> None:
    got = extracted(article(lines=()))
    valid(got)
    assert got.status is Status.SUCCESS
    assert got.pdf_meta is not None
    assert (got.pdf_meta.has_text, got.pdf_meta.word_count, got.body) == (False, 0, None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "no %PDF header"),
        (b"<html>not found</html>", "no %PDF header"),
        (b" " * 2000 + article(), "no %PDF header"),
        (b"%PDF-1.4\n", "broken"),
        (article()[:200], "broken"),
        (written(b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"), "broken"),
    ],
)
def test_what_cannot_be_read_says_so(body: bytes, message: str) -> None:
    got = extracted(body)
    valid(got)
    assert got.status is Status.PDF_PARSE_ERROR
    assert message in (got.error_message or "")


def test_encrypted() -> None:
    key = b"<" + b"41" * 32 + b">"
    locked = written(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O %s /U %s >>" % (key, key),
        trailer=b"/Encrypt 4 0 R /ID [<00> <00>]",
    )
    got = extracted(locked)
    valid(got)
    assert got.error_message == "the PDF is encrypted"


@given(st.binary(max_size=500), st.sampled_from([b"", b"%PDF-1.7\n"]))
def test_any_bytes(body: bytes, header: bytes) -> None:
    valid(extracted(header + body))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_flips_and_cuts(data: st.DataObject) -> None:
    changed = bytearray(article()[: data.draw(st.integers(1, len(article())))])
    for _ in range(data.draw(st.integers(0, 5))):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    valid(extracted(bytes(changed)))
