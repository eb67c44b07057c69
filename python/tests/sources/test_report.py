import json
from pathlib import Path

from sandcrawler.sources.report import TITLE, Errors


def test_a_field_that_every_record_lacks_is_reported() -> None:
    errors = Errors()
    for lacks in (True, True):
        errors.note("title", lacks)
    errors.note("date", True)
    errors.note("date", False)
    errors.note("date", True)
    assert errors.messages() == ["Failed to fetch title"]


def test_a_message_is_about_one_document_and_said_once() -> None:
    errors = Errors()
    errors.say("X", "first")
    errors.say("X", "X is unreadable")
    assert errors.messages() == ["X is unreadable"]


def test_the_report_is_json(tmp_path: Path) -> None:
    errors = Errors()
    errors.note("title", True)
    errors.save(tmp_path / "errors.json", {"documents": 3})
    assert json.loads((tmp_path / "errors.json").read_text()) == {
        "title": TITLE,
        "messages": ["Failed to fetch title"],
        "counts": {"documents": 3},
    }
    assert TITLE == "Error fetching documents"
