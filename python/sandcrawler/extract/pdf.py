"""PDF documents: bytes → page count, document information and text. Pure; pdfium reads from memory.

Readers look for "%PDF-" in the first kilobyte, so a few stray bytes before it (blank lines, HTTP chunks' remains) do
no harm; pdfium is given the document from there. A PDF without a text layer (a scan) is still a PDF: success, with
has_text False and no body. Time and memory are bounded by the child process that extraction runs in.
"""

import re
from collections.abc import Iterator

import pypdfium2

from sandcrawler.extract.text import count_words, tidy
from sandcrawler.model import Extracted, Page, PdfMeta
from sandcrawler.status import Status

HEADER = b"%PDF-"
HEADER_BYTES = 1024
MAX_VALUE = 2000  # characters of one entry of the document information
MAX_TEXT = 32 * 1024 * 1024  # characters; more is no article, and one page may show one stream a thousand times

# The document information's standard keys (ISO 32000, 14.3.3), in our spelling.
_KEYS = {
    "Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords", "Creator": "creator",
    "Producer": "producer", "CreationDate": "created", "ModDate": "modified",
}  # fmt: skip

_LINE_END = re.compile(r"\r\n?|\x0b|\x85|\u2028|\u2029")
# U+FFFE and U+0002 are how pdfium writes a hyphen at a line's end.
_HYPHEN = re.compile("[\ufffe\x02]\\n?")
_UNFIT = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\uffff]")


class _Unreadable(Exception):
    """The text says why, for the result's error_message."""


def extract_pdf(page: Page) -> Extracted:
    """All that can be said of a PDF. Never raises on any bytes.

    `body` is its text as UTF-8, pages set apart by a form feed, or None where it has none. What cannot be read
    (encrypted, broken, without pages) is pdf-parse-error with a message.
    """
    try:
        document = _open(page.body)
    except _Unreadable as error:
        status = Status.PDF_PARSE_ERROR
        return Extracted(status, str(error), pdf_meta=PdfMeta(status=status))
    try:
        text = _joined(_pages(document))
        meta = PdfMeta(
            status=Status.SUCCESS,
            page_count=len(document),
            word_count=count_words(text),
            has_text=bool(text),
            metadata=_information(document) or None,
        )
    finally:
        document.close()
    return Extracted(Status.SUCCESS, pdf_meta=meta, body=text.encode("utf-8") if text else None)


def _open(body: bytes) -> pypdfium2.PdfDocument:
    start = body.find(HEADER, 0, HEADER_BYTES + len(HEADER))
    if start < 0:
        raise _Unreadable("no %PDF header in the first kilobyte")
    try:
        document = pypdfium2.PdfDocument(body[start:] if start else body)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        raise _Unreadable(_reason(error)) from error
    if count < 1:
        document.close()
        raise _Unreadable("the PDF has no pages")
    return document


def _reason(error: pypdfium2.PdfiumError) -> str:
    text = tidy(str(error))
    return "the PDF is encrypted" if "password" in text.lower() else f"the PDF is broken: {text}"[:1600]


def _pages(document: pypdfium2.PdfDocument) -> Iterator[str]:
    """The text of each page; a page that cannot be read is empty."""
    room = MAX_TEXT
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            yield ""
            continue
        try:
            yield (text := _page_text(page)[:room])
        finally:
            page.close()
        room -= len(text)


def _page_text(page: pypdfium2.PdfPage) -> str:
    try:
        reader = page.get_textpage()
    except pypdfium2.PdfiumError:
        return ""
    try:
        return _clean(reader.get_text_range(errors="ignore"))
    except pypdfium2.PdfiumError:
        return ""
    finally:
        reader.close()


def _clean(text: str) -> str:
    """Lines end with a line feed, words that a line's end broke are whole again, control characters are gone."""
    return _UNFIT.sub("", _HYPHEN.sub("", _LINE_END.sub("\n", text))).replace("\f", "\n").strip()


def _joined(pages: Iterator[str]) -> str:
    """The whole text; "" where no page has any."""
    whole = "\f".join(pages)
    return whole if whole.strip("\f") else ""


def _information(document: pypdfium2.PdfDocument) -> dict[str, str]:
    """The document information, its empty entries left out."""
    try:
        found = document.get_metadata_dict(skip_empty=True)
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return {}
    cleaned = {_KEYS[key]: tidy(str(value))[:MAX_VALUE] for key, value in found.items() if key in _KEYS}
    return {key: value for key, value in cleaned.items() if value}
