"""What two files must agree on: names.py = kafka/topics.toml = sql/migrations/ = persist/tables.py = the documents."""

import re

import pytest

from sandcrawler import topics
from sandcrawler.config import Config
from sandcrawler.names import Table, Topic, shared
from sandcrawler.persist import rows
from sandcrawler.persist.tables import BY_NAME, TABLES

SQL = "\n".join(path.read_text("utf-8") for path in sorted(shared("sql/migrations").glob("*.sql")))
CREATED = dict(re.findall(r"^CREATE TABLE (\w+) \(\n(.*?)^\);", SQL, re.MULTILINE | re.DOTALL))
for added_to, column in re.findall(r"^ALTER TABLE (\w+) ADD COLUMN (.*);$", SQL, re.MULTILINE):
    CREATED[added_to] += f"    {column}\n"
COLUMN = re.compile(r"^    ([a-z]\w*) +([A-Z]\w*)(.*?),?$", re.MULTILINE)
TYPES = {
    "TEXT": "text",
    "INT": "int4",
    "BIGINT": "int8",
    "BOOLEAN": "bool",
    "TIMESTAMPTZ": "timestamptz",
    "JSONB": "jsonb",
}
NINETY_DAYS = str(90 * 24 * 3600 * 1000)


def test_every_table_is_made_once_and_known() -> None:
    assert [table.name for table in TABLES] == list(Table) == [Table(name) for name in CREATED]
    assert set(BY_NAME) == set(Table)


@pytest.mark.parametrize("name", list(Table))
def test_columns_and_keys(name: Table) -> None:
    body = CREATED[name]
    assert {column: TYPES[kind] for column, kind, _ in COLUMN.findall(body)} == dict(BY_NAME[name].columns)
    assert list(BY_NAME[name].columns) == [column for column, _, _ in COLUMN.findall(body)]
    keys = re.findall(r"PRIMARY KEY \((.*)\)", body) or [c for c, _, rest in COLUMN.findall(body) if "PRIMARY" in rest]
    assert keys[0].split(", ") == list(BY_NAME[name].key)
    assert f"{BY_NAME[name].moment} " in body


@pytest.mark.parametrize("name", list(Table))
def test_everything_has_a_comment(name: Table) -> None:
    assert f"COMMENT ON TABLE {name} IS" in SQL
    for column in set(BY_NAME[name].columns) - set(BY_NAME[name].key):
        assert f"COMMENT ON COLUMN {name}.{column} IS" in SQL


@pytest.mark.parametrize("name", list(Table))
def test_a_check_tests_its_own_column(name: Table) -> None:
    for column, _, rest in COLUMN.findall(CREATED[name]):
        check = re.search(r"CHECK \((.*)\)$", rest)
        if check:
            assert re.search(rf"\b{column}\b", check[1]), f"{name}.{column}: {check[1]}"


@pytest.mark.parametrize(
    ("limit", "columns"),
    [
        (rows.BASE_URL_BYTES, ["base_url"]),
        (rows.URL_BYTES, ["terminal_url", "url"]),
        (rows.SURT_BYTES, ["surt"]),
        (rows.SOURCE_BYTES, ["link_source"]),
        (rows.ID_BYTES, ["link_source_id", "ingest_request_source"]),
    ],
)
def test_limits_are_the_same_in_code_and_sql(limit: int, columns: list[str]) -> None:
    for column in columns:
        found = re.findall(rf"octet_length\({column}\) BETWEEN 1 AND (\d+)", SQL)
        assert found
        assert set(found) == {str(limit)}


def test_every_topic_is_in_the_file_once_and_known() -> None:
    assert [spec.topic for spec in topics.specs()] == list(Topic)


@pytest.mark.parametrize("spec", topics.specs(), ids=lambda spec: spec.topic.value)
def test_settings_follow_the_kind_of_topic(spec: topics.TopicSpec) -> None:
    compacted = spec.topic in {Topic.RESULTS, Topic.HTML_TEIXML, Topic.XML_DOC, Topic.PDF_TEXT}
    bodies = compacted and spec.topic is not Topic.RESULTS
    assert spec.settings["cleanup.policy"] == ("compact" if compacted else "delete")
    assert spec.settings.get("retention.ms") == (None if compacted else NINETY_DAYS)
    assert spec.settings.get("compression.type") == ("zstd" if bodies else None)
    assert int(spec.settings["max.message.bytes"]) >= Config().message_bytes + (1 << 20)


def test_the_readme_of_the_topics_names_them_all() -> None:
    readme = shared("kafka/README.md").read_text("utf-8")
    for topic in Topic:
        assert topic.value.replace("ingest-file-requests", "") in readme


def test_the_questions_name_tables_that_are_there() -> None:
    questions = shared("sql/queries.md").read_text("utf-8")
    for name in Table:
        assert re.search(rf"\b{name}\b", questions), f"no question about {name}"
