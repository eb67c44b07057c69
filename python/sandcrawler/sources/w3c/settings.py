"""The knobs of a harvest, in the environment under the names that operators of this data set know.

RELATON_W3C_FETCH_CONCURRENCY   threads that harvest (4)
RELATON_W3C_FETCH_VERSIONS      0, false, no or off: specifications alone, not their versions (yes)
RELATON_W3C_MAX_THROTTLED       resources that may be lost to rate limits before nothing is saved (25)
RELATON_W3C_THROTTLE_BASE, _MAX, _GIVEUP   the back-off (see fetch.governor)
W3C_API_URL, W3C_API_USER_AGENT   another server (for tests and mirrors); who is asking
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.governor import Governor

API = "https://api.w3.org"
PREFIX = "RELATON_W3C_"
# The API's documented limit is 6,000 requests in 10 minutes from one address.
API_GAP_SECONDS = 0.1


class W3cGovernor(Governor):
    """The W3C's API refuses with 429, and its firewall with 403."""

    THROTTLE_ERRORS = frozenset({429, 403})
    ENV_PREFIX = "RELATON_W3C"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to harvest. `gap`: seconds between two requests."""

    concurrency: int = 4
    versions: bool = True
    max_throttled: int = 25
    api: str = API
    gap: float = API_GAP_SECONDS


def settings(environ: Mapping[str, str] = os.environ, api: str | None = None, gap: float | None = None) -> Settings:
    """The settings of this process; arguments come first. ConfigurationError names a variable that is wrong."""
    base = (api if api is not None else environ.get("W3C_API_URL", "").strip() or API).rstrip("/")
    if not base.lower().startswith(("http://", "https://")):
        raise ConfigurationError(f"--api (W3C_API_URL): {base!r} is no http or https address")
    if gap is not None and not 0 <= gap < math.inf:
        raise ConfigurationError(f"--gap: {gap} is not a number of seconds, such as 0.5")
    return Settings(
        concurrency=_concurrency(environ.get(f"{PREFIX}FETCH_CONCURRENCY", "").strip()),
        versions=environ.get(f"{PREFIX}FETCH_VERSIONS", "").strip().lower() not in {"0", "false", "no", "off"},
        max_throttled=_digits(environ.get(f"{PREFIX}MAX_THROTTLED", ""), 25),
        api=base,
        gap=gap if gap is not None else API_GAP_SECONDS if base == API else 0.0,
    )


def _digits(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() else default


def _concurrency(text: str) -> int:
    if not text:
        return 4
    if _digits(text, 0) < 1:
        raise ConfigurationError(f"{PREFIX}FETCH_CONCURRENCY: {text!r} is not a number of threads, such as 4")
    return int(text)
