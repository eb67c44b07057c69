"""`--force` of the commands that make requests goes into them; without it nothing is added."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sandcrawler.cli import app, feed

LINK = "https://journal.example.org/1"
ASKED = {"ingest_type": "html", "base_url": LINK, "note": [1]}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is published, in place of Kafka."""
    kept: list[dict[str, Any]] = []

    def publish(values: Iterable[dict[str, Any]], *_: object) -> int:
        kept.extend(values)
        return len(kept)

    monkeypatch.setattr(feed, "publish", publish)
    return kept


@pytest.mark.parametrize("word", ["--force", "--force-recrawl"])
def test_one_request(sent: list[dict[str, Any]], word: str) -> None:
    assert CliRunner().invoke(app, ["request", LINK, word]).exit_code == 0
    assert CliRunner().invoke(app, ["request", LINK]).exit_code == 0
    assert [one.get("force_recrawl") for one in sent] == [True, None]


def test_many_requests(sent: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text(f"{json.dumps(ASKED)}\n{json.dumps(ASKED | {'force_recrawl': False})}\n")
    assert CliRunner().invoke(app, ["requests", str(file), "--force"]).exit_code == 0
    assert sent == [{**ASKED, "force_recrawl": True}] * 2
    sent.clear()
    assert CliRunner().invoke(app, ["requests", str(file)]).exit_code == 0
    assert sent == [ASKED, {**ASKED, "force_recrawl": False}]
