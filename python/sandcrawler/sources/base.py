"""What a source is: a name, the prefix of its identifiers, and whichever of the verbs it has.

A source harvests records and keeps them (`fetch`), finds one of them (`get`), reads what it kept (`from_yaml`,
`from_xml`, `grammar`), and says which links to ingest (`requests`). Most have `requests` alone. A record is a mapping
in the shape that its source documents.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandcrawler.errors import ConfigurationError, SandcrawlerError

Record = Mapping[str, Any]
Request = dict[str, Any]


class CrawlIncomplete(SandcrawlerError):
    """A harvest would have left a truncated data set: nothing that speaks for the whole (index, ledger) is saved."""


class BadReference(SandcrawlerError):
    """A reference that no identifier of the source can be read from. The text says why; a look-up answers a miss."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source. `prefix` begins its identifiers; `datasets` are what `fetch` knows to harvest; a verb may lack."""

    name: str
    prefix: str | None = None
    datasets: tuple[str, ...] = ()
    requests: Callable[..., Iterator[Request]] | None = None
    get: Callable[..., Record | None] | None = None
    fetch: Callable[..., Any] | None = None
    from_yaml: Callable[[str], Record] | None = None
    from_xml: Callable[[bytes], Record] | None = None
    grammar: Callable[[], bytes] | None = None

    def verb(self, name: str) -> Callable[..., Any]:
        """One of the verbs. ConfigurationError where this source lacks it."""
        found: Callable[..., Any] | None = getattr(self, name)
        if found is None:
            raise ConfigurationError(f"source {self.name}: there is no {name}")
        return found
