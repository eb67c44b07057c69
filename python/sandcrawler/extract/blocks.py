"""A page as a flat list of blocks of text, each with the zone of the page that it stands in, in one walk of the tree.

Zones are what tells an article from a page about an article: running text counts for a full text, an abstract, figure
captions, references, menus and readers' comments do not. A zone is opened by an element (`<nav>`, `<figcaption>`,
class="abstract") for what is inside it, or by a heading ("References") for what follows it. Words that open zones are
in `lexicon`. The walk does not recurse, so no depth can hurt it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element

from sandcrawler.extract.lexicon import Zone, heading_zone, named_zone

_SKIPPED = frozenset(
    {"script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "math", "button"}
    | {"select", "textarea", "option", "datalist", "noframes", "head", "title", "audio", "video", "canvas", "map"}
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


@dataclass(slots=True)
class Block:
    """Text between two block boundaries. `level`: 1 to 6 for a heading, else 0. `linked`: words within links.

    `code`: preformatted (program text, records to export).
    """

    level: int
    zone: Zone
    code: bool = False
    pieces: list[str] = field(default_factory=list)
    linked: int = 0
    text: str = ""
    words: int = 0

    @property
    def runs(self) -> bool:
        """Running text: a paragraph rather than a label, a list of links or of names, a heading, a program."""
        if self.level or self.code or self.words < _PARAGRAPH_WORDS or self.linked >= self.words / 2:
            return False
        return sum(word[0].isupper() for word in self.text.split()) <= self.words / 2

    @property
    def of_links(self) -> bool:
        """Nearly all of it are links: a line of a menu or a list of other pages."""
        return self.words <= _MENU_WORDS and self.linked > _MENU_SHARE * self.words


def list_blocks(root: _Element) -> list[Block]:
    """The blocks of the page that have text, in document order."""
    walk = _Walk()
    events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in events:
        if event == "start":
            if element.tag in _SKIPPED:
                events.skip_subtree()
            else:
                walk.enter(element)
        elif event == "end":
            walk.leave(element)
        if event != "start" and element.tail and element is not root:
            walk.add(element.tail)
    walk.finish()
    return walk.blocks


def as_body(blocks: Iterable[Block]) -> tuple[_Element, int]:
    """Blocks as a <body> of <head> and <p> as trafilatura makes one, menus left out, and the number of words in it."""
    body, total = etree.Element("body"), 0
    for block in blocks:
        if block.zone is not Zone.CHROME and not block.of_links:
            etree.SubElement(body, "head" if block.level else "p").text = block.text
            total += block.words
    return body, total


class _Walk:
    """The state of one walk: the open zones, the block being filled, the heading whose zone holds."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._zones: list[tuple[_Element, Zone, int]] = []
        self._headed: tuple[int, Zone, _Element | None] = (9, Zone.BODY, None)
        self._headed_words = 0
        self._links = self._breaks = 0
        self._block = Block(0, Zone.BODY)

    def enter(self, element: _Element) -> None:
        tag = element.tag
        self._links += tag == "a"
        self._breaks += tag == "br"
        zone = _ZONES.get(tag) or named_zone(element)
        if zone and not self._zones:
            self._zones.append((element, zone, len(self.blocks)))
        if tag not in _INLINE and (tag != "br" or self._breaks > 1):
            self._open(_HEADINGS.get(tag, 0))
            self._block.code = tag == "pre"
        if element.text:
            self.add(element.text)

    def leave(self, element: _Element) -> None:
        tag = element.tag
        if tag in _SKIPPED:
            return
        self._links -= tag == "a"
        if tag == "br":
            self._block.pieces.append(" ")
        elif tag not in _INLINE:
            self._open(0, element if tag in _HEADINGS else None)
        if self._zones and self._zones[-1][0] is element:
            self._open(0)
            _, zone, start = self._zones.pop()
            if zone is Zone.CHROME and tag not in _ZONES:
                self._judge(start)
            self._block.zone = self._zone()
        if self._headed[2] is element and self._headed_words > 10:
            self._headed = (9, Zone.BODY, None)
            self._block.zone = self._zone()

    def add(self, text: str) -> None:
        if not text.isspace():
            self._breaks = 0
            if self._links:
                self._block.linked += len(text.split())
        self._block.pieces.append(text)

    def finish(self) -> None:
        self._open(0)

    def _zone(self) -> Zone:
        return self._zones[-1][1] if self._zones else self._headed[1]

    def _judge(self, start: int) -> None:
        """What a name calls a menu and holds pages of running text is none: its blocks belong to the body."""
        inside = self.blocks[start:]
        if sum(block.words for block in inside if block.runs) > _CHROME_WORDS:
            for block in inside:
                block.zone = Zone.BODY

    def _open(self, level: int, heading: _Element | None = None) -> None:
        """Close the block being filled and open another."""
        block = self._block
        if block.pieces:
            block.text = " ".join("".join(block.pieces).split())
            block.pieces = []
        if block.text:
            block.words = block.text.count(" ") + 1
            self.blocks.append(block)
            self._headed_words += block.words
            if not self._zones:
                self._head(block, heading)
        self._block = Block(level, self._zone())

    def _head(self, block: Block, heading: _Element | None) -> None:
        """A heading says what follows it, until the next of its rank or the end of the element that holds it."""
        rank, held, _ = self._headed
        if block.words > _HEADING_WORDS or (block.linked and not block.level):
            if self._headed_words > _LONGEST.get(held, 1 << 30):
                self._headed = (9, Zone.BODY, None)
            return
        zone = heading_zone(block.text)
        if not block.level and zone is None:
            return
        level = block.level or _LABEL
        inside_abstract = held is Zone.ABSTRACT and zone is Zone.BODY and level > rank
        if (zone is not None and not inside_abstract) or level <= rank:
            self._headed = (level, zone or Zone.BODY, heading.getparent() if heading is not None else None)
            self._headed_words = 0
