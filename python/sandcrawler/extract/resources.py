"""What a page asks the browser to fetch beside itself: every sub-resource, in document order, each once.

One XPath finds the elements that can ask for something, in document order; a table says which attribute of which
element asks for what. What operators do not want (favicons, analytics, ads, …) is dropped by filter-list rules and
counted. Attributes: HTML Standard, "Attributes" index, and the lazy-loading scripts in common use
(lazysizes, jQuery Lazy Load, WordPress plugins).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

import adblock
from lxml.html import HtmlElement

from sandcrawler.extract.document import Document
from sandcrawler.extract.stylesheets import css_resources
from sandcrawler.extract.urls import resolve
from sandcrawler.extract.xpath import elements
from sandcrawler.model import Extracted, Page, ResourceType, WantedResource
from sandcrawler.status import Status

_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-original-src", "data-orig-file", "data-url")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set")

# element → (attribute, what it asks for), in the order in which they are listed.
ATTRIBUTES: Mapping[str, tuple[tuple[str, ResourceType], ...]] = {
    "script": (("src", "script"), ("data-src", "script")),
    "img": (("src", "image"), *((name, "image") for name in _LAZY), ("lowsrc", "image")),
    "image": (("href", "image"), ("xlink:href", "image"), ("src", "image")),
    "use": (("href", "image"), ("xlink:href", "image")),
    "audio": (("src", "audio"), ("data-src", "audio")),
    "bgsound": (("src", "audio"),),
    "video": (("poster", "image"), ("data-poster", "image"), ("src", "media"), ("data-src", "media")),
    "source": (("src", "media"), ("data-src", "media")),
    "track": (("src", "media"),),
    "embed": (("src", "media"),),
    "object": (("data", "media"),),
    "iframe": (("src", "subdocument"), ("data-src", "subdocument"), ("data-lazy-src", "subdocument")),
    "frame": (("src", "subdocument"),),
    "body": (("background", "image"),),
    "table": (("background", "image"),),
    "tr": (("background", "image"),),
    "td": (("background", "image"),),
    "th": (("background", "image"),),
}
# Background images that a script sets on any element.
BACKGROUNDS = ("data-bg", "data-background", "data-background-image", "data-bg-url")
# The `as` of <link rel=preload> → what is fetched.
PRELOADS: Mapping[str, ResourceType] = {
    "style": "stylesheet",
    "script": "script",
    "worker": "script",
    "image": "image",
    "font": "font",
    "audio": "audio",
    "video": "media",
    "track": "media",
    "embed": "media",
    "object": "media",
    "document": "subdocument",
}
ICONS = frozenset({"icon", "shortcut", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "fluid-icon"})

# Elements of other names can ask only through CSS or a lazy background; those within <template> ask nothing.
# (The attribute axis is walked ten times faster than a predicate on every element.)
_STYLED = elements("//@style[contains(., '(')]/.." + "".join(f" | //@{name}/.." for name in BACKGROUNDS))
_INERT = elements("//template//*")
_ASKING = frozenset({*ATTRIBUTES, "link", "input", "style"})


class ResourceRules:
    """Filter-list rules, compiled once per process (microseconds a URL). The project's own come first, then `extra`.

    Syntax: Adblock Plus network filters, as adblock reads them. `@@` makes an exception to a rule.
    """

    def __init__(self, extra: Iterable[str] = ()) -> None:
        own = (files("sandcrawler.extract") / "resource_rules.txt").read_text("utf-8").splitlines()
        rules = [line.strip() for line in [*own, *extra] if line.strip() and not line.lstrip().startswith("!")]
        compiled = adblock.FilterSet()
        compiled.add_filters(rules)
        self._engine = adblock.Engine(compiled)

    def blocks(self, url: str, page_url: str, resource_type: ResourceType) -> bool:
        """Whether the rules say that this page's resource is not wanted."""
        kind = "media" if resource_type == "audio" else resource_type
        return self._engine.check_network_urls(url=url, source_url=page_url, request_type=kind).matched


@cache
def default_rules() -> ResourceRules:
    """The project's own rules, compiled at the first use."""
    return ResourceRules()


