"""What CSS asks for: `url(…)` and `@import`, read with the escapes and comments of CSS Syntax Level 3.

Possessive quantifiers (`*+`) keep the reading linear on hostile sheets.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from sandcrawler.extract.urls import resolve
from sandcrawler.model import ResourceType, WantedResource

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = r""" "((?:[^"\\\n]|\\.)*+)" | '((?:[^'\\\n]|\\.)*+)' """
_URL = rf""" \burl\(\s*+(?: {_STRING} | ((?:[^\s"'()\\]|\\[0-9a-f]{{1,6}}\s?|\\.)*+) )\s*+\) """
_REFERENCE = re.compile(
    rf"(@import|@namespace(?:\s++[\w-]++(?!\())?+)\s*+(?: {_STRING} | {_URL} ) | {_URL}",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_FONTS = (".woff", ".woff2", ".ttf", ".otf", ".eot")


def css_resources(css_text: str, css_url: str) -> tuple[WantedResource, ...]:
    """Everything that a style sheet (or a style attribute) asks for, in order, each once.

    `css_url`: what its URLs resolve against: the sheet's own URL, the page's base for inline CSS.
    """
    found: dict[str, WantedResource] = {}
    for written, imported in _references(_COMMENT.sub(" ", css_text)):
        url = resolve(written, css_url)
        if url:
            kind: ResourceType = "stylesheet" if imported else _kind(url)
            found.setdefault(url, WantedResource(url=url, resource_type=kind))
    return tuple(found.values())


def _references(css: str) -> Iterator[tuple[str, bool]]:
    for match in _REFERENCE.finditer(css):
        at, *values = match.groups()
        written = next((value for value in values if value is not None), "")
        if not (at or "").lower().startswith("@namespace"):
            yield _ESCAPE.sub(_unescaped, written), at is not None


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return "" if match[2] == "\n" else match[2]


def _kind(url: str) -> ResourceType:
    path = urlsplit(url).path.lower()
    return "font" if path.endswith(_FONTS) else "stylesheet" if path.endswith(".css") else "image"
