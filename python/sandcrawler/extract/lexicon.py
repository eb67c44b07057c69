"""The words that pages use for their parts: headings (the table `headings.toml`), class names, roles.

All of it is data: add a word, run the tests.
"""

import re
import tomllib
from enum import Enum
from functools import lru_cache
from importlib.resources import files

from lxml.etree import _Element


class Zone(Enum):
    """What a part of a page is, as far as telling a full text from other pages needs it."""

    BODY = "body"
    ABSTRACT = "abstract"
    CAPTION = "caption"
    REFERENCES = "references"
    CHROME = "chrome"


_NUMBER = re.compile(r"^(?:§\s*)?(?:\d{1,2}(?:\.\d{1,2})*|[ivx]{1,5}|[a-h])[.):\s]+\s*(?=\w)", re.IGNORECASE)
_TABLE = tomllib.loads((files("sandcrawler.extract") / "headings.toml").read_text("utf-8"))
_HEADING_ZONES = {word: Zone(zone) for zone, words in _TABLE["zones"].items() for word in words}
_SECTION_KINDS: dict[str, str] = {word: kind for kind, words in _TABLE["sections"].items() for word in words}

_OPENING = r"(?:^|[\s_-]|(?<=[a-z])(?=[A-Z]))"
_CLOSING = r"(?=$|[\s_-]|[A-Z0-9])"
# Class and id names, as tokens: hlFld-Abstract, abstractSection, ref-list, fig-caption, cookie-banner.
_NAMED_ZONES = (
    (Zone.ABSTRACT, r"[Aa]bstracts?|ABSTRACT|[Rr]esumen|[Rr]esumo|[Zz]usammenfassung|popular-summary|[Hh]ighlights"),
    (
        Zone.REFERENCES,
        r"[Rr]eferences?|[Rr]ef-?[Ll]ist|[Rr]eflist|[Bb]ibliography|[Cc]itations|[Ff]ootnotes|[Ee]ndnotes",
    ),
    (Zone.CAPTION, r"[Cc]aptions?|[Ff]igcaption|[Ff]igures?|[Ff]ig|thumbcaption|[Tt]able-?[Ww]rap|[Ll]egend"),
    (
        Zone.CHROME,
        (
            r"nav|navbar|navigation|menus?|breadcrumbs?|footer|sidebars?|[Cc]ookies?|consent|gdpr|modal|popup|dialog|"
            r"toolbar|share|social|related|recommend(?:ed|ations?)|metrics|login|search|newsletter|advert(?:isement)?|"
            r"comments|respond|disqus|masthead|site-?[Hh]eader|banner|noprint|journal-info|about-journal"
        ),
    ),
)
_NAMED = tuple((zone, re.compile(_OPENING + f"(?:{names})" + _CLOSING)) for zone, names in _NAMED_ZONES)
# Names of the whole page's layout say nothing of one part: "has-sidebar", "page-article-abstract", "two-sidebars".
_LAYOUT = re.compile(r"\b(?:has|with|no|without|is|not|two|one|page|layout|col|template|logged|context)[-_]\S*")
_ROLES = {
    "navigation": Zone.CHROME,
    "banner": Zone.CHROME,
    "contentinfo": Zone.CHROME,
    "complementary": Zone.CHROME,
    "search": Zone.CHROME,
    "dialog": Zone.CHROME,
    "alertdialog": Zone.CHROME,
    "menu": Zone.CHROME,
    "doc-abstract": Zone.ABSTRACT,
    "doc-bibliography": Zone.REFERENCES,
    "doc-endnotes": Zone.REFERENCES,
}
# Elements whose names are asked for a zone.
CONTAINERS = frozenset(
    {"div", "section", "ul", "ol", "dl", "table", "td", "p", "li", "details", "header", "blockquote", "article"}
)


def heading_key(text: str) -> str:
    """A heading as it stands in the tables: lower case, without its number and final punctuation."""
    return _NUMBER.sub("", text.strip().lower(), count=1).strip(" .:*–—-")


def heading_zone(text: str) -> Zone | None:
    """The zone that a heading opens; BODY for an article's own sections, None where the words are not known."""
    key = heading_key(text)
    return Zone.BODY if key in _SECTION_KINDS else _HEADING_ZONES.get(key)


def section_kind(text: str) -> str | None:
    """The kind of an article's section (introduction, methods, …), None where the words are not known."""
    return _SECTION_KINDS.get(heading_key(text))


def named_zone(element: _Element) -> Zone | None:
    """The zone that an element opens by its role, class or id."""
    role = element.get("role")
    if role and role in _ROLES:
        return _ROLES[role]
    name = f"{element.get('class') or ''} {element.get('id') or ''}"
    if len(name) < 3 or len(name) > 500:
        return None
    zone = _zone_of_name(name)
    # What holds the page's main heading is no menu, whatever it is called.
    return None if zone is Zone.CHROME and next(element.iter("h1", "article", "main"), None) is not None else zone


@lru_cache(maxsize=4096)
def _zone_of_name(name: str) -> Zone | None:
    name = _LAYOUT.sub("", name)
    return next((zone for zone, pattern in _NAMED if pattern.search(name)), None)
