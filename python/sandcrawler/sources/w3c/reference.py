"""What people write for a W3C publication, as an identifier: with or without "W3C", as a URL, with TR/ before it."""

import re

from sandcrawler.sources.w3c.pubid import Pubid, parse

SPACE = " \t\n\v\f\r\0"
# Each is taken away once, in this order.
TAKEN_AWAY = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII) for pattern in (r"https?://[^/]+/", r"W3C\s+", r"TR[/-]")
)
URL = re.compile(r"https?://", re.IGNORECASE)
# https://www.w3.org/TR/2020/REC-json-ld11-20200716/#sec names a version by the year's folder.
DATED = re.compile(r"(?:https?://[^/]+/)?TR/[0-9]{4}/([^/?#]+)(/[^/?#])?", re.IGNORECASE)
# The last name with a hyphen or a plus in it, and one part below it; greedy, anywhere in the text.
IDENTIFIER = re.compile(r".+/(\w+(?:[-+][\w.]+)+(?:/\w+)?)", re.ASCII)


def identifier(url: str) -> str:
    """The identifier (without "W3C ") of the publication at a URL: its docnumber.

    https://www.w3.org/TR/2024/REC-webrtc-20241008/ → REC-webrtc-20241008; https://www.w3.org/TR/webrtc/ → webrtc.
    """
    found = IDENTIFIER.search(url)
    return found[1] if found else next((part for part in reversed(url.split("/")) if part), "")


def normalize(reference: str) -> str:
    """The reference as text that begins with "W3C ". Dated URLs are named as the harvest names them."""
    text = reference.strip(SPACE)
    if URL.match(text):
        text = re.split(r"[?#]", text, maxsplit=1)[0]
    if DATED.match(text):
        return f"W3C {identifier(text)}"
    for pattern in TAKEN_AWAY:
        text = pattern.sub("", text, count=1) if pattern.match(text) else text
    return f"W3C {text.removesuffix('/')}"


def read(reference: str | Pubid) -> Pubid:
    """The identifier that a reference means. BadReference where there is none."""
    return reference if isinstance(reference, Pubid) else parse(normalize(reference))


def whole(reference: str | Pubid) -> Pubid | None:
    """The publication whose page a dated URL leads to: …/TR/2020/REC-json-ld11-20200716/Overview.html is of
    REC-json-ld11-20200716. For a few old ones the pages are publications themselves: those go first.
    """
    page = None if isinstance(reference, Pubid) else DATED.match(reference.strip(SPACE))
    return parse(f"W3C {page[1]}") if page and page[2] else None
