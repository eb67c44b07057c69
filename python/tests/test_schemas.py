"""The published JSON Schemas are those of the models, and say what they should of real messages."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sandcrawler import schemas
from sandcrawler.errors import InvalidMessage
from sandcrawler.model import IngestWebResult
from sandcrawler.names import Topic, shared
from sandcrawler.runtime import Record, deadletters
from sandcrawler.runtime.window import Slot
from sandcrawler.wire import decode, encode
from tests.persist.documents import result, sha1, tei
from tests.runtime.workers import batched, memory, worker

FOLDER = shared("kafka/schemas")


def validator(name: str) -> jsonschema.Draft202012Validator:
    made = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


@pytest.mark.parametrize("name", list(schemas.MESSAGES))
def test_the_file_is_what_the_model_says(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text("utf-8") == schemas.text(name), "run: python -m sandcrawler.schemas"


def test_there_is_no_other_file(tmp_path: Path) -> None:
    schemas.write(tmp_path)
    assert {path.name for path in FOLDER.iterdir()} == {path.name for path in tmp_path.iterdir()}


def test_every_topic_has_a_schema() -> None:
    readme = shared("kafka/README.md").read_text("utf-8")
    for topic in Topic:
        assert topic.value.removeprefix("ingest-file-requests") in readme
    for name in schemas.MESSAGES:
        assert f"`{name}.json`" in readme


@pytest.mark.parametrize("ingest_type", ["html", "xml", "pdf"])
def test_what_is_written_is_valid(ingest_type: str) -> None:
    written = json.loads(encode(decode(IngestWebResult, encode(result(ingest_type=ingest_type)))))
    assert written == result(ingest_type=ingest_type)
    validator("result").validate(written)
    validator("request").validate(written["request"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("request", {"ingest_type": "html"}),
        ("request", {"ingest_type": "video", "base_url": "https://example.org/"}),
        ("request", {"ingest_type": "html", "base_url": ""}),
        ("result", result(status="fine")),
        ("result", result(timestamp=None)),
        ("result", result(file_meta={**result()["file_meta"], "sha1hex": "short"})),
        ("result", result(error_message="x" * 1601)),
        ("html-teixml", {"key": sha1(1), "status": "success"}),
        ("html-teixml", {"key": "short", "sha1hex": "short", "status": "success"}),
        ("xml-doc", {"key": sha1(1), "sha1hex": sha1(1), "status": "success", "schema": "docbook"}),
        ("pdf-text", {"key": sha1(1), "sha1hex": sha1(1), "status": "success", "page_count": "nine"}),
    ],
)
def test_model_and_schema_refuse_the_same(name: str, message: dict[str, Any]) -> None:
    assert not validator(name).is_valid(message)
    with pytest.raises(InvalidMessage):
        decode(schemas.MESSAGES[name], encode(message))


def test_bodies_are_valid() -> None:
    validator("html-teixml").validate(json.loads(tei(1).value or b""))


def test_dead_letters_have_these_headers() -> None:
    made = worker(memory(), batched(lambda _batch: None))
    letter = deadletters.dead_letter(Slot(Record("in", 3, 99, b"k", b"v")), InvalidMessage("not JSON"), made)
    headers = {name: value.decode() for name, value in letter.headers}
    validator("dead-letter-headers").validate(headers)
    made_of = json.loads((FOLDER / "dead-letter-headers.json").read_text("utf-8"))
    assert set(made_of["properties"]) == set(made_of["required"]) == set(headers)
