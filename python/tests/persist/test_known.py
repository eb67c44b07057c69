"""The look-up in PostgreSQL never holds up the fetching: servers that are away, silent, slow or started again."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from sandcrawler.config import Config
from sandcrawler.persist import known, migrations, results
from sandcrawler.persist.known import NoPast, PostgresPast, open_past
from sandcrawler.persist.postgres import PostgresSink
from tests.persist.documents import record, result

NOBODY = "postgresql://sandcrawler@127.0.0.1:1/none"
LINK = "https://journal.example.org/articles/1"
MakeConfig = Callable[..., Config]


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"postgresql://sandcrawler@127.0.0.1:{server.getsockname()[1]}/none"


@pytest.fixture
def database(stack_config: MakeConfig) -> str:
    """A database in which the link is known."""
    config = stack_config()
    migrations.make(config)
    sink = PostgresSink(config)
    sink.write([results.decode(record(result(1)))])
    sink.close()
    return config.postgres_url or ""


def ask(past: PostgresPast, times: int = 1, then: Callable[[], Any] = lambda: None) -> list[bool]:
    """Whether the link is known, asked one time after another, with something between."""

    async def work() -> list[bool]:
        answers = []
        async with past:
            for number in range(times):
                if number:
                    await asyncio.to_thread(then)
                answers.append(await past.last_hit("html", LINK) is not None)
        return answers

    return asyncio.run(work())


@pytest.mark.parametrize("url", [NOBODY, None, "", "postgresql://nobody@127.0.0.1:notaport/x", "gibberish"])
def test_without_a_server_nothing_is_known_and_one_warning_says_so(url: str | None) -> None:
    with capture_logs() as lines:
        assert ask(PostgresPast(url, pause=0.05), 5, lambda: time.sleep(0.1)) == [False] * 5
    assert [line["log_level"] for line in lines] == ["warning"]
    assert "fetched in full" in lines[0]["event"]
    assert lines[0]["reason"]


def test_a_window_does_not_wait_for_a_silent_server_again_and_again() -> None:
    """All who ask at that time wait once, side by side; those who come after do not wait at all."""

    async def work(past: PostgresPast) -> tuple[float, float]:
        async with past:
            start = time.monotonic()
            await asyncio.gather(*(past.last_hit("html", f"{LINK}{n}") for n in range(128)))
            first = time.monotonic() - start
            await asyncio.gather(*(past.last_hit("html", f"{LINK}{n}") for n in range(128)))
            return first, time.monotonic() - start - first

    with silent() as url, capture_logs() as lines:
        first, after = asyncio.run(work(PostgresPast(url, seconds=2)))
    assert 1.9 < first < 4, "two would take four"
    assert after < 2, "one more would take two"
    assert len(lines) == 1


def test_the_event_loop_goes_on_meanwhile() -> None:
    async def work(past: PostgresPast) -> float:
        longest, last = 0.0, time.monotonic()
        async with past:
            asking = asyncio.ensure_future(past.last_hit("html", LINK))
            while not asking.done():
                await asyncio.sleep(0.01)
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return longest

    with silent() as url, capture_logs():
        assert asyncio.run(work(PostgresPast(url, seconds=4))) < 2


def test_closing_does_not_wait_for_a_silent_server() -> None:
    async def work(past: PostgresPast) -> None:
        async with past:
            asking = asyncio.ensure_future(past.last_hit("html", LINK))
            await asyncio.sleep(0.1)
            asking.cancel()

    with silent() as url, capture_logs():
        start = time.monotonic()
        asyncio.run(work(PostgresPast(url, seconds=60)))
        assert time.monotonic() - start < 20


def test_who_asks_is_a_setting() -> None:
    found = {
        (setting, who): isinstance(open_past(Config(ingest_known=setting), who), PostgresPast)
        for setting in ("workers", "always", "never")
        for who in ("workers", "command")
    }
    assert [pair for pair, asks in found.items() if asks] == [
        ("workers", "workers"),
        ("always", "workers"),
        ("always", "command"),
    ]
    assert Config().ingest_known == "workers"
    assert asyncio.run(NoPast().last_hit("html", LINK)) is None


def test_a_bug_is_not_taken_for_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(PostgresPast, "_query", broken)
    with pytest.raises(ZeroDivisionError):
        ask(PostgresPast(NOBODY))


def test_a_window_is_a_few_queries(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    query, all_asked = PostgresPast._query, threading.Event()

    def counted(past: PostgresPast, links: Any) -> Any:
        sizes.append(len(links))
        assert all_asked.wait(60)  # a server so far away that all have asked when the first answer comes
        return query(past, links)

    monkeypatch.setattr(PostgresPast, "_query", counted)

    async def work() -> list[object]:
        async with PostgresPast(database, seconds=60) as past:

            async def one(n: int) -> object:
                if n == 255:
                    asyncio.get_running_loop().call_soon(all_asked.set)
                return await past.last_hit("html", LINK if n % 2 else f"{LINK}{n}")

            return await asyncio.gather(*(one(n) for n in range(256)))

    found = asyncio.run(work())
    assert [each is not None for each in found] == [bool(n % 2) for n in range(256)]
    assert len(sizes) <= 6


def test_a_server_that_was_started_again_is_found_again(database: str) -> None:
    def restart() -> None:
        with psycopg.connect(database, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    with capture_logs() as lines:
        assert ask(PostgresPast(database, seconds=60), 3, restart) == [True] * 3
    assert lines == []


def test_a_server_that_comes_back_is_asked_again(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    past = PostgresPast(NOBODY, seconds=60, pause=0.05)

    def back() -> None:
        past._url = database
        time.sleep(0.1)

    with capture_logs() as lines:
        assert ask(past, 3, back) == [False, True, True]
    assert [line["log_level"] for line in lines] == ["warning", "info"]


def test_a_locked_table_is_not_waited_for(database: str) -> None:
    held, over = threading.Event(), threading.Event()

    def lock() -> None:
        with psycopg.connect(database) as other:
            other.execute("LOCK TABLE cdx IN ACCESS EXCLUSIVE MODE")
            held.set()
            over.wait(60)

    thread = threading.Thread(target=lock)
    thread.start()
    try:
        assert held.wait(60)
        with capture_logs() as lines:
            start = time.monotonic()
            assert ask(PostgresPast(database, seconds=0.3)) == [False]
            assert time.monotonic() - start < 20
        assert len(lines) == 1
    finally:
        over.set()
        thread.join()


def test_a_database_without_tables_is_said(stack_config: MakeConfig) -> None:
    with capture_logs() as lines:
        assert ask(PostgresPast(stack_config().postgres_url, pause=0.01), 2, lambda: time.sleep(0.05)) == [False] * 2
    assert len(lines) == 1
    assert "sandcrawler setup" in lines[0]["reason"]


def test_rows_before_the_columns_that_tell_all_are_not_told(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("UPDATE html_meta SET agent = NULL")
    assert ask(PostgresPast(database)) == [False]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ingest_file_result SET updated = 'infinity'",
        "UPDATE ingest_file_result SET updated = '0044-03-15 BC'",
        "UPDATE ingest_file_result SET updated = '12000-01-01'",
        "UPDATE html_meta SET biblio = jsonb_build_object('title', repeat('9', 5000)::numeric)",
        "UPDATE html_meta SET biblio = jsonb_build_object('title', 1e1000)",
        f"UPDATE html_meta SET biblio = jsonb_build_object('title', jsonb '{'[' * 5000}{']' * 5000}')",
        "UPDATE html_meta SET resources = '[null, 1, []]'",
    ],
)
def test_a_row_that_nobody_can_read_is_unknown_and_costs_no_other_link(database: str, change: str) -> None:
    """Links are asked for together; one row that somebody has spoilt must not stop a worker."""
    sink = PostgresSink(Config(postgres_url=database))
    with psycopg.connect(database, autocommit=True) as other:
        other.execute(change)
    sink.write([results.decode(record(result(2)))])
    sink.close()

    async def both() -> list[bool]:
        async with PostgresPast(database, seconds=60) as past:
            found = await asyncio.gather(*(past.last_hit("html", f"{LINK[:-1]}{n}") for n in (1, 2)))
        return [one is not None for one in found]

    assert asyncio.run(both()) == [False, True]


def test_the_query_reads_by_keys_alone(database: str) -> None:
    """However many rows there are, a look-up must not read through a table."""
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("SET enable_seqscan = off")  # the tables of a test are so small that reading them through is best
        given = {"types": ["html"] * 100, "urls": [f"{LINK}{n}" for n in range(100)]}
        plan = "\n".join(line for (line,) in other.execute(f"EXPLAIN {known.LAST}", given))
    assert "Seq Scan" not in plan
    assert plan.count("Index") >= 6
