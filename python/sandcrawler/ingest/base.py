"""What the kinds of document have in common: the interface behind `html`, `xml` and `pdf`."""

from typing import Protocol

from sandcrawler.model import Extracted, FileMeta, HtmlTeixml, IngestType, PdfText, XmlDoc
from sandcrawler.names import Topic

Body = HtmlTeixml | XmlDoc | PdfText

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


class Kind(Protocol):
    """A kind of document that can be asked for (`ingest_type`). A new kind is one class and one entry in KINDS."""

    name: IngestType
    topic: Topic

    def accepts(self, mimetype: str) -> bool:
        """Whether bytes of this type are what was asked for."""

    def mimetype(self, sniffed: str, extracted: Extracted) -> str:
        """The type of the document, as exactly as its parsed content tells."""

    def body(self, file_meta: FileMeta, extracted: Extracted) -> Body:
        """The message for the body's topic; called only where there is a body."""