def list_resources(document: Document, rules: ResourceRules) -> tuple[tuple[WantedResource, ...], int]:
    """The sub-resources that the page wants, and how many more the rules filtered."""
    wanted: dict[str, WantedResource] = {}
    filtered = set()
    for url, kind in _asked(document):
        if url in wanted or url in filtered:
            continue
        if kind is None or rules.blocks(url, document.url, kind):
            filtered.add(url)
        else:
            wanted[url] = WantedResource.model_construct(url=url, resource_type=kind)
    return tuple(wanted.values()), len(filtered)


def extract_css(page: Page, rules: ResourceRules) -> Extracted:
    """What a style sheet asks for, as `wanted`; its rules know it by its own URL."""
    asked = css_resources(page.body.decode("utf-8", "replace"), page.url)
    wanted = tuple(each for each in asked if not rules.blocks(each.url, page.url, each.resource_type))
    return Extracted(Status.SUCCESS, wanted=wanted, filtered=len(asked) - len(wanted))


def _asked(document: Document) -> Iterator[tuple[str, ResourceType | None]]:
    """(URL, type) in document order, repeats included; type None for icons, which nobody wants."""
    base = document.base_url
    styled = set(_STYLED(document.root))
    inert = set(_INERT(document.root))
    for element in document.root.iter():
        if (element.tag in _ASKING or element in styled) and element not in inert:
            for written, kind in _written(element):
                if url := resolve(written, base):
                    yield url, kind
            if element.tag == "style" or element in styled:
                yield from _styled(element, base)


def _written(element: HtmlElement) -> Iterator[tuple[str | None, ResourceType | None]]:
    tag = element.tag
    if tag == "link":
        yield from _linked(element)
    elif tag == "input" and _token(element, "type") == "image":
        yield element.get("src"), "image"
    for name, kind in ATTRIBUTES.get(tag, ()):
        written = element.get(name)
        if written and not written.startswith("#"):
            yield written, "image" if tag == "source" and _in_picture(element) else kind
    if tag in ("img", "source"):
        for name in ("srcset", *_LAZY_SETS):
            yield from ((written, "image") for written in srcset_urls(element.get(name) or ""))


def _linked(element: HtmlElement) -> Iterator[tuple[str | None, ResourceType | None]]:
    """<link>: style sheets (alternate ones too), preloads; icons are named with the type None."""
    tokens = set((element.get("rel") or "").lower().split())
    href = element.get("href")
    if "stylesheet" in tokens:
        yield href, "stylesheet"
    elif "modulepreload" in tokens:
        yield href, "script"
    elif "preload" in tokens and (kind := PRELOADS.get(_token(element, "as"))):
        yield href, kind
        yield from ((written, kind) for written in srcset_urls(element.get("imagesrcset") or ""))
    elif tokens & ICONS:
        yield href, None


def _styled(element: HtmlElement, base: str) -> Iterator[tuple[str, ResourceType]]:
    css = [element.text or "" if element.tag == "style" else element.get("style") or ""]
    css += [value if "(" in value else f"url({value})" for name in BACKGROUNDS if (value := element.get(name))]
    for text in css:
        yield from ((one.url, one.resource_type) for one in css_resources(text, base))


def _token(element: HtmlElement, name: str) -> str:
    return (element.get(name) or "").strip().lower()


def _in_picture(element: HtmlElement) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag == "picture"


_CANDIDATE = re.compile(r"[\s,]*+([^\s]++)")


def srcset_urls(srcset: str) -> Iterator[str]:
    """The candidates of a srcset attribute: HTML Standard, "parsing a srcset attribute" (URLs may hold commas)."""
    position = 0
    while match := _CANDIDATE.match(srcset, position):
        url, position = match[1], match.end()
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            position = _after_descriptors(srcset, position)
        if url:
            yield url


def _after_descriptors(srcset: str, position: int) -> int:
    """Where the next candidate starts: behind the first comma outside parentheses."""
    depth = 0
    for index in range(position, len(srcset)):
        mark = srcset[index]
        depth += (mark == "(") - (mark == ")" and depth > 0)
        if mark == "," and not depth:
            return index + 1
    return len(srcset)
