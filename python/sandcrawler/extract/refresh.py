"""Waiting pages: a <meta http-equiv="refresh"> that soon leads to another page is a redirect in HTML's clothes."""

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
    """Where a waiting page sends its reader (HTML Standard, "shared declarative refresh steps").

    None where there is no URL, the delay is long, or the page only reloads itself.
    """
    for meta in _REFRESH(document.root):
        if meta.get("http-equiv", "").strip().lower() != "refresh":
            continue
        match = _REFRESH_CONTENT.match(meta.get("content", ""))
        if not match or not match["url"] or int(match["delay"] or 0) > REFRESH_SECONDS:
            continue
        written = match["url"]
        if match["quote"]:
            written = written.partition(match["quote"])[0]
        url = resolve(written, document.base_url)
        if url and not same_page(url, document.url):
            return Follow(url, "meta-refresh")
    return None
