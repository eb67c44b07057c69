"""What one extraction child is and does: limits on itself, parsers loaded once, then page after page."""

import resource
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

from sandcrawler.ingest.children import stand_alone
from sandcrawler.model import Extracted, Page

# Extractors that also need the rules for sub-resources.
WITH_RULES = frozenset({"extract_html", "extract_css"})
# Pages between two clearings of the parsers' caches.
TASKS_BETWEEN_CLEARINGS = 50

# A child's own state: the arguments that its extractors take beside the page, and how many pages it has seen.
_child: dict[str, Any] = {"rules": None, "seen": 0}


def confine(memory_bytes: int, rules: Sequence[str], modules: Sequence[str] = ()) -> None:
    """Make this process a child that extracts: memory limited, no core dumped, rules compiled, modules loaded."""
    stand_alone()
    from sandcrawler.extract.resources import ResourceRules  # noqa: PLC0415  (loaded in the child alone)

    for module in modules:  # before the first task, whose deadline is not to pay for it
        import_module(module)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _child["rules"] = ResourceRules(rules)


def ready() -> None:
    """Nothing: a child that returns from it has started."""


def run(target: str, page: Page) -> Extracted:
    """Call an extractor, given as module:function, in this process."""
    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    answer = function(page, _child["rules"]) if name in WITH_RULES else function(page)
    _child["seen"] += 1
    if _child["seen"] % TASKS_BETWEEN_CLEARINGS == 0:
        import_module("sandcrawler.extract.fulltext").forget()
    return cast(Extracted, answer)
