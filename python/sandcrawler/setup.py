"""Topics, tables and bucket: made where they are missing, and checked where they are there.

`setup` may be run again, and by two processes at once. A topic with other settings than `kafka/topics.toml` is named,
never silently used: with the wrong clean-up policy results vanish, with the wrong size limit bodies stop a worker.
`check` does the same without making anything; workers call it at their start, for the parts that they use.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from sandcrawler import topics
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.persist import blobs, migrations

Part = Literal["topic", "migration", "bucket"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that is there now. `made`: whether this run made it."""

    part: Part
    name: str
    made: bool


MAKE: Mapping[Part, Callable[[Config], dict[str, bool]]] = {
    "topic": topics.make,
    "migration": migrations.make,
    "bucket": blobs.make,
}
DIFFERENCES: Mapping[Part, Callable[[Config], list[str]]] = {
    "topic": topics.differences,
    "migration": migrations.differences,
    "bucket": blobs.differences,
}


def setup(config: Config, parts: Iterable[Part] = tuple(MAKE)) -> list[Action]:
    """Make what is missing, then check it all. ConfigurationError lists everything that is not as it should be."""
    parts = tuple(parts)
    actions = [Action(part, name, made) for part in parts for name, made in MAKE[part](config).items()]
    check(config, parts)
    return actions


def check(config: Config, parts: Iterable[Part] = tuple(DIFFERENCES)) -> None:
    """Nothing is made. ConfigurationError as `setup`; Unavailable names the server that does not answer."""
    lines = [line for part in parts for line in DIFFERENCES[part](config)]
    if lines:
        raise ConfigurationError("\n".join(lines))
