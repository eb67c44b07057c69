"""A record of a body topic -> `Blob`: the object's key, bytes and content type.

The object is named by the SHA-1 of the *original* document, which is the record's key, never by a hash of the
(re-encoded) body. Tombstones and messages without a body are counted and skipped; nothing is ever deleted.
"""

from dataclasses import dataclass

from sandcrawler import names, wire
from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.model import HtmlTeixml, PdfText, XmlDoc
from sandcrawler.names import Folder
from sandcrawler.persist.base import Record
from sandcrawler.status import KEPT


@dataclass(frozen=True, slots=True)
class Blob:
    """An object of the bucket. `body`: UTF-8."""

    key: str
    body: bytes
    content_type: str


def decode_html_teixml(record: Record) -> Blob:
    """A record of the html-teixml topic."""
    message = wire.decode(HtmlTeixml, record.value)
    return _blob(record, message, message.tei_xml, Folder.HTML, ".tei.xml")


def decode_xml_doc(record: Record) -> Blob:
    """A record of the xml-doc topic; the schema decides the suffix."""
    message = wire.decode(XmlDoc, record.value)
    suffix = names.XML_SUFFIX.get(message.schema_ or "", names.OTHER_XML_SUFFIX)
    return _blob(record, message, message.xml, Folder.XML, suffix)


def decode_pdf_text(record: Record) -> Blob:
    """A record of the pdf-text topic."""
    message = wire.decode(PdfText, record.value)
    return _blob(record, message, message.text, Folder.TEXT, ".txt")


def _blob(
    record: Record, message: HtmlTeixml | XmlDoc | PdfText, body: str | None, folder: Folder, suffix: str
) -> Blob:
    if not record.key == message.key.encode() == message.sha1hex.encode():
        # A wrong key would outlive the right one in the compacted topic, and file the body under another's name.
        raise InvalidMessage(f"keys differ: record {record.key!r}, key {message.key}, sha1hex {message.sha1hex}")
    if message.status not in KEPT:
        raise SkippedMessage("not-success")
    if not body:
        raise SkippedMessage("no-body")
    return Blob(names.blob_key(folder, message.sha1hex, suffix), body.encode("utf-8"), names.CONTENT_TYPES[folder])
