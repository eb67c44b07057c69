"""Bytes → text: which encoding a document is in, by the rules that browsers follow.

The order is that of the HTML Standard ("determining the character encoding"): byte order mark, Content-Type charset,
declaration in the document (<meta>, XML declaration). Where nobody says, UTF-8 if the bytes are UTF-8, else a
detector where most letters are beyond ASCII, else windows-1252. Labels are those of the Encoding Standard, so
iso-8859-1 means windows-1252, and Python-only codecs (hex, utf-7, …) are no encodings.

Decoding never fails, and the text holds only characters that XML 1.0 can hold.
"""

import re

import webencodings
from charset_normalizer import from_bytes

# Pages declare late (comments, scripts first): the standard's 1,024 bytes are what a browser waits for, not a limit.
PRESCAN_BYTES = 8192
DETECT_BYTES = 32768
FALLBACK = "windows-1252"

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
# UTF-16 without a mark is only taken for markup that begins in ASCII.
_UNMARKED = (
    (b"<\0?\0x\0", "utf-16le"),
    (b"\0<\0?\0x", "utf-16be"),
    (b"<\0!\0D\0", "utf-16le"),
    (b"<\0h\0t\0", "utf-16le"),
)

_HEADER_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?\s*([\w.:+-]+)""", re.IGNORECASE)
_DECLARED = re.compile(
    rb"""<!--.*?(?:-->|\Z)
    | <(?P<raw>script|style|title|textarea)\b.*?(?:</(?P=raw)|\Z)
    | <meta(?P<meta>[\s/](?:[^>"']|"[^"]*"|'[^']*')*)
    | <\?xml\s[^>]*?encoding\s*=\s*["']\s*(?P<xml>[\w.:+-]+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(rb"""([^\s"'>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*))""")
_CONTENT_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:+-]+)""", re.IGNORECASE)
# A declaration that could be read as ASCII cannot be UTF-16, whatever it says.
_NOT_SO = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}

_PYTHON_NAMES = {"cp932": "shift_jis", "cp949": "euc-kr", "cp950": "big5", "mac_cyrillic": "x-mac-cyrillic"}
_NON_ASCII = re.compile(rb"[\x80-\xff]+")
_ASCII_LETTERS = re.compile(rb"[A-Za-z]+")
_MARKUP = re.compile(rb"<(script|style)\b.*?(?:</\1|\Z)|<!--.*?(?:-->|\Z)|<[^>]*(?:>|\Z)", re.IGNORECASE | re.DOTALL)

# What XML 1.0 cannot hold, as characters and as the references that would make them.
_UNFIT = re.compile("[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
_NONCHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_UNFIT_REFERENCE = re.compile(
    r"&#(?:0*(?:[0-8]|1[14-9]|2\d|3[01]|6553[45])|x0*(?:[0-8be-f]|1[\da-f]|fff[ef]))(?![\da-f]);?", re.IGNORECASE
)


def whatwg(label: str | bytes | None) -> str | None:
    """The Encoding Standard's name (lower case) for a label, None where it is no label: "latin1" → windows-1252."""
    if label is None:
        return None
    text = label.decode("ascii", "replace") if isinstance(label, bytes) else label
    try:
        encoding = webencodings.lookup(text)
    except (LookupError, ValueError):
        return None
    return str(encoding.name).lower() if encoding is not None else None


def header_charset(content_type: str | None) -> str | None:
    """The encoding that a Content-Type header names."""
    found = _HEADER_CHARSET.search(content_type or "")
    return whatwg(found[1]) if found else None


def declared(body: bytes) -> str | None:
    """The encoding that the document itself names near its beginning: <meta charset>, <meta http-equiv>, <?xml …?>."""
    for found in _DECLARED.finditer(body[:PRESCAN_BYTES]):
        label = found["xml"] or (_meta_charset(found["meta"]) if found["meta"] else None)
        if label and (name := whatwg(label)):
            return _NOT_SO.get(name, name)
    return None


def _meta_charset(attributes: bytes) -> bytes | None:
    """The label in `charset`, or in the `content` of a `http-equiv`; a description may talk of charsets too."""
    stated: dict[bytes, bytes] = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(attributes)}
    if b"charset" in stated:
        return stated[b"charset"].strip()
    found = _CONTENT_CHARSET.search(stated.get(b"content", b"")) if b"http-equiv" in stated else None
    return found[1] if found else None


def bom(body: bytes) -> str | None:
    """The encoding that a byte order mark names."""
    return next((name for mark, name in _BOMS if body.startswith(mark)), None)


def determine(body: bytes, content_type: str | None = None) -> str:
    """The encoding of an HTML document, by the order above."""
    named = bom(body) or header_charset(content_type)
    if named:
        return named
    unmarked = next((name for start, name in _UNMARKED if body.startswith(start)), None)
    return unmarked or declared(body) or guess(body)


def guess(body: bytes) -> str:
    """The encoding of bytes that nobody labelled."""
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    # A stray byte in a page that is otherwise UTF-8 (a quotation pasted in) does not make it another encoding.
    if not wrong or wrong * 10 < sum(map(len, re.findall("[^\x00-\x7f]+", text))):
        return "utf-8"
    words = _MARKUP.sub(b" ", body)[:DETECT_BYTES]
    beyond = sum(map(len, _NON_ASCII.findall(words)))
    # Western European text has few letters beyond ASCII, and detectors take it for Central European.
    if beyond > 0.4 * sum(map(len, _ASCII_LETTERS.findall(words))):
        best = from_bytes(words).best()
        names = (_of_python(name) for name in best.could_be_from_charset) if best else iter(())
        return next((name for name in names if name), FALLBACK)
    return FALLBACK


def _of_python(name: str) -> str | None:
    """The detector speaks Python's names: cp1251, cp949, euc_jp."""
    return whatwg(_PYTHON_NAMES.get(name) or re.sub(r"^cp(125\d|874)$", r"windows-\1", name.replace("_", "-")))


def decode(body: bytes, encoding: str) -> str:
    """The text of these bytes (encoding: a name that `determine` gives), without a byte order mark; never fails.

    Bytes that mean nothing become U+FFFD; characters that XML cannot hold, and references to them, are left out.
    """
    # The standard's decoder of gbk is that of gb18030; Python's is not.
    name = "gb18030" if encoding == "gbk" else encoding
    codec = (webencodings.lookup(name) or webencodings.UTF8).codec_info
    text = codec.decode(body, "replace")[0].removeprefix("\ufeff")
    return fit(text)


def _is_fit(text: str) -> bool:
    """Whether nothing needs to be taken out, as nearly always; bytes are looked through faster than characters."""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return len(data.translate(None, _CONTROLS)) == len(data) and not any(each in data for each in _NONCHARACTERS)


def fit(text: str) -> str:
    """The text without characters, and without references to characters, that XML 1.0 cannot hold."""
    if not _is_fit(text):
        text = _UNFIT.sub("", text.replace("\x0c", " "))
    return _UNFIT_REFERENCE.sub("", text) if "&#" in text else text
