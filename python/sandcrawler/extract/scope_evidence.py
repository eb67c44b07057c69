"""What is known of a page when its scope is judged: measured once, asked by the rules of `scope`."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from sandcrawler.extract.blocks import Block, list_blocks
from sandcrawler.extract.document import Document
from sandcrawler.extract.lexicon import Zone, section_kind
from sandcrawler.extract.urls import same_page
from sandcrawler.extract.xpath import holds, strings
from sandcrawler.model import Biblio

# <meta> families that only scholarly pages use, by the beginning of their names.
_SCHOLARLY = ("citation_", "bepress_citation", "eprints.", "prism.", "wkhealth_")
_PASSWORD = holds("//input[translate(@type, 'PASWORD', 'pasword') = 'password']")
_MARKS = strings(
    "//script/@src | //iframe/@src | //form/@action | //form/@id | //div/@id | //div/@class | //script/text()"
)
_FRAMES = holds("//frameset")
_FILE = re.compile(r"pdf|download|/bitstreams?/|/files?/|viewcontent\.cgi|/document$", re.IGNORECASE)
_HREFS = strings("//a/@href")
# How much of a page's text and of its scripts the phrases of walls are looked for in, in characters.
_TEXT, _SCRIPT = 4000, 20000
# A paragraph that begins as the abstract known from the metadata does, is the abstract.
_OPENING = 60


@dataclass
class Evidence:
    """A page and what can be measured of it. `url`: split."""

    document: Document
    biblio: Biblio
    platform: str | None

    @cached_property
    def url(self) -> SplitResult:
        try:
            return urlsplit(self.document.url)
        except ValueError:
            return urlsplit("")

    @cached_property
    def path(self) -> str:
        """Path and query, lower case."""
        return (self.url.path + ("?" + self.url.query if self.url.query else "")).lower()

    @cached_property
    def blocks(self) -> list[Block]:
        blocks = list_blocks(self.document.root)
        opening = " ".join((self.biblio.abstract or "").split())[:_OPENING]
        if len(opening) == _OPENING:
            for block in blocks:
                if block.zone is Zone.BODY and opening in block.text:
                    block.zone = Zone.ABSTRACT
                    break
        return blocks

    @cached_property
    def words(self) -> int:
        """Words that a reader sees, buttons and drawings left out."""
        return sum(block.words for block in self.blocks)

    @cached_property
    def content(self) -> int:
        """Words of what is neither menu nor link."""
        return sum(block.words for block in self.blocks if block.zone is not Zone.CHROME and not block.of_links)

    @cached_property
    def zone_words(self) -> Counter[Zone]:
        """Words of running text in each zone of the page."""
        counter: Counter[Zone] = Counter()
        for block in self.blocks:
            if block.runs:
                counter[block.zone] += block.words
        return counter

    @property
    def prose(self) -> int:
        """Words of running text that are the page's own: no abstract, captions, references, menus."""
        return self.zone_words[Zone.BODY]

    @cached_property
    def paragraphs(self) -> int:
        """Paragraphs of running text that are the page's own."""
        return sum(1 for block in self.blocks if block.runs and block.zone is Zone.BODY)

    @property
    def abstract(self) -> int:
        """Words of the abstract that the page shows."""
        return self.zone_words[Zone.ABSTRACT]

    @cached_property
    def sections(self) -> frozenset[str]:
        """Kinds of an article's sections (introduction, methods, …) that have text of their own here."""
        kinds, kind = Counter[str](), None
        for block in self.blocks:
            known = section_kind(block.text) if block.words < 12 and (block.level or not block.linked) else None
            if block.level or known:
                kind = known or (kind if block.level > 2 else None)
            elif kind and block.runs and block.zone is Zone.BODY:
                kinds[kind] += block.words
        return frozenset(kind for kind, words in kinds.items() if words >= 30 and kind != "back")

    @cached_property
    def references(self) -> int:
        """Lines of the reference list."""
        return sum(1 for block in self.blocks if block.zone is Zone.REFERENCES and block.words >= 5)

    @cached_property
    def scholarly(self) -> bool:
        """Metadata that only pages about scholarly works have."""
        if self.biblio.doi or self.biblio.pmid or self.biblio.pmcid or self.biblio.arxiv_id:
            return True
        return any(meta.name.startswith(_SCHOLARLY) and "title" in meta.name for meta in self.document.metas)

    @cached_property
    def title(self) -> str:
        """The text of <title>."""
        title = next(self.document.root.iter("title"), None)
        return " ".join((title.text_content() if title is not None else "")[:_TEXT].split())

    @cached_property
    def headline(self) -> str:
        """The first heading, else the first line of text."""
        first = next((block for block in self.blocks if block.level), None) or next(iter(self.blocks), None)
        return first.text[:300] if first else ""

    @cached_property
    def text(self) -> str:
        """The beginning of what a reader sees, with the title before it."""
        return "\n".join([self.title, *(block.text for block in self.blocks[:200])])[:_TEXT]

    @cached_property
    def marks(self) -> str:
        """Scripts, frames, ids and classes in which challenge pages give themselves away."""
        return "\n".join(_MARKS(self.document.root))[:_SCRIPT]

    @cached_property
    def password(self) -> bool:
        """A field for a password."""
        return _PASSWORD(self.document.root)

    @cached_property
    def frameset(self) -> bool:
        return _FRAMES(self.document.root)

    @cached_property
    def hrefs(self) -> tuple[str, ...]:
        """Every link as written."""
        return tuple(_HREFS(self.document.root))

    @cached_property
    def full_text_elsewhere(self) -> bool:
        """The metadata name an HTML full text, and it is another page."""
        url = self.biblio.html_fulltext_url
        return bool(url) and not same_page(url or "", self.document.url)

    @cached_property
    def full_text_here(self) -> bool:
        """The metadata name this page as the HTML full text. (Many landing pages do, too: alone it is no proof.)"""
        url = self.biblio.html_fulltext_url
        return bool(url) and same_page(url or "", self.document.url)

    @cached_property
    def offers_pdf(self) -> bool:
        """A link of the page itself (not only its metadata) leads to the PDF."""
        pdf = self.biblio.pdf_fulltext_url
        links = (self.document.absolute(href) for href in self.hrefs if _FILE.search(href))
        return any(link is not None and (".pdf" in link.lower() or (pdf and same_page(link, pdf))) for link in links)

    @cached_property
    def offers_files(self) -> bool:
        """The page, or its metadata, offer files to download: a repository's record does."""
        return bool(self.biblio.pdf_fulltext_url) or any(_FILE.search(href) for href in self.hrefs)
