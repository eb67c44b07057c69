"""Reading fields of records that may hold anything: what has the wrong type counts as absent."""

import re
from collections.abc import Iterator
from typing import Any

# URLs that need no second look: ASCII, lower-case scheme and host, no fragment, no empty query, nothing to escape.
PLAIN_URL = re.compile(
    r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,4})?(?:/[!$&'()*+,\-./:;=?@\w~%]*)?(?<!\?)", re.ASCII
)


def text(value: object) -> str | None:
    """A string without blanks around it, or None where there is none; whole numbers are text too."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None


def mapping(value: object) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> Iterator[dict[str, Any]]:
    """The objects of a list; a lone object counts as a list of one."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield item


def texts(value: object) -> Iterator[str]:
    """The strings of a list; a lone string counts as a list of one."""
    for item in value if isinstance(value, list) else [value]:
        if (found := text(item)) is not None:
            yield found
