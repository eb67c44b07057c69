"""Subset match of identifiers: what a reference leaves open, any candidate may fill.

"W3C REC-xml-names" reaches every dated Recommendation of that name; a dated reference reaches its own date only.
"""

from dataclasses import fields, is_dataclass
from typing import Any


def includes(reference: object, candidate: object) -> bool:
    """Whether `candidate` is among what `reference` means. Not symmetric.

    Both are dataclasses of one and the same class, else False. Field by field: blank in the reference matches
    anything; a tuple is a prefix; a component that is a dataclass itself is matched likewise; all else is equal.
    """
    if reference is candidate:
        return True
    if type(reference) is not type(candidate) or not is_dataclass(reference):
        return False
    return all(_field(getattr(reference, each.name), getattr(candidate, each.name)) for each in fields(reference))


def _field(wanted: Any, found: Any) -> bool:
    if wanted is None or wanted in ("", ()):
        return True
    if isinstance(wanted, tuple):
        return isinstance(found, tuple) and len(found) >= len(wanted) and all(map(_field, wanted, found))
    if is_dataclass(wanted):
        return includes(wanted, found)
    return bool(wanted == found)
