"""The upsert on a real PostgreSQL: hostile values, and what goes wrong with databases."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, InvalidMessage, Unavailable
from sandcrawler.persist import database, migrations, postgres, results
from sandcrawler.persist.database import unsilenced
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.persist.results import Arrival
from sandcrawler.persist.tables import TABLES
from tests.persist.documents import Message, raw, record, result


@pytest.fixture
def config(stack_config: Callable[..., Config]) -> Config:
    made = stack_config()
    migrations.make(made)
    return made


@pytest.fixture
def sink(config: Config) -> Iterator[PostgresSink]:
    made = PostgresSink(config)
    yield made
    made.close()


@pytest.fixture
def admin(config: Config) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    with psycopg.connect(config.postgres_url or "", autocommit=True, row_factory=dict_row) as connection:
        yield connection


def arrivals(*values: dict[str, Any]) -> list[Arrival]:
    return [results.decode(record(value)) for value in values]


def kill(admin: psycopg.Connection[Any]) -> None:
    """End every session of the sink, as a restart of the server does."""
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'sandcrawler' AND datname = current_database()"
    )
    while admin.execute(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'sandcrawler' AND datname = current_database()"
    ).fetchone():
        time.sleep(0.01)


def count(admin: psycopg.Connection[dict[str, Any]], table: str = "ingest_file_result") -> int:
    row = admin.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row["count"])


HOSTILE = st.text(st.one_of(st.sampled_from("\x00\ud800\udfff\\\t\n\r\"'\x1a\x7f\u2028é漢😀N,{}"), st.characters()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(-(10**15), 10**15) | HOSTILE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.tuples(
        HOSTILE.filter(lambda url: 0 < len(url) < 300), HOSTILE, HOSTILE.filter(lambda source: 0 < len(source) < 20)
    ),
    extra=st.dictionaries(HOSTILE, VALUES, max_size=4),
)
def test_what_is_in_sql_is_what_was_in_kafka(
    sink: PostgresSink,
    admin: psycopg.Connection[dict[str, Any]],
    texts: tuple[str, str, str],
    extra: dict[str, Any],
) -> None:
    url, title, source = texts
    for table in ("ingest_request", "ingest_file_result", "file_meta", "cdx", "html_meta"):
        admin.execute(f"DELETE FROM {table}")
    request = {**result()["request"], "base_url": url, "link_source": source, "edit_extra": extra}
    value = result(request=request, html_biblio={"title": title})
    value["terminal"]["terminal_url"] = value["cdx"]["etag"] = value["file_meta"]["mimetype"] = title or "x"
    arrival = results.decode(raw(value))
    sink.write([arrival])
    assert admin.execute("SELECT base_url, terminal_url FROM ingest_file_result").fetchone() == {
        "base_url": arrival.request.base_url,
        "terminal_url": arrival.plain["terminal"]["terminal_url"],
    }
    assert admin.execute("SELECT biblio, etag FROM html_meta JOIN cdx USING (sha1hex)").fetchone() == {
        "biblio": arrival.plain["html_biblio"],
        "etag": arrival.plain["cdx"]["etag"],
    }
    assert admin.execute("SELECT link_source, request FROM ingest_request").fetchone() == {
        "link_source": arrival.request.link_source,
        "request": arrival.plain["request"],
    }


def test_a_replay_writes_nothing(sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]]) -> None:
    batch = arrivals(*(result(n) for n in range(50)))
    tables = ("ingest_request", "ingest_file_result", "file_meta", "cdx", "html_meta")
    sink.write(batch)
    written = [admin.execute(f"SELECT ctid, xmin FROM {table} ORDER BY ctid").fetchall() for table in tables]
    sink.write(batch)
    assert [admin.execute(f"SELECT ctid, xmin FROM {table} ORDER BY ctid").fetchall() for table in tables] == written


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("file_meta", "size_bytes", -1),
        ("html_body", "word_count", -5),
        ("html_body", "word_count", 2**40),
        ("file_meta", "mimetype", ""),
    ],
)
def test_a_row_that_a_constraint_refuses_is_the_messages_fault(
    sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]], part: str, field: str, value: Any
) -> None:
    bad = result("bad")
    bad[part][field] = value
    batch = arrivals(*(result(n) for n in range(9)), bad)
    with pytest.raises(InvalidMessage, match=r"PostgreSQL 2[23]"):
        sink.write(batch)
    assert count(admin) == 0
    # The same connection goes on: the halves without the culprit are written.
    sink.write(batch[:-1])
    assert count(admin) == 9
    with pytest.raises(InvalidMessage):
        sink.write(batch[-1:])


def test_an_idle_connection_that_died_is_replaced(
    sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]]
) -> None:
    sink.write(arrivals(result(1)))
    kill(admin)
    sink.write(arrivals(result(2)))
    assert count(admin) == 2


def test_a_connection_killed_in_the_middle_leaves_nothing_behind(
    sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    upsert, tables = postgres.upsert, []

    def interrupted(connection: Any, table: Any, batch: Any, heard: Any) -> None:
        upsert(connection, table, batch, heard)
        tables.append(table.name)
        if len(tables) % 3 == 0:
            kill(admin)

    monkeypatch.setattr(postgres, "upsert", interrupted)
    with pytest.raises(Unavailable, match="sandcrawler ps"):
        sink.write(arrivals(result(1)))
    assert count(admin) == count(admin, "ingest_request") == count(admin, "file_meta") == 0
    monkeypatch.undo()
    sink.write(arrivals(result(1)))
    assert count(admin) == count(admin, "html_meta") == 1


def test_a_read_only_server_is_waited_for(
    sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]], config: Config
) -> None:
    name = psycopg.conninfo.conninfo_to_dict(config.postgres_url or "")["dbname"]
    admin.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(Unavailable, match="25006"):
        sink.write(arrivals(result(1)))
    admin.execute("SET default_transaction_read_only = off")
    admin.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    sink.write(arrivals(result(1)))
    assert count(admin) == 1


@pytest.mark.parametrize("limit", ["STATEMENT_SECONDS", "LOCK_SECONDS"])
def test_a_statement_that_takes_too_long_is_given_up(
    sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(database, limit, 0.2)
    with admin.transaction():
        admin.execute("LOCK TABLE file_meta IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match=r"57014|55P03"):
            sink.write(arrivals(result(1)))
    assert count(admin) == 0


def test_a_silent_server_is_hung_up_on(config: Config) -> None:
    with database.connect(config.postgres_url) as connection:
        connection.execute("SET statement_timeout = 0")
        started = time.monotonic()
        with pytest.raises(psycopg.OperationalError), unsilenced(connection, 0.3):
            connection.execute("SELECT pg_sleep(30)")
        assert time.monotonic() - started < 20


def test_a_slow_batch_that_gets_on_is_not_hung_up_on(
    config: Config, sink: PostgresSink, admin: psycopg.Connection[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each table's merge takes 0.6 s, all together longer than the server may be silent.
    for table in TABLES:
        admin.execute(
            f"CREATE FUNCTION slow_{table.name}() RETURNS trigger LANGUAGE plpgsql AS"  # type: ignore[arg-type]
            " $$ BEGIN PERFORM pg_sleep(0.6); RETURN NULL; END $$"
        )
        admin.execute(
            f"CREATE TRIGGER slow BEFORE INSERT ON {table.name} EXECUTE FUNCTION slow_{table.name}()"  # type: ignore[arg-type]
        )
    monkeypatch.setattr(postgres, "unsilenced", partial(unsilenced, seconds=2.5))
    started = time.monotonic()
    sink.write(arrivals(result(1)))
    assert time.monotonic() - started > 2.5
    assert count(admin) == 1


def test_opposite_orders_do_not_deadlock(config: Config, admin: psycopg.Connection[dict[str, Any]]) -> None:
    errors: list[BaseException] = []

    def work(names: list[int]) -> None:
        own = PostgresSink(config)
        try:
            for day in range(1, 8):
                own.write(arrivals(*(result(n, timestamp=f"2024-01-0{day}T00:00:00Z") for n in names)))
        except Exception as error:  # noqa: BLE001  (the main thread looks at it)
            errors.append(error)
        finally:
            own.close()

    names = list(range(120))
    threads = [threading.Thread(target=work, args=(order,)) for order in (names, names[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert count(admin) == 120


def server_of(url: str | None, **parts: Any) -> str:
    return psycopg.conninfo.make_conninfo(url or "", **parts)


def test_nobody_there_is_said_with_the_address_and_never_the_password() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening: nobody else can
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"127.0.0.1:{port}/db.*sandcrawler ps") as error:
            PostgresSink(Config(postgres_url=f"postgresql://me:secret@127.0.0.1:{port}/db")).write(arrivals(result(1)))
    assert "secret" not in str(error.value)


def test_a_server_that_takes_connections_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "CONNECT_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/db"
        with pytest.raises(Unavailable):
            PostgresSink(Config(postgres_url=url)).write(arrivals(result(1)))


@pytest.mark.parametrize(
    ("parts", "says"),
    [({"password": "wrong"}, "28P01"), ({"dbname": "nowhere"}, "3D000")],
)
def test_a_wrong_password_or_database_is_the_operators_fault(config: Config, parts: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        PostgresSink(Config(postgres_url=server_of(config.postgres_url, **parts))).write(arrivals(result(1)))


def test_missing_tables_are_the_operators_fault(stack_config: Callable[..., Config]) -> None:
    with pytest.raises(ConfigurationError, match="sandcrawler setup"):
        PostgresSink(stack_config()).write(arrivals(result(1)))


@pytest.mark.parametrize("url", [None, "postgres", "postgresql://[", "host=x port", "postgresql://h/d?colour=red"])
def test_no_usable_address_is_the_operators_fault(url: str | None) -> None:
    with pytest.raises(ConfigurationError, match="SANDCRAWLER_POSTGRES_URL"):
        PostgresSink(Config(postgres_url=url)).write(arrivals(result(1)))


@pytest.mark.parametrize("state", ["08006", "57P01", "57014", "25006", "40001", "40P01", "53100", "53300", "55P03"])
def test_the_worlds_faults(state: str) -> None:
    class Fault(psycopg.Error):
        sqlstate = state

    assert isinstance(database.translated(Fault("broken"), "postgresql://h/d"), Unavailable)


@pytest.mark.parametrize("state", ["22P02", "22P05", "22003", "23502", "23514", "21000", "54000", "42601", "XX000"])
def test_the_messages_faults_and_bugs(state: str) -> None:
    class Fault(psycopg.Error):
        sqlstate = state

    fault = Fault("broken")
    translated = database.translated(fault, "postgresql://h/d")
    bug = state in {"21000", "42601", "XX000"}
    assert translated is fault if bug else isinstance(translated, InvalidMessage)


def test_json_beyond_what_sql_takes_is_the_messages_fault(sink: PostgresSink) -> None:
    value = raw(result()).value or b""
    huge = Message(value.replace(b'"note": ["kept"', b'"note": [1e400'))
    with pytest.raises(InvalidMessage):
        sink.write([results.decode(huge)])
