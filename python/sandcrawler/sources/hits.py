"""The answers of a look-up: hits whose items are fetched when somebody asks, or all at once by a few threads."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from lxml import etree

Item = TypeVar("Item")
Result = TypeVar("Result")
WORKERS = 4


def parallel(work: Callable[[Item], Result], values: Iterable[Item], workers: int = WORKERS) -> list[Result]:
    """The results of some threads, two at least, in the values' order. The first exception is raised again."""
    with ThreadPoolExecutor(max(2, workers)) as pool:
        return list(pool.map(work, values))


@dataclass(slots=True)
class Hit(Generic[Item]):
    """One answer: what it is called, and how its item is got. `item` is fetched once."""

    docidentifier: str
    load: Callable[[], Item]
    reference: str = ""
    fetched: bool = False
    _item: Item | None = None

    def item(self) -> Item:
        """What the hit stands for."""
        if not self.fetched:
            self._item, self.fetched = self.load(), True
        return cast("Item", self._item)


@dataclass(slots=True)
class Hits(Generic[Item]):
    """The hits of one reference, in order."""

    reference: str
    hits: list[Hit[Item]] = field(default_factory=list)
    fetched: bool = False

    def __iter__(self) -> Iterator[Hit[Item]]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit[Item]:
        return self.hits[place]

    def fetch(self, workers: int = WORKERS) -> "Hits[Item]":
        """Fetch every item; the hits themselves."""
        parallel(lambda hit: hit.item(), self.hits, workers)
        self.fetched = True
        return self

    def selected(self, wanted: Callable[[Hit[Item]], bool]) -> "Hits[Item]":
        """Other hits: copies of those that are wanted. These stay as they are."""
        return Hits(self.reference, [replace(hit) for hit in self.hits if wanted(hit)], self.fetched)

    def keep(self, wanted: Callable[[Hit[Item]], bool]) -> "Hits[Item]":
        """Drop the hits that are not wanted; these hits."""
        self.hits[:] = [hit for hit in self.hits if wanted(hit)]
        return self

    def reduce(self, fold: Callable[[list[Hit[Item]]], list[Hit[Item]]]) -> "Hits[Item]":
        """Put what `fold` makes of the hits in their place; these hits."""
        self.hits[:] = fold(list(self.hits))
        return self

    def to_xml(self, written: Callable[[Item], str]) -> str:
        """<documents> around each item's XML."""
        root = etree.Element("documents")
        root.extend(etree.fromstring(written(hit.item())) for hit in self.hits)
        return etree.tostring(root, encoding="unicode")


def listed(value: Any) -> list[Any]:
    """A list as it is, nothing as an empty list, one value as a list of it."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
