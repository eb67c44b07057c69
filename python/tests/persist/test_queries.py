"""Every question of sql/queries.md runs as it stands, and finds what is there."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import psycopg
import pytest

from sandcrawler.config import Config
from sandcrawler.names import shared
from sandcrawler.persist import migrations, results
from sandcrawler.persist.postgres import PostgresSink
from tests.persist.documents import record, result, sha1

TEXT = shared("sql/queries.md").read_text("utf-8")
QUESTIONS = dict(re.findall(r"^## (.*?)\n.*?^```sql\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
GIVEN = {
    "url": "https://journal.example.org/articles/1",
    "sha1": sha1(1),
    "surt": "org,example,journal)/articles/1",
    "doi": "10.1234/terns",
}
NOW = datetime.now(UTC).isoformat()


@pytest.fixture
def database(stack_config: Callable[..., Config]) -> Iterator[psycopg.Connection]:
    config = stack_config()
    migrations.make(config)
    biblio = {"title": "Terns", "doi": GIVEN["doi"], "container_name": "Gulls", "release_year": 2020}
    scan = {"status": "success", "page_count": 3, "has_text": False}
    untitled = {"contrib_names": ["A"]}
    values = [
        result(1, html_biblio=biblio, timestamp=NOW),
        result(2, "xml", xml_meta={"status": "success", "schema": "jats", "word_count": 9, "biblio": biblio}),
        result(3, "pdf", pdf_meta=scan),
        result(4, html_biblio=untitled),
        result(5, status="timeout", hit=False, timestamp="2020-01-01T00:00:00Z"),
        result(6, status="blocked-wall", hit=False, timestamp=NOW),
    ]
    sink = PostgresSink(config)
    sink.write([results.decode(record(value)) for value in values])
    sink.close()
    with psycopg.connect(config.postgres_url or "", autocommit=True) as connection:
        connection.execute("ANALYZE")
        yield connection


def test_there_are_enough() -> None:
    assert len(QUESTIONS) >= 10
    assert TEXT.count("```sql") == len(QUESTIONS) == TEXT.count("\n## ")


def test_every_question_has_an_answer(database: psycopg.Connection) -> None:
    for title, query in QUESTIONS.items():
        statement = re.sub(r":'(\w+)'", lambda found: f"'{GIVEN[found[1]]}'", query)
        found = database.execute(statement.encode()).fetchall()
        assert found, title
        assert len(query.splitlines()[0]) < 140
