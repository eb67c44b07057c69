"""XML documents: what they are by their parsed root, and the same document re-encoded as UTF-8."""

from sandcrawler.extract.xml import xml_mimetype
from sandcrawler.model import Extracted, FileMeta, IngestType, XmlDoc
from sandcrawler.names import Topic
from sandcrawler.status import Status


class Xml:
    """See `base.Kind`."""

    name: IngestType = "xml"
    topic = Topic.XML_DOC

    def accepts(self, mimetype: str) -> bool:
        return mimetype in {"application/xml", "text/xml"} or (
            mimetype.endswith("+xml") and mimetype != "application/xhtml+xml"
        )

    def mimetype(self, sniffed: str, extracted: Extracted) -> str:
        meta = extracted.xml_meta
        return sniffed if meta is None or meta.schema_ is None else xml_mimetype(meta.schema_)

    def body(self, file_meta: FileMeta, extracted: Extracted) -> XmlDoc:
        return XmlDoc(
            key=file_meta.sha1hex,
            sha1hex=file_meta.sha1hex,
            status=Status.SUCCESS,
            schema_=extracted.xml_meta.schema_ if extracted.xml_meta else None,
            xml=(extracted.body or b"").decode("utf-8"),
        )
