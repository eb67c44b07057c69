"""The command line: JSON on stdout, words on stderr, and the exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandcrawler.config import Config
from sandcrawler.demo.server import running
from sandcrawler.status import Status

MakeConfig = Callable[..., Config]
PAGE = (
    b"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Knots in wool</title>
<meta name="citation_title" content="Knots in wool"><meta name="citation_author" content="Weft, Ada">
</head><body><h1>Knots in wool</h1>"""
    + b"<p>We counted the knots of ninety balls of wool.</p>" * 3
    + b"</body></html>"
)


def sandcrawler(*words: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a user does."""
    environment = {**os.environ, **settings}
    return subprocess.run(
        [sys.executable, "-m", "sandcrawler", *words], check=False, capture_output=True, env=environment, timeout=120
    )


def test_extract_prints_one_result(tmp_path: Path) -> None:
    page, body = tmp_path / "page.html", tmp_path / "body"
    page.write_bytes(PAGE)
    done = sandcrawler(
        "extract", str(page), "--type", "html", "--url", "https://x.example.org/1", "--body-out", str(body)
    )
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["html_biblio"]["title"] == "Knots in wool"
    assert not {"terminal", "cdx", "hops"} & set(result)
    assert body.exists() == (result["status"] in {"success", "unknown-scope"})


def test_extract_explains_where_each_field_is_from(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(PAGE)
    done = sandcrawler("extract", str(page), "--url", "https://x.example.org/1", "--explain")
    assert b"title: citation_title" in done.stderr


def test_a_body_file_of_an_earlier_run_does_not_stay(tmp_path: Path) -> None:
    page, body = tmp_path / "page.html", tmp_path / "body"
    page.write_bytes(b"%PDF-1.4")
    body.write_text("of an earlier run")
    done = sandcrawler("extract", str(page), "--url", "https://x.example.org/1", "--body-out", str(body))
    assert json.loads(done.stdout)["status"] == "wrong-mimetype"
    assert not body.exists()


def test_ingest_needs_no_server_and_keeps_everything(tmp_path: Path) -> None:
    with running() as web:
        settings = {
            "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to,
            "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
            "SANDCRAWLER_FETCH_HOST_GAP": "0",
        }
        url = "http://letters.example.org/lom/2/1/editorial"
        done = sandcrawler("ingest", url, "--out", str(tmp_path / "kept"), **settings)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["status"], result["hops"]) == ("success", [url])
    kept = {path.name for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert "result.json" in kept
    assert len(kept) >= 2


def test_a_link_that_cannot_be_had_is_a_result_and_no_error() -> None:
    done = sandcrawler("ingest", "http://127.0.0.1/", SANDCRAWLER_FETCH_HOST_GAP="0")
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "blocked-address"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["extract", "/no/such/file", "--url", "https://x.example.org/"], 2, b"/no/such/file"),
        (["extract", "/", "--url", "https://x.example.org/"], 2, b"directory"),
        (["extract", "/dev/null"], 2, b"--url"),
        (["ingest", "https://x.example.org/", "--type", "tiff"], 2, b"tiff"),
        (["ingest", " "], 2, b"URL"),
        (["run", "no-such-worker"], 2, b"no-such-worker"),
        (["requests", "/no/such/file"], 2, b"/no/such/file"),
        (["request", "https://x.example.org/", "--queue", "slow"], 2, b"slow"),
        (["requeue", "--status", "sucess"], 2, b"sucess"),
        (["requeue", "--status", "timeout", "--older-than", "soon"], 2, b"soon"),
        (["setup"], 2, b"SANDCRAWLER_KAFKA_BROKERS"),
        (["show", "https://x.example.org/"], 2, b"SANDCRAWLER_POSTGRES_URL"),
    ],
)
def test_wrong_usage_names_the_thing(words: list[str], code: int, says: bytes) -> None:
    done = sandcrawler(*words)
    assert (done.returncode, done.stdout) == (code, b"")
    assert says in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["request", "https://x.example.org/"], {"SANDCRAWLER_KAFKA_BROKERS": "127.0.0.1:9"}),
        (["show", "https://x.example.org/"], {"SANDCRAWLER_POSTGRES_URL": "postgresql://127.0.0.1:9/none"}),
    ],
    ids=["kafka", "postgres"],
)
def test_a_server_that_is_not_there_is_exit_code_3(words: list[str], settings: dict[str, str]) -> None:
    done = sandcrawler(*words, **settings)
    assert done.returncode == 3, done.stderr
    assert b"127.0.0.1" in done.stderr
    assert b"Traceback" not in done.stderr


def test_statuses_are_all_listed_with_their_meaning() -> None:
    lines = [json.loads(line) for line in sandcrawler("statuses").stdout.splitlines()]
    assert [line["status"] for line in lines] == [status.value for status in Status]
    assert all(line["meaning"] for line in lines)


def test_requests_names_bad_lines_and_publishes_the_others(stack_config: MakeConfig, tmp_path: Path) -> None:
    config = stack_config()
    settings = {"SANDCRAWLER_KAFKA_BROKERS": config.kafka_brokers or "", "SANDCRAWLER_ENV": "dev"}
    sandcrawler("setup", **settings, **servers(config))
    lines = ['{"ingest_type": "html", "base_url": "https://x.example.org/1"}', "", "{", '{"base_url": "x"}']
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join(lines))
    done = sandcrawler("requests", str(file), "--queue", "bulk", **settings)
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"published": 1, "left_out": 2}
    assert b":3: not JSON" in done.stderr
    assert b":4: " in done.stderr


def servers(config: Config) -> dict[str, str]:
    """The settings under which a command finds this test's database and bucket."""
    return {
        "SANDCRAWLER_POSTGRES_URL": config.postgres_url or "",
        "SANDCRAWLER_S3_URL": config.s3_url or "",
        "SANDCRAWLER_S3_ACCESS_KEY": config.s3_access_key,
        "SANDCRAWLER_S3_SECRET_KEY": config.s3_secret_key.get_secret_value(),
        "SANDCRAWLER_S3_BUCKET": config.s3_bucket,
    }
