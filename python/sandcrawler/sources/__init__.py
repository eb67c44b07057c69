"""Where records and requests come from. Every source, by name; a new one is a module and a row here."""

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources import w3c
from sandcrawler.sources.base import Source

SOURCES: dict[str, Source] = {source.name: source for source in (w3c.SOURCE,)}


def source(name: str) -> Source:
    """The source of this name. ConfigurationError where there is none."""
    if name not in SOURCES:
        raise ConfigurationError(f"there is no source {name!r}; there are {', '.join(sorted(SOURCES))}")
    return SOURCES[name]
