"""What a document is, by its bytes; the Content-Type header only breaks ties.

Servers label PDF as HTML, JATS as HTML and HTML as XML; magic libraries take HTML for JavaScript. So: signatures
first, then how the markup begins, then a magic library for the rest, then the header.
"""

import hashlib
import re

import puremagic

from sandcrawler.extract import encoding
from sandcrawler.model import FileMeta

HTML, XHTML, XML, PDF = "text/html", "application/xhtml+xml", "application/xml", "application/pdf"
JATS, TEI, TEXT, OCTETS = "application/jats+xml", "application/tei+xml", "text/plain", "application/octet-stream"
SVG = "image/svg+xml"
HTML_TYPES = frozenset({HTML, XHTML})
XML_TYPES = frozenset({XML, JATS, TEI})

# No more than this from the beginning is looked at.
SNIFFED_BYTES = 65536
HEAD_BYTES = 8192
PDF_BYTES = 1024  # PDF readers look for the header in the first kilobyte

# Left out before the root of a markup document: white space, comments, declarations with their internal subset.
_PROLOG = re.compile(rb"\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE(?:[^\[>]|\[.*?\]\s*(?=>))*>", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)([^<>]*)")
_DOCTYPE_HTML = re.compile(rb"<!DOCTYPE\s+(?:[\w.-]+:)?html\b", re.IGNORECASE)
_HTML_TAG = re.compile(
    rb"<(?:html|head|body|title|meta|script|style|link|base|div|p|h[1-6]|table|a|img|br|font|frameset|span|ul|form|center|iframe)"
    rb"(?:\s[^<>]*|/)?>",
    re.IGNORECASE,
)
_XML_NAME = re.compile(r"^[^?#]*\.n?xml(?:[?#]|$)", re.IGNORECASE)
_XHTML_NAMESPACE = b"http://www.w3.org/1999/xhtml"
_JATS_ROOT = re.compile(rb"(?:article|pmc-articleset)$")
_JATS_SIGN = re.compile(
    rb"<(?:[\w.-]+:)?(?:front|article-meta|journal-meta|front-stub)\b|-//NLM//DTD|JATS", re.IGNORECASE
)
_TEI_ROOTS = frozenset({b"TEI", b"TEI.2", b"teiCorpus"})


def sniff(body: bytes, content_type: str | None = None, url: str = "") -> str:
    """The mimetype of a document's original bytes.

    XML kinds are named only where the beginning shows them; the XML reader knows better from the parsed root.
    A URL that ends in .xml stands in for a header that is not there.
    """
    header = (content_type or "").partition(";")[0].strip().lower() or (XML if _XML_NAME.search(url) else "")
    if b"%PDF-" in body[:PDF_BYTES] and not _looks_markup(body[: body.index(b"%PDF-")]):
        return PDF
    head = _ascii(body)
    return _markup(head, header) or _binary(body, header) or _text(body, header)


def file_meta(body: bytes, content_type: str | None = None, url: str = "") -> FileMeta:
    """Size, digests and type of a document's original bytes."""
    return FileMeta(
        size_bytes=len(body),
        md5hex=hashlib.md5(body, usedforsecurity=False).hexdigest(),
        sha1hex=hashlib.sha1(body, usedforsecurity=False).hexdigest(),
        sha256hex=hashlib.sha256(body).hexdigest(),
        mimetype=sniff(body, content_type, url),
    )


def _ascii(body: bytes) -> bytes:
    """The beginning as bytes in an ASCII-compatible encoding, without NULs and byte order mark."""
    head = body[:HEAD_BYTES]
    marked = encoding.bom(head)
    if (marked or "").startswith("utf-16") or head[:4] in (b"<\0?\0", b"\0<\0?", b"<\0!\0", b"\0<\0!"):
        head = encoding.decode(head, marked or ("utf-16le" if head[0] else "utf-16be")).encode()
    return head.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"")


def _looks_markup(head: bytes) -> bool:
    return bool(_HTML_TAG.search(head) or head.lstrip().startswith(b"<?xml"))


def _markup(head: bytes, header: str) -> str | None:
    """The type of a document that begins as markup does."""
    position = 0
    while found := _PROLOG.match(head, position):
        position = found.end()
    prolog, rest = head[:position], head[position:]
    root = _ROOT.match(rest)
    declared_xml = prolog.lstrip().startswith(b"<?xml")
    if root is None:
        if _DOCTYPE_HTML.search(head) or _HTML_TAG.search(head):
            return XHTML if header == XHTML else HTML
        return XML if declared_xml else None
    name, attributes = root[1], root[2]
    if name.lower() == b"html" or _DOCTYPE_HTML.search(prolog):
        strict = declared_xml or header == XHTML
        return XHTML if strict and (_XHTML_NAMESPACE in attributes or header == XHTML) else HTML
    return _xml(name, attributes, rest, prolog, header) or (
        HTML if _HTML_TAG.search(rest) else XML if declared_xml else None
    )


def _xml(name: bytes, attributes: bytes, rest: bytes, prolog: bytes, header: str) -> str | None:
    """The type of an XML document by its root, None where it may as well be a piece of HTML."""
    if name in _TEI_ROOTS:
        return TEI
    if _JATS_ROOT.match(name) and _JATS_SIGN.search(prolog + rest):
        return JATS
    if name == b"svg":
        return SVG
    own_namespace = b"xmlns" in attributes and _XHTML_NAMESPACE not in attributes
    said = (
        own_namespace or prolog.lstrip().startswith(b"<?xml") or (header.endswith(("/xml", "+xml")) and header != XHTML)
    )
    return XML if (said or b"<!DOCTYPE" in prolog) and not _HTML_TAG.match(rest) else None


def _binary(body: bytes, header: str) -> str | None:
    """The type by a signature."""
    if _is_text(body):
        return None
    try:
        matches = puremagic.magic_string(body[:SNIFFED_BYTES])
    except (puremagic.PureError, ValueError, IndexError, KeyError, OSError):
        return None
    types = [str(match.mime_type) for match in matches if match.mime_type and not match.mime_type.startswith("text/")]
    if header in types:
        return header
    return types[0] if types else None


def _is_text(body: bytes) -> bool:
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", body[:1024])


def _text(body: bytes, header: str) -> str:
    """What no signature and no markup names."""
    plausible = re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", header)
    if not body:
        return header if plausible else OCTETS
    if not _is_text(body):
        return header if plausible and header not in HTML_TYPES | XML_TYPES | {PDF} else OCTETS
    if header in HTML_TYPES:
        return header
    if plausible and header.startswith("text/") and header != "text/xml":
        return header
    return "application/json" if header.endswith("json") and body.lstrip()[:1] in (b"{", b"[") else TEXT
