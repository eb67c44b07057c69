"""`sandcrawler export …` from the outside."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sandcrawler.cli import app
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.export import fatcat
from sandcrawler.export.selection import Selection, moment
from sandcrawler.persist import migrations, results
from sandcrawler.persist.postgres import PostgresSink
from tests.persist.documents import record, result


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Selection, str]]:
    seen: list[tuple[Selection, str]] = []

    def entities(_: Config, selection: Selection, archive: str) -> Iterator[dict[str, Any]]:
        seen.append((selection, archive))
        yield {"cdx": ["ü"]}

    monkeypatch.setattr(fatcat, "entities", entities)
    return seen


def test_only_hits_unless_told(asked: list[tuple[Selection, str]]) -> None:
    done = CliRunner().invoke(app, ["export", "fatcat"])
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"cdx": ["ü"]})
    assert asked == [(Selection(("success",)), fatcat.WAYBACK)]


def test_selections(asked: list[tuple[Selection, str]]) -> None:
    options = "--status unknown-scope --type html --type pdf --since 2024-01-01 --until 2024-02-01T12:00:00Z"
    CliRunner().invoke(app, ["export", "fatcat", *options.split(), "--archive", "https://a.example.org/web"])
    since, until = moment("2024-01-01", ""), moment("2024-02-01T12:00:00Z", "")
    assert asked == [(Selection(("unknown-scope",), ("html", "pdf"), since, until), "https://a.example.org/web")]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["fatcat", "--status", "nothing"], "there is no status 'nothing'"),
        (["csv", "out", "--since", "yesterday"], "--since"),
        (["csv", "out", "--since", "2024-02-01", "--until", "2024-01-01"], "is not before --until"),
        (["fatcat", "--archive", ""], "--archive"),
        (["parquet", "out"], "SANDCRAWLER_POSTGRES_URL"),
    ],
)
def test_wrong_usage_is_said(
    arguments: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["export", *arguments])
    assert isinstance(done.exception, ConfigurationError)
    assert reason in str(done.exception)


def test_files_of_a_real_database(
    stack_config: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = stack_config()
    migrations.make(config)
    sink = PostgresSink(config)
    sink.write([results.decode(record(result(1)))])
    sink.close()
    monkeypatch.setenv("SANDCRAWLER_POSTGRES_URL", config.postgres_url or "")
    for form in ("csv", "parquet"):
        done = CliRunner().invoke(app, ["export", form, str(tmp_path), "--table", "html_meta"])
        assert json.loads(done.stdout) == {"file": str(tmp_path / f"html_meta.{form}"), "rows": 1}
    done = CliRunner().invoke(app, ["export", "fatcat"])
    assert json.loads(done.stdout)["original_url"] == "https://journal.example.org/articles/1"


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("url", "error"), [(None, ConfigurationError), ("postgresql://x:y@127.0.0.1:9/none", Unavailable)]
)
def test_without_a_database_there_is_no_folder(
    form: str, url: str | None, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SANDCRAWLER_POSTGRES_URL", raising=False)
    if url:
        monkeypatch.setenv("SANDCRAWLER_POSTGRES_URL", url)
    done = CliRunner().invoke(app, ["export", form, "out/tables"])
    assert isinstance(done.exception, error)
    assert list(tmp_path.iterdir()) == []
