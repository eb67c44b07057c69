"""Waiting pages: a <meta http-equiv="refresh"> that soon leads to another page is a redirect in HTML's clothes.

The Refresh header of a response says the same in the same words (HTML Standard, "shared declarative refresh steps").
"""

import re

from sandcrawler.extract.document import Document
from sandcrawler.extract.urls import resolve, same_page
from sandcrawler.extract.xpath import elements
from sandcrawler.model import Follow

# A refresh after a longer time is an automatic reload of a page that is one; in seconds.
REFRESH_SECONDS = 30
_REFRESH = elements("//meta[@http-equiv][@content][not(ancestor::noscript)][not(ancestor::template)]")
_REFRESH_CONTENT = re.compile(
    r"\s*(?P<delay>\d*)(?:\.[\d.]*)?\s*(?:[;,\s]\s*(?:url\s*=\s*)?(?P<quote>['\"]?)(?P<url>.*))?\Z",
    re.IGNORECASE | re.DOTALL,
)


def find_refresh(document: Document) -> Follow | None:
    """Where a waiting page sends its reader; None for pages that stay."""
    for meta in _REFRESH(document.root):
        if meta.get("http-equiv", "").strip().lower() != "refresh":
            continue
        url = refreshed(meta.get("content", ""), document.base_url, document.url)
        if url:
            return Follow(url, "meta-refresh")
    return None


def refreshed(content: str, base_url: str, here: str) -> str | None:
    """The URL that a refresh leads to. None where there is none, the delay is long, or `here` is only loaded again."""
    match = _REFRESH_CONTENT.match(content)
    if not match or not match["url"] or _seconds(match["delay"]) > REFRESH_SECONDS:
        return None
    written = match["url"]
    if match["quote"]:
        written = written.partition(match["quote"])[0]
    url = resolve(written, base_url)
    return url if url and not same_page(url, here) else None


def _seconds(digits: str) -> int:
    return int(digits[:9] or 0)  # Python refuses to read thousands of digits
