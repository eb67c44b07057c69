"""A page's title without the name of its site: "Kite counts | Shore Notes" → "Kite counts".

`<title>` and og:title carry the site's name at one end. It is known from the metas (og:site_name, the journal, the
publisher), from the host, or because a heading of the page is the title without it; then the heading's wording wins.
"""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from urllib.parse import urlsplit

from sandcrawler.extract.biblio.values import line
from sandcrawler.extract.biblio.words import IDLE_TITLES
from sandcrawler.extract.document import Document
from sandcrawler.extract.text import text_of

_SEPARATOR = re.compile(r"\s+[|\-–—·•»«>/~]+\s+|\s*\|+\s*|\s*::+\s*|\s+:\s+")
_ASIDE = frozenset({"nav", "footer", "aside"})
MAX_HEADINGS = 60
MAX_CHARACTERS = 1000


class Titles:
    """The titles of one page. `sites` gives what the page calls its site, its journal and its publisher."""

    def __init__(self, document: Document, sites: Callable[[], Iterable[str]]) -> None:
        self._document = document
        self._named = sites
        self._host = _host_words(document.url)

    @cached_property
    def _sites(self) -> frozenset[str]:
        return frozenset(plain for site in self._named() for name in _short_forms(site) if (plain := _plain(name)))

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """The page's h1, then its h2, that have text and are not the site's name."""
        found: dict[str, list[str]] = {"h1": [], "h2": []}
        for element in list(self._document.root.iter("h1", "h2"))[:MAX_HEADINGS]:
            text = line(text_of(element, 2 * MAX_CHARACTERS))
            aside = any(above.tag in _ASIDE for above in element.iterancestors())
            if text and not aside and not self.is_site(text) and text.lower() not in IDLE_TITLES:
                found[element.tag].append(text)
        return (*found["h1"], *found["h2"])

    @cached_property
    def title(self) -> str | None:
        """The text of <title>."""
        element = next((e for e in self._document.root.iter("title") if not _drawn(e)), None)
        return line(text_of(element, 4 * MAX_CHARACTERS)) if element is not None else None

    def without_site(self, title: str | None) -> str | None:
        """A title without the site's name, None where nothing else is in it."""
        if title is None:
            return None
        heading = max((h for h in self.headings if _begins(title, h)), key=len, default=None)
        if heading and (len(heading.split()) > 1 or len(title.split()) <= 6):
            return heading
        parts, separators = _SEPARATOR.split(title), _SEPARATOR.findall(title)
        first, last = 0, len(parts)
        while last - first > 1 and self.is_site(parts[last - 1]):
            last -= 1
        while last - first > 1 and self.is_site(parts[first]):
            first += 1
        kept = "".join(
            part + gap for part, gap in zip(parts[first:last], [*separators[first : last - 1], ""], strict=True)
        )
        return None if self.is_site(kept) or kept.strip().lower() in IDLE_TITLES else kept.strip()

    def is_site(self, text: str) -> bool:
        """Whether a text is only the name of the site, the journal or the publisher."""
        plain = _plain(text)
        return not plain or plain in self._sites or re.sub(r"[\d ]", "", plain) in self._host


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())


def _short_forms(site: str) -> list[str]:
    """ "PubMed Central (PMC)" is also "PubMed Central" and "PMC"."""
    found = re.fullmatch(r"(.+?)\s*\(([^()]+)\)", site)
    return [site, found[1], found[2]] if found else [site]


def _begins(title: str, heading: str) -> bool:
    """Whether a title is a heading, with or without something behind (or before) a separator."""
    whole, part = _plain(title), _plain(heading)
    if not part or (whole != part and not whole.startswith(part + " ") and not whole.endswith(" " + part)):
        return False
    if whole == part:
        return True
    pieces = _SEPARATOR.split(title)
    starts = {_plain(" ".join(pieces[:n])) for n in range(1, len(pieces))}
    ends = {_plain(" ".join(pieces[n:])) for n in range(1, len(pieces))}
    return part in starts | ends


def _host_words(url: str) -> frozenset[str]:
    """What a site may be called by its address: en.wikipedia.org → wikipedia, wikipedia.org, en.wikipedia.org."""
    try:
        host = (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return frozenset()
    labels = host.split(".")
    names = {"".join(labels[n:]) for n in range(len(labels))} | set(labels[:-1])
    return frozenset(re.sub(r"\W", "", name) for name in names if len(name) > 3)


def _drawn(element: object) -> bool:
    """<title> inside <svg> names a drawing."""
    return any(str(above.tag).rpartition("}")[2] in {"svg", "symbol", "g"} for above in element.iterancestors())  # type: ignore[attr-defined]
