"""What stands at the head of an article as print has it: who wrote it, volume and issue, when it was posted.

For pages without metas: old journals, plain blogs, platforms that keep authors in their markup only. Commas never part
names here either, since what follows a comma may be an affiliation.
"""

import itertools
import re

from lxml.html import HtmlElement

from sandcrawler.extract.biblio.values import line
from sandcrawler.extract.document import Document, visible_text
from sandcrawler.extract.text import text_of

HEAD = 3000  # characters of shown text in which a page says what it belongs to
LONG_TEXT = 150  # characters of a paragraph that is the text itself
MAX_ELEMENTS = 400
MAX_AUTHORS = 5000

_SURNAME = "//*[contains(@class,'surname') or contains(@class,'family-name')]"
_HCARD = (
    "//*[contains(concat(' ',@class,' '),' author ') and contains(concat(' ',@class,' '),' vcard ')]"
    "//*[contains(concat(' ',@class,' '),' fn ')] | //*[contains(concat(' ',@class,' '),' p-author ')]"
)
_POSTED = (
    "//time[@datetime][contains(@class,'published') or contains(@class,'entry-date') or @pubdate]"
    " | //abbr[@title][contains(@class,'published')]"
)
# "By Ana Ruiz and Per Ode"
_BYLINE_TAGS = ("p", "div", "span", "h2", "h3", "h4", "h5", "address", "td", "center", "font", "b", "strong", "em", "i")
_BYLINE = re.compile(r"[Bb][Yy]:?\s+([^\d,;:()|]+)")
_AND = re.compile(r"\s+(?:and|&)\s+")
_NAME = re.compile(
    r"(?!(?:Date|Category|Topic|Author|Subject|Title|Volume|Issue|Publication|Most)\b)(?![a-z])[^\W\d_]\S*(?:\s+\S+){1,4}"
)
# "Volume 23, Number 5/6", "Vol. 4 (2001) No. 2"
_VOLUME = re.compile(
    r"\bvol(?:ume|\.)?\s*(\d{1,4})\s*[,;:.–-]?\s*(?:\(?\d{4}\)?[,;:]?\s*)?"
    r"(?:number|no|nr|issue|iss)\b\.?\s*(\d{1,4}(?:[/–-]\d{1,4})?)",
    re.IGNORECASE,
)
_LIST = re.compile(r"ref|bibl|cit|footnote|related|recommend|sidebar|footer", re.IGNORECASE)


def in_list(element: HtmlElement) -> bool:
    """Whether an element stands among references, related works or the like."""
    near = [element, *list(element.iterancestors())[:6]]
    return any(_LIST.search(f"{e.get('class') or ''} {e.get('id') or ''}") for e in near if e.tag != "body")


def marked_names(document: Document) -> list[str]:
    """Given name and surname in elements of their own, side by side, as pages made from JATS have them."""
    names = []
    for surname in document.root.xpath(_SURNAME)[:MAX_AUTHORS]:
        around = surname.getparent()
        given = [e for e in (around if around is not None else ()) if "given-name" in (e.get("class") or "")]
        if given and not in_list(surname):
            names.append(f"{text_of(given[0], 200)} {text_of(surname, 200)}")
    return names


def card_name(document: Document) -> list[str]:
    """The author of a post as a microformat (hCard); where several are named, it is a list of posts."""
    names = {name for card in document.root.xpath(_HCARD)[:MAX_ELEMENTS] if (name := line(text_of(card, 200)))}
    return list(names) if len(names) == 1 else []


def written_names(document: Document) -> list[str]:
    """ "By Ana Ruiz and Per Ode", alone in an element before the text begins."""
    for element in itertools.islice(document.root.iter(*_BYLINE_TAGS), MAX_ELEMENTS):
        text = " ".join(text_of(element, 2 * LONG_TEXT).split())
        if element.tag == "p" and len(text) > LONG_TEXT:
            break
        if found := _BYLINE.fullmatch(text):
            names = _AND.split(found[1])
            return names if all(map(_NAME.fullmatch, names)) else []
    return []


def volume_and_issue(document: Document) -> tuple[str, str] | None:
    """Volume and issue, where the beginning of the page names just one of each."""
    head, length = list[str](), 0
    for piece in visible_text(document.root):
        length += len(piece)
        if length > HEAD or len(piece.strip()) > LONG_TEXT:
            break
        head.append(piece)
    found = set(_VOLUME.findall(" ".join(" ".join(head).split())))
    return found.pop() if len(found) == 1 else None


def posted(document: Document) -> list[str]:
    """When a post appeared, where it is marked and all marks agree on the day."""
    marked = document.root.xpath(_POSTED)[:MAX_ELEMENTS]
    days = {text[:10]: text for e in marked if (text := e.get("datetime") or e.get("title"))}
    return list(days.values()) if len(days) == 1 else []
