"""Every source, by name. A new one is a module and a row here."""

from functools import partial

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources import makers, w3c
from sandcrawler.sources.base import Source

SOURCES: dict[str, Source] = {
    w3c.SOURCE.name: w3c.SOURCE,
    # These make requests alone: requests(stream, report) → requests.
    **{name: Source(name, requests=partial(makers.requests, maker)) for name, maker in makers.MAKERS.items()},
}


def source(name: str) -> Source:
    """The source of this name. ConfigurationError where there is none."""
    if name not in SOURCES:
        raise ConfigurationError(f"there is no source {name!r}; there are {', '.join(sorted(SOURCES))}")
    return SOURCES[name]
