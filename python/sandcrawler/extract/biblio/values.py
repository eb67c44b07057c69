"""How the values of a bibliography are read: a string as a page wrote it → the value, or None where it is none.

Every function takes text that may still hold entities, markup and control characters, and gives clean text.
"""

import re
from html import unescape

from sandcrawler.extract.biblio.words import ACCOUNTS, PLACEHOLDERS
from sandcrawler.extract.text import tidy

MAX_CHARACTERS = 50_000  # of one value; the longest honest one is an abstract or a reference

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INLINE = (
    "i|b|em|strong|sub|sup|span|font|u|a|tt|small|big|inf|sc|italic|bold|monospace|code|abbr|cite|q|mark|nobr|wbr|s"
    "|strike|(?:mml|jats|m|ce|sb):[\\w-]+|xref|math|m(?:row|i|o|n|sub|sup|text|frac|style|over|under|subsup|sqrt)"
)
_BLOCK = (
    "p|br|div|h[1-6]|li|ul|ol|dl|dt|dd|tr|td|th|table|tbody|hr|img|title|sec|section|article|list|list-item"
    "|blockquote|center|pre|label"
)
_TAG = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?:/?(?P<inline>{_INLINE})(?=[\s/>])|/?(?P<block>{_BLOCK})(?=[\s/>]))[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_HIDDEN = re.compile(r"<(script|style|annotation(?:-xml)?|tex-math)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TEMPLATE = re.compile(r"\{\{.*\}\}|\$\{.*\}|\[%.*%\]|<%.*%>|%[A-Z_]+%|@@.*@@|\{[\w.]+\}|\[\w+[:_-][\w:-]+\]")

_LABEL = re.compile(
    r"^(?:vol(?:ume)?|issue|iss|no|nr|num(?:ber|ero)?|núm(?:ero)?|n[º°]|band|bd|heft|tome?)\b[.:]?\s*", re.IGNORECASE
)
_PAGE_LABEL = re.compile(r"^(?:pages?|pp?|págs?|seiten?|s)\b[.:]?\s*(?=\w)", re.IGNORECASE)
_DASH = re.compile(r"\s*(?:--+|[-‐‑–—−])\s*")
_NAME_TAIL = re.compile(r"[\s,;*†‡§¶#]+$")
# Library records add the years of a life, the role, the ORCID iD: "Ode, Per, 1970-", "Ek, Ola (author)".
_NAME_EXTRA = re.compile(
    r",?\s*\(?\b1[5-9]\d\d\s?[-–]\s?(?:\d{4})?\)?\.?\s*$|\s*\((?:author|creator|aut|autor|autora)\)\s*$"
    r"|\s*[\[(]?(?:https?://orcid\.org/|orcid:?\s*)?\d{4}-\d{4}-\d{4}-\d{3}[\dX][\])]?\s*$",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"\S+@\S+")
_BYLINE = re.compile(r"^(?:by|von|por|par)\s*:?\s+(?=\S)", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s\"'<>()]+|(?<![\w./])//[\w.-]+\.\w+/[^\s\"'<>()]*", re.IGNORECASE)
# dc.Publisher of one platform: "SAGE PublicationsSage UK: London, England", "ACMPUB27New York, NY, USA"
_GLUED_PLACE = re.compile(r"(?:PUB\d+|(?<=[a-z])(?=Sage (?:UK|CA|US|India|Publications):?))(?:Sage|New York).*$")
# "Shore Notes; Vol. 3 (2020)", "Nature 2021 596:7873", "Metabolites 2014, Vol. 4, Pages 932-945"
_CITATION_TAIL = re.compile(
    r"\s*(?:;.*|[,.(]?\s+(?:vol(?:ume)?|no|issue|núm|pp?)\b\.?\s*\d.*|[,(]?\s*\b(?:1[5-9]|20)\d\d\b\s*[,;:).\d].*)$",
    re.IGNORECASE | re.DOTALL,
)
_ABSTRACT_LABEL = re.compile(
    r"^(?:abstract|summary|résumé|resumen|resumo|zusammenfassung)\s*[:.–—-]?\s*(?=[A-Z¿\"“(\d])", re.IGNORECASE
)


def decoded(text: str) -> str:
    """Entities resolved as often as the page escaped them (at most four times)."""
    for _ in range(4):
        if "&" not in text:
            break
        plain = _ENTITY.sub(lambda found: unescape(found.group()), text)
        if plain == text:
            break
        text = plain
    return text


def line(text: str) -> str | None:
    """One line of clean text, without markup; None where nothing is left or a placeholder stands there."""
    plain = decoded(text[:MAX_CHARACTERS])
    if "<" in plain:
        plain = _TAG.sub(lambda found: "" if found["inline"] else " ", _HIDDEN.sub(" ", plain))
    plain = tidy(plain)
    if not plain or plain.lower() in PLACEHOLDERS or _TEMPLATE.fullmatch(plain) or not re.search(r"\w", plain):
        return None
    return plain


def names(text: str) -> tuple[str, ...] | None:
    """The people in one value: separated by semicolons or bars, never by commas ("Surname, Given" is one)."""
    plain = line(text)
    if plain is None or _URL.match(plain):
        return None
    parts = (_NAME_TAIL.sub("", _NAME_EXTRA.sub("", part)) for part in re.split(r"[;|]", plain))
    return tuple(name for part in parts if _is_name(name := _BYLINE.sub("", part.strip()))) or None


def _is_name(text: str) -> bool:
    """Whether a text has letters and is neither a placeholder, an account nor an e-mail address."""
    lettered = re.search(r"[^\W\d_]", text)
    return bool(lettered and line(text)) and text.lower() not in ACCOUNTS and not _EMAIL.fullmatch(text)


def keywords(text: str) -> tuple[str, ...] | None:
    """The keywords in one value: separated by semicolons, else by commas."""
    plain = line(text)
    if plain is None:
        return None
    separator = ";" if ";" in plain else "|" if "|" in plain else ","
    return tuple(word for part in plain.split(separator) if (word := part.strip(" .,;"))) or None


def lettered(text: str) -> str | None:
    """A line with letters in it: a journal is not abbreviated to "1"."""
    plain = line(text)
    return plain if plain and re.search(r"[^\W\d_]", plain) else None


def organisation(text: str) -> str | None:
    """A publisher's name; its web address is none."""
    plain = line(text)
    return None if plain is None or _URL.match(plain) else _GLUED_PLACE.sub("", plain)


def container(text: str) -> str | None:
    """A journal, conference or book, without the volume, year and pages that Dublin Core adds to it."""
    plain = organisation(text)
    if plain is None or re.match(
        r"(?:doi|urn|issn|isbn|hdl|info|oai):?\s*[\d:/]|10\.\d{4}/|\d+[-;/,.\d]*$", plain, re.IGNORECASE
    ):
        return None
    return _CITATION_TAIL.sub("", plain).strip(" ,;:") or None


def number(text: str) -> str | None:
    """A volume, issue or number as the page counts, without its label; nothing that is only zeros."""
    plain = line(text)
    if plain is None:
        return None
    plain = _LABEL.sub("", plain).strip(" .,;:")
    return plain if plain and plain.strip("0") and len(plain) <= 100 and not _URL.match(plain) else None


def page(text: str) -> str | None:
    """The first page of what a page-number meta holds: "123-145" → "123"; the page or article number as it is."""
    plain = line(text)
    if plain is None or len(plain) > 60 or _URL.match(plain):
        return None
    plain = _PAGE_LABEL.sub("", plain).strip(" .,;:")
    first, last = split_pages(plain)
    value = first if last else plain
    return value if value and value.strip("0-") else None


def pages(text: str) -> str | None:
    """A range of pages: "pp. 123–145" → "123-145". A lone page is none."""
    plain = line(text)
    if plain is None or len(plain) > 60:
        return None
    plain = _PAGE_LABEL.sub("", plain).strip(" .,;:")
    return "-".join(part for part in split_pages(plain) if part) if split_pages(plain)[1] else None


def split_pages(text: str) -> tuple[str, str | None]:
    """First and last page of a range; the last is None where the text is no range ("e123", "2020-04-01")."""
    parts = _DASH.split(text)
    if len(parts) == 2 and all(
        re.fullmatch(r"[A-Za-z]{0,3}\d+[A-Za-z]?|[ivxlcdm]+", part, re.IGNORECASE) for part in parts
    ):
        return parts[0], parts[1]
    return text, None


def prose(text: str) -> str | None:
    """An abstract or description: text of more than a few words, without the word "Abstract" before it."""
    plain = line(text)
    if plain is None:
        return None
    plain = _ABSTRACT_LABEL.sub("", plain).strip()
    return plain if len(plain) >= 40 or (len(plain) >= 15 and not plain.isascii()) else None


def url(text: str) -> str | None:
    """The text of a link, ready to be resolved: `&amp;` undone, blanks off; other entities are parts of queries."""
    plain = text.strip()
    for _ in range(3):
        plain = plain.replace("&amp;", "&").replace("&#38;", "&").replace("&#038;", "&")
    return None if not plain or plain.lower() in PLACEHOLDERS or _TEMPLATE.search(plain) else plain


def licence(text: str) -> str | None:
    """The first web address in a statement of rights."""
    found = _URL.search(tidy(decoded(text[:MAX_CHARACTERS])))
    if not found:
        return None
    value = found.group().rstrip(".,;:")
    return "https:" + value if value.startswith("//") else value
