"""HTML documents: scope, bibliography, sub-resources, full text as TEI."""

from sandcrawler.ingest.base import HTML_TYPES
from sandcrawler.model import Extracted, FileMeta, HtmlTeixml, IngestType
from sandcrawler.names import Topic
from sandcrawler.status import Status


class Html:
    """See `base.Kind`."""

    name: IngestType = "html"
    topic = Topic.HTML_TEIXML

    def accepts(self, mimetype: str) -> bool:
        return mimetype in HTML_TYPES

    def mimetype(self, sniffed: str, extracted: Extracted) -> str:  # noqa: ARG002  (the interface's)
        return sniffed

    def body(self, file_meta: FileMeta, extracted: Extracted) -> HtmlTeixml:
        return HtmlTeixml(
            key=file_meta.sha1hex,
            sha1hex=file_meta.sha1hex,
            status=Status.SUCCESS,
            tei_xml=(extracted.body or b"").decode("utf-8"),
            word_count=extracted.html_body.word_count if extracted.html_body else None,
        )
