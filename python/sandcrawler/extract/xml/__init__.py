"""XML documents: bytes → kind, bibliography, and the same document as UTF-8. Pure: nothing is opened or fetched.

encoding   which encoding (RFC 7303), and the document as UTF-8
prolog     what stands before the root; what of its DOCTYPE the parser may see
expansion  what entities would become, added up beforehand
tree       the tree, and the document to publish
entities   names of characters
schema     jats, tei or other, by structure
jats, tei  their bibliographies
"""

from sandcrawler.extract.text import count_words
from sandcrawler.extract.xml import encoding, jats, schema, tei, tree
from sandcrawler.extract.xml.errors import XmlError
from sandcrawler.extract.xml.nodes import child, whole_text
from sandcrawler.extract.xml.schema import Kind
from sandcrawler.model import Biblio, Extracted, Page, XmlMeta
from sandcrawler.status import Status

__all__ = ["extract_xml", "xml_mimetype"]

_MIMETYPES = {"jats": "application/jats+xml", "tei": "application/tei+xml"}
_READERS = {"jats": jats.read, "tei": tei.read}
# Where a kind keeps its text; other kinds are counted whole.
_BODIES = {"jats": "body", "tei": "text"}
MAX_MESSAGE = 1600


def extract_xml(page: Page) -> Extracted:
    """All that can be said of an XML document. Never raises on any bytes.

    Status success for JATS and TEI, unknown-scope for another well-formed document (its body is kept), and
    xml-parse-error, with a message and without a body, for what is not well-formed or is refused (entity bombs,
    references to external entities).
    """
    label = encoding.determine(page.body, page.content_type)
    try:
        parsed = tree.parse(encoding.to_utf8(page.body, label))
    except XmlError as error:
        status = Status.XML_PARSE_ERROR
        return Extracted(status, str(error)[:MAX_MESSAGE], xml_meta=XmlMeta(status=status, encoding=label[:60]))
    kind = schema.kind(parsed.root)
    status = Status.UNKNOWN_SCOPE if kind.schema == "other" else Status.SUCCESS
    meta = XmlMeta(
        status=status,
        schema_=kind.schema,
        root=kind.root,
        encoding=label,
        biblio=_biblio(kind),
        word_count=_words(kind),
    )
    return Extracted(status, platform=kind.platform, xml_meta=meta, body=parsed.body)


def xml_mimetype(schema_: str | None) -> str:
    """The mimetype of an XML document of this kind (xml_meta.schema)."""
    return _MIMETYPES.get(schema_ or "", "application/xml")


def _biblio(kind: Kind) -> Biblio | None:
    read = _READERS.get(kind.schema)
    return read(kind.element) if read else None


def _words(kind: Kind) -> int:
    """Words of the document's own text."""
    part = child(kind.element, _BODIES[kind.schema]) if kind.schema in _BODIES else kind.element
    return 0 if part is None else count_words(whole_text(part))
