"""Bytes of XML → text: which encoding, by RFC 7303 section 3 and XML 1.0 appendix F. Nothing is guessed.

The order is: byte order mark, the charset parameter of Content-Type, the XML declaration, UTF-8. The header's charset
counts where the type is an XML one, or unknown; behind text/html or text/plain it is the server's default for pages,
and the document's own declaration knows better. Labels mean what they say (iso-8859-1 is not windows-1252 here),
except that the names of old East Asian sets stand for the supersets that everybody writes. Bytes that are wrong in
their encoding are a fatal error (XML 1.0, 4.3.3).
"""

import codecs
import re

from sandcrawler.extract.xml.errors import XmlError

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32le"),  # before UTF-16's, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
# How "<" or "<?" looks in families that are no supersets of ASCII (XML 1.0, appendix F.1).
_UNMARKED = (
    (b"<\0\0\0", "utf-32le"),
    (b"\0\0\0<", "utf-32be"),
    (b"<\0", "utf-16le"),
    (b"\0<", "utf-16be"),
    (b"\x4c\x6f\xa7\x94", "cp037"),  # EBCDIC; every code page has the declaration's letters where cp037 has them
)
_WIDE = frozenset({"utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"})
# Sets that are written as their superset.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "ks_c_5601-1987": "cp949", "euc-kr": "cp949"}
# Python's codecs that are no character encodings of documents, or that run over any bytes.
_NOT_ENCODINGS = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7", "mbcs", "oem", "charmap"}
)

_DECLARED = re.compile(
    r"""<\?xml[ \t\r\n][^>]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(["'])([A-Za-z][\w.:-]*)\1""", re.ASCII
)
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([\w.:+-]+)""", re.IGNORECASE)
_XML_TYPE = re.compile(r"\s*(?:$|;|\S+/(?:\S+\+)?xml(?:-\S+)?\s*(?:;|$)|application/octet-stream\b)", re.IGNORECASE)
DECLARATION_BYTES = 1024


def determine(body: bytes, content_type: str | None) -> str:
    """The label (lower case) of the encoding that these bytes must be read in."""
    marked = next((name for mark, name in _BOMS if body.startswith(mark)), None)
    if marked:
        return marked
    family = next((name for start, name in _UNMARKED if body.startswith(start)), None)
    charset = _header(content_type)
    if charset and _XML_TYPE.match(content_type or ""):
        return _settled(charset, family)
    declared = _DECLARED.search(body[:DECLARATION_BYTES].decode(family or "latin-1", "replace"))
    if declared:
        return _settled(declared[2].lower(), family)
    return family or (_settled(charset, family) if charset else "utf-8")


def _header(content_type: str | None) -> str | None:
    """The header's charset, where it is an encoding at all ("charset=none" is not)."""
    found = _CHARSET.search(content_type or "")
    return found[1].lower() if found and _codec(found[1].lower()) else None


def _settled(label: str, family: str | None) -> str:
    """The label with the byte order that the first bytes show, where the label leaves it open."""
    if label in {"utf-16", "iso-10646-ucs-2", "ucs-2"}:
        return family if family and family.startswith("utf-16") else "utf-16be"
    if label in {"utf-32", "iso-10646-ucs-4", "ucs-4"}:
        return family if family and family.startswith("utf-32") else "utf-32be"
    # A declaration that was read as UTF-16 says "UTF-8" by mistake: it could not have been read if it were so.
    return family if family in _WIDE and label not in _WIDE else label


def to_utf8(body: bytes, label: str) -> bytes:
    """The document as UTF-8 without a byte order mark. XmlError where the label or the bytes cannot be used."""
    codec = _codec(label)
    if codec is None:
        raise XmlError(f"unknown encoding {label[:60]!r}")
    try:
        text = body.decode(codec)
        if codec == "utf-8":  # decoding was the check; the bytes themselves are what we want
            return body.removeprefix(codecs.BOM_UTF8)
        return text.removeprefix("\ufeff").encode("utf-8")
    except UnicodeError as error:
        at = f": {error.reason} at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise XmlError(f"the bytes are not {label}{at}") from error


def _codec(label: str) -> str | None:
    """Python's name for an encoding of documents, None where the label names none."""
    try:
        codec = codecs.lookup(_SUPERSETS.get(label, label)).name
        b"ab".decode(codec, "ignore")  # refuses codecs that make no text (hex, rot13)
    except (LookupError, ValueError):
        return None
    return None if codec.replace("-", "_") in _NOT_ENCODINGS else codec
