"""PDF documents: page count, document information and text."""

from sandcrawler.model import Extracted, FileMeta, IngestType, PdfText
from sandcrawler.names import Topic
from sandcrawler.status import Status


class Pdf:
    """See `base.Kind`."""

    name: IngestType = "pdf"
    topic = Topic.PDF_TEXT

    def accepts(self, mimetype: str) -> bool:
        return mimetype == "application/pdf"

    def mimetype(self, sniffed: str, extracted: Extracted) -> str:  # noqa: ARG002  (the interface's)
        return sniffed

    def body(self, file_meta: FileMeta, extracted: Extracted) -> PdfText:
        return PdfText(
            key=file_meta.sha1hex,
            sha1hex=file_meta.sha1hex,
            status=Status.SUCCESS,
            text=(extracted.body or b"").decode("utf-8"),
            page_count=extracted.pdf_meta.page_count if extracted.pdf_meta else None,
        )
