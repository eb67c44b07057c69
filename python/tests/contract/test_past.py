"""What every place promises where results are looked up, held against memory and PostgreSQL (ingest/known.py, Past)."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import pytest

from sandcrawler.ingest.known import Past
from sandcrawler.model import IngestWebResult
from sandcrawler.persist import migrations, results
from sandcrawler.persist.known import PostgresPast
from sandcrawler.persist.memory import MemoryPast, MemoryTables
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.wire import jsonable
from tests.persist.documents import record, result, sha1

URL = "https://journal.example.org/articles/{}"
LATER = "2025-01-01T00:00:00Z"


@dataclass
class Tables:
    """A sink of results, and the look-up over what it wrote."""

    sink: MemoryTables | PostgresSink
    past: Callable[[], AbstractAsyncContextManager[Past]]

    def write(self, *values: dict[str, Any]) -> None:
        self.sink.write([results.decode(record(value)) for value in values])

    def last(self, *names: object, ingest_type: str = "html") -> list[IngestWebResult | None]:
        """What is known of these links, all asked for at once."""

        async def ask() -> list[IngestWebResult | None]:
            async with self.past() as past:
                return await asyncio.gather(*(past.last_hit(ingest_type, URL.format(name)) for name in names))

        return asyncio.run(ask())


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.stack)])
def tables(request: pytest.FixtureRequest) -> Iterator[Tables]:
    if request.param == "memory":
        sink = MemoryTables()
        yield Tables(sink, lambda: MemoryPast(sink))
        return
    config = request.getfixturevalue("stack_config")()
    migrations.make(config)
    real = PostgresSink(config)
    yield Tables(real, lambda: PostgresPast(config.postgres_url, seconds=20))
    real.close()


def hit(name: object = 1, ingest_type: str = "html", **changes: Any) -> dict[str, Any]:
    return result(name, ingest_type, platform="ojs3", **changes)


def captured(name: object, url: str, sha: object, moment: str, timestamp: str) -> dict[str, Any]:
    """A hit of the link `name`, whose document stands at `url`."""
    value = hit(name, timestamp=timestamp)
    value["terminal"] |= {"terminal_url": url, "terminal_dt": moment, "terminal_sha1hex": sha1(sha)}
    value["cdx"] |= {"url": url, "datetime": moment, "sha1hex": sha1(sha)}
    value["file_meta"] |= {"sha1hex": sha1(sha)}
    return value


@pytest.mark.parametrize("ingest_type", ["html", "xml", "pdf"])
def test_a_hit_is_told_again(tables: Tables, ingest_type: str) -> None:
    value = hit(1, ingest_type)
    tables.write(value)
    (told,) = tables.last(1, ingest_type=ingest_type)
    assert told is not None
    assert told.cdx is not None
    own = {"request", "hops", "cdx"}
    assert {k: v for k, v in jsonable(told).items() if k != "cdx"} == {k: v for k, v in value.items() if k not in own}
    assert told.cdx.etag == '"abc"'
    assert told.cdx.url == URL.format(1)


def test_nothing_is_known_of_other_links_and_types(tables: Tables) -> None:
    tables.write(hit(1))
    assert tables.last(2) == [None]
    assert tables.last(1, ingest_type="xml") == [None]


def test_many_at_once_get_each_their_own(tables: Tables) -> None:
    tables.write(*(hit(n) for n in range(60)))
    names = [*range(70), *range(5)]
    told = tables.last(*names)
    assert [one.file_meta.sha1hex if one and one.file_meta else None for one in told] == [
        sha1(n) if n < 60 else None for n in names
    ]


@pytest.mark.parametrize("status", ["unknown-scope", "wrong-scope", "timeout"])
def test_a_link_whose_newest_result_is_no_hit_is_not_known(tables: Tables, status: str) -> None:
    tables.write(hit(1))
    tables.write(hit(1, status=status, timestamp=LATER))
    assert tables.last(1) == [None]


def test_a_link_is_told_as_its_newest_hit_tells_it(tables: Tables) -> None:
    tables.write(captured(1, URL.format(1), "old", "20240506070809", "2024-05-06T07:08:09Z"))
    tables.write(captured(1, URL.format(1), "new", "20250101000000", LATER))
    (told,) = tables.last(1)
    assert told is not None
    assert told.terminal is not None
    assert (told.terminal.terminal_dt, told.terminal.terminal_sha1hex) == ("20250101000000", sha1("new"))
    assert told.timestamp == "2025-01-01T00:00:00.000000Z"


def test_two_links_to_one_page_are_both_known(tables: Tables) -> None:
    """What html_meta says is of the newer capture; it is of the same URL, so it holds for both links."""
    page = URL.format("page")
    tables.write(captured(1, page, "x", "20240506070809", "2024-05-06T07:08:09Z"))
    tables.write(captured(2, page, "x", "20250101000000", LATER))
    told = tables.last(1, 2)
    assert [one.terminal.terminal_dt if one and one.terminal else None for one in told] == [
        "20240506070809",
        "20250101000000",
    ]


def test_what_another_page_with_the_same_bytes_says_is_not_told_of_this_one(tables: Tables) -> None:
    """Relative links lead elsewhere from there: the parts of the mirror are not the parts of the page."""
    tables.write(captured(1, URL.format(1), "x", "20240506070809", "2024-05-06T07:08:09Z"))
    tables.write(captured(2, "https://mirror.example.net/2", "x", "20250101000000", LATER))
    assert [one is not None for one in tables.last(1, 2)] == [False, True]


def test_a_result_told_again_can_be_told_again(tables: Tables) -> None:
    value = hit(1)
    tables.write(value)
    (first,) = tables.last(1)
    assert first is not None
    tables.write({**jsonable(first), "request": value["request"], "timestamp": LATER})
    (second,) = tables.last(1)
    assert second == first.model_copy(update={"timestamp": "2025-01-01T00:00:00.000000Z"})


def test_hostile_links(tables: Tables) -> None:
    tables.write(hit(1))
    assert tables.last("';DROP TABLE cdx;--", "x" * 3000, "\ufffd", "%s", "{}", 1)[-1] is not None
