"""Text as people read it: clean strings and counted words."""

import re
import unicodedata

from lxml.html import HtmlElement

# Scripts that write without blanks: Thai, Lao, Khmer, kana, bopomofo, ideographs. Hangul has blanks.
_UNSPACED = r"\u0e00-\u0eff\u1780-\u17ff\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IDEOGRAPH = re.compile(f"[{_UNSPACED}]")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphen, zero-width space, word joiner, byte order mark


def count_words(text: str) -> int:
    """Words of a text: what blanks separate, and in scripts without blanks two characters for a word."""
    words = sum(any(map(str.isalnum, word)) for word in text.split())
    return words if text.isascii() else words + len(_IDEOGRAPH.findall(text)) // 2


def text_of(element: HtmlElement, limit: int) -> str:
    """At most so many characters of an element's text: unclosed elements hold the rest of a page of many MB."""
    pieces, length = list[str](), 0
    for piece in element.itertext():
        pieces.append(str(piece))
        length += len(piece)
        if length >= limit:
            break
    return "".join(pieces)[:limit]


def tidy(text: str) -> str:
    """The text on one line: no control characters or surrogates, no invisible characters, single blanks, NFC."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    if not text.isprintable():
        text = _UNFIT.sub("", re.sub(r"[\x09-\x0d\x85]", " ", text))
    return " ".join(text.split())
