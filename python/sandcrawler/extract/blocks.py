"""A page as a flat list of blocks of text, each with the zone of the page that it stands in, in one walk of the tree.

Zones are what tells an article from a page about an article: running text counts for a full text, an abstract, figure
captions, references, menus and readers' comments do not. A zone is opened by an element (`<nav>`, `<figcaption>`,
class="abstract") for what is inside it, or by a heading ("References") for what follows it. Words that open zones are
in `lexicon`. The walk does not recurse, so no depth can hurt it.
"""

import re
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element

from sandcrawler.extract.lexicon import CONTAINERS, Zone, heading_zone, named_zone

_SKIPPED = frozenset(
    {"script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "math", "button"}
    | {"select", "textarea", "option", "datalist", "noframes", "title", "audio", "video", "canvas", "map"}
)
_ZONES = {
    "nav": Zone.CHROME,
    "footer": Zone.CHROME,
    "aside": Zone.CHROME,
    "menu": Zone.CHROME,
    "dialog": Zone.CHROME,
    "figure": Zone.CAPTION,
    "figcaption": Zone.CAPTION,
    "caption": Zone.CAPTION,
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img"}
    | {"ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt"}
    | {"u", "var", "wbr", "ruby", "rb", "rt", "rp", "nobr", "blink"}
)
# A block of this many words or fewer whose text is nearly all links belongs to a menu.
_MENU_WORDS = 40
_MENU_SHARE = 0.7
# A block of so many words is a paragraph; a menu has fewer words of paragraphs than this.
_PARAGRAPH_WORDS = 20
_CHROME_WORDS = 400
# A heading's zone lasts no longer than this: an abstract has an end even where no heading marks it.
_LONGEST = {Zone.ABSTRACT: 600, Zone.CHROME: 400}
_HEADING_WORDS = 15
# The rank of a heading that is none in the markup: <p><b>Abstract</b></p>, <td>Abstract</td>.
_LABEL = 7
# Scripts that write without blanks (Thai, Lao, Khmer, kana, ideographs): two characters for a word.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff]")
_NO_HEADING: tuple[int, Zone, _Element | None] = (9, Zone.BODY, None)


@dataclass(slots=True)
class Block:
    """Text between two block boundaries. `level`: 1 to 6 for a heading, else 0. `linked`: words within links.

    `runs`: running text, that is, a paragraph rather than a label, a list of links or of names, a heading, a program.
    """

    level: int
    zone: Zone
    text: str
    words: int
    linked: int
    runs: bool

    @property
    def of_links(self) -> bool:
        """Nearly all of it are links: a line of a menu or a list of other pages."""
        return self.words <= _MENU_WORDS and self.linked > _MENU_SHARE * self.words


def list_blocks(root: _Element) -> list[Block]:
    """The blocks of the page that have text, in document order."""
    walk = _Walk()
    events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in events:
        tag = element.tag
        if event == "start":
            if tag in _SKIPPED:
                events.skip_subtree()
                continue
            if tag not in _INLINE:
                walk.enter(element, tag)
            walk.links += tag == "a"
            text = element.text
        else:
            if event == "end" and tag not in _INLINE and tag not in _SKIPPED:
                walk.leave(element, tag)
            walk.links -= tag == "a"
            text = element.tail if element is not root else None
        if text:
            walk.add(text)
    walk.open(0)
    return walk.blocks


def word_count(text: str) -> int:
    """Words of a text: what blanks part, and two characters for a word in scripts that write without blanks."""
    words = len(text.split())
    return words if text.isascii() else words + len(_UNSPACED.findall(text)) // 2


class _Walk:
    """The state of one walk: the open zone, the block being filled, the heading whose zone holds."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.links = 0
        self._opened: tuple[_Element, Zone, int] | None = None  # what opened it, and the number of blocks before it
        self._headed: tuple[int, Zone, _Element | None] = _NO_HEADING
        self._headed_words = 0
        self._breaks = 0
        self._pieces: list[str] = []
        self._linked = 0
        self._level = 0
        self._code = False

    def enter(self, element: _Element, tag: str) -> None:
        if self._opened is None:
            zone = _ZONES.get(tag) or (named_zone(element) if tag in CONTAINERS else None)
            if zone:
                self.open(0)
                self._opened = (element, zone, len(self.blocks))
        if tag == "br":
            self._breaks += 1
        if tag != "br" or self._breaks > 1:
            self.open(_HEADINGS.get(tag, 0))
            self._code = tag == "pre"

    def leave(self, element: _Element, tag: str) -> None:
        if tag == "br":
            self._pieces.append(" ")
            return
        self.open(0, element if tag in _HEADINGS else None)
        if self._opened is not None and self._opened[0] is element:
            if self._opened[1] is Zone.CHROME and tag not in _ZONES:
                self._judge(self._opened[2])
            self._opened = None
        if self._headed[2] is element and self._headed_words > 10:
            self._headed = _NO_HEADING

    def add(self, text: str) -> None:
        self._pieces.append(text)
        if not text.isspace():
            self._breaks = 0
            if self.links > 0:
                self._linked += word_count(text)

    def open(self, level: int, heading: _Element | None = None) -> None:
        """Close the block being filled (`heading`: the element that it was), and open another of this level."""
        if self._pieces:
            words = "".join(self._pieces).split()
            self._pieces.clear()
            if words:
                self._close(words, heading)
        self._level, self._code, self._linked = level, False, 0

    def _close(self, words: list[str], heading: _Element | None) -> None:
        text = " ".join(words)
        count = word_count(text)
        runs = count >= _PARAGRAPH_WORDS and self._linked < count / 2 and not self._level and not self._code
        runs = runs and sum(word[0].isupper() for word in words) <= count / 2
        zone = self._opened[1] if self._opened else self._headed[1]
        block = Block(self._level, zone, text, count, self._linked, runs)
        self.blocks.append(block)
        self._headed_words += count
        if self._opened is None:
            self._head(block, heading)

    def _judge(self, start: int) -> None:
        """What a name calls a menu and holds pages of running text is none: its blocks belong to the body."""
        inside = self.blocks[start:]
        if sum(block.words for block in inside if block.runs) > _CHROME_WORDS:
            for block in inside:
                block.zone = Zone.BODY

    def _head(self, block: Block, heading: _Element | None) -> None:
        """A heading says what follows it, until the next of its rank or the end of the element that holds it."""
        rank, held, _ = self._headed
        if block.words > _HEADING_WORDS or (block.linked and not block.level):
            if self._headed_words > _LONGEST.get(held, 1 << 30):
                self._headed = _NO_HEADING
            return
        zone = heading_zone(block.text)
        if not block.level and zone is None:
            return
        level = block.level or _LABEL
        inside_abstract = held is Zone.ABSTRACT and zone is Zone.BODY and level > rank
        if (zone is not None and not inside_abstract) or level <= rank:
            self._headed = (level, zone or Zone.BODY, heading.getparent() if heading is not None else None)
            self._headed_words = 0
