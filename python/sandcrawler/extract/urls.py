"""A URL as written in a page -> the URL that a browser would ask for, or None where it would ask for nothing.

The WHATWG URL rules that matter for references in pages: controls and blanks around it are stripped, tabs and line
breaks inside deleted, `\\` is `/`, blanks and non-ASCII become UTF-8 percent codes, the fragment is not sent. One
repair beyond them: `https://https://host/` (seen on many OJS sites) loses the first scheme.
"""

import re
from urllib.parse import urljoin, urlsplit, urlunsplit

from w3lib.url import safe_url_string

_EDGES = "".join(map(chr, range(0x21)))
_DELETED = str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_DOUBLED = re.compile(r"https?://(?=https?://)", re.IGNORECASE)
_PLAIN = re.compile(r"[!$&'()*+,\-./:;=?@\w~%\[\]]*", re.ASCII)
MAX_CHARACTERS = 8192


def resolve(written: str | None, base: str) -> str | None:
    """The absolute http(s) URL, without fragment. None for nothing, other schemes and what cannot be parsed."""
    if not written:
        return None
    url = written.strip(_EDGES).translate(_DELETED)
    scheme = _SCHEME.match(url)
    if not url or url.startswith("#") or len(url) > MAX_CHARACTERS:
        return None
    if scheme and scheme.group().lower() not in ("http:", "https:"):
        return None
    if "\\" in url:
        head, mark, query = url.partition("?")
        url = head.replace("\\", "/") + mark + query
    try:
        return _canonical(urljoin(base, _DOUBLED.sub("", url)))
    except ValueError:  # "//[bad/4.png": Invalid IPv6 URL
        return None


def _canonical(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or _bad_port(parts.netloc):
        return None
    path = parts.path or "/"
    url = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
    if _PLAIN.fullmatch(url):
        return url
    safe = str(safe_url_string(url, encoding="utf-8", quote_path=True))
    return safe if safe.isascii() else None  # "https://\ufffddn.example.org/": no name server could be asked for it


def _bad_port(netloc: str) -> bool:
    _, _, port = netloc.rpartition("@")[2].rpartition("]")[2].partition(":")
    return bool(port) and not (port.isascii() and port.isdigit() and int(port) < 65536)


def same_page(left: str, right: str) -> bool:
    """Whether two URLs name one page: scheme, `www.`, fragment, a final slash and host case make no difference."""
    return _key(left) == _key(right)


def _key(url: str) -> tuple[str, str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ("", url, "")
    return (parts.netloc.lower().removeprefix("www."), parts.path.rstrip("/"), parts.query)
