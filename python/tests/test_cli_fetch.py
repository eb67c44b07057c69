"""`sandcrawler fetch` against a real server, and the metrics' port."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from sandcrawler.cli import document
from sandcrawler.cli.fetch import tell
from sandcrawler.demo.documents import Answer
from sandcrawler.demo.server import running
from sandcrawler.stack.ports import choose
from tests.test_cli import sandcrawler

A, B = "https://journal.example.org/a", "https://journal.example.org/b"
SITE = [
    Answer(url=A, status=302, location=B),
    Answer(url=B, type="text/html", body=b"<html>words</html>"),
    Answer(url="https://journal.example.org/same", type="text/html", body=b"<html/>", headers={"ETag": '"v1"'}),
    Answer(url="https://journal.example.org/robots.txt", type="text/plain", body=b"User-agent: *\nDisallow: /shut\n"),
]


@pytest.fixture(scope="module")
def settings() -> Iterator[dict[str, str]]:
    with running(SITE, tls=True) as web:
        yield {
            "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to,
            "SANDCRAWLER_FETCH_CA_FILE": str(web.ca_file),
            "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
            "SANDCRAWLER_FETCH_HOST_GAP": "0.1",
        }


def test_the_capture_is_one_line_and_the_body_a_file(settings: dict[str, str], tmp_path: Path) -> None:
    body = tmp_path / "body"
    done = sandcrawler("fetch", A, "--body-out", str(body), **settings)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    found = json.loads(done.stdout)
    assert (found["status"], found["hops"], found["terminal_url"], found["status_code"]) == ("success", [A, B], B, 200)
    assert (found["size_bytes"], len(found["sha1hex"])) == (18, 40)
    assert ["Content-Type", "text/html"] in found["headers"]
    assert body.read_bytes() == b"<html>words</html>"


def test_v_tells_every_step(settings: dict[str, str]) -> None:
    lines = sandcrawler("fetch", A, "-v", **settings).stderr.decode().splitlines()
    said = "\n".join(lines)
    assert all(line[:2] in {"* ", "> ", "< "} for line in lines)
    for wanted in (
        r"\* journal\.example\.org is 127\.0\.0\.1 \(allowed\); looked up in \d\.\d+ s",
        r"\* connected to 127\.0\.0\.1 in \d\.\d+ s",
        r"\* TLSv1\.\d, \S+, certificate trusted; in \d\.\d+ s",
        r"> GET /robots\.txt HTTP/1\.1",
        r"\* https://journal\.example\.org/robots\.txt: rules for '\*'",
        r"\* journal\.example\.org: its turn came after \d\.\d+ s, gap 0\.1 s",
        r"> User-Agent: sandcrawler/",
        r"< HTTP/1\.1 302",
        r"\* redirect: to https://journal\.example\.org/b",
        r"\* an open connection is used again",
        r"< HTTP/1\.1 200",
        r"\* the head came after \d\.\d+ s",
        r"\* the body came after another \d\.\d+ s",
        r"\* success, 18 bytes, \d+\.\d+ s in all",
    ):
        assert re.search(f"^{wanted}", said, re.MULTILINE), wanted


def test_strangers_do_not_write_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    tell("<", "X-Odd: \x1b[31m\x9b\u202eé")
    assert capsys.readouterr().err == "< X-Odd: ?[31m??é\n"


def test_v_tells_why_not(settings: dict[str, str]) -> None:
    shut = sandcrawler("fetch", "https://journal.example.org/shut/1", "-v", **settings)
    assert json.loads(shut.stdout)["status"] == "blocked-robots"
    assert b"* blocked-robots: https://journal.example.org/robots.txt does not allow this URL" in shut.stderr
    guarded = sandcrawler("fetch", A, "-v", **{**settings, "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": ""})
    assert json.loads(guarded.stdout)["status"] == "blocked-address"
    assert b"127.0.0.1 is loopback" in guarded.stderr
    listed = sandcrawler("fetch", "https://sso.example.org/login?TARGET=x", "-v", **settings)
    assert json.loads(listed.stdout)["status"] == "skip-wall"
    assert b"*/**/login?target" in listed.stderr


def test_a_wrong_list_is_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("never example.org\n")
    done = sandcrawler("fetch", A, SANDCRAWLER_FETCH_BLOCKLIST=str(tmp_path / "list"))
    assert done.returncode == 2
    assert b"line 1" in done.stderr


SERVE = """
import sys, time
from sandcrawler import workers
from sandcrawler.cli import main
workers.run = lambda name, config: time.sleep(600)
sys.argv = ["sandcrawler", "run", "ingest", "--metrics-port", sys.argv[1]]
main()
"""


def test_metrics_are_served_on_a_port() -> None:
    (port,) = choose(1, set())
    child = subprocess.Popen([sys.executable, "-c", SERVE, str(port)], env=os.environ)
    try:
        text = _read(f"http://127.0.0.1:{port}/metrics")
        assert "sandcrawler_fetch_seconds_bucket" in text
        assert "sandcrawler_records" in text
        again = subprocess.run([sys.executable, "-c", SERVE, str(port)], check=False, capture_output=True, timeout=60)
        assert again.returncode == 2
        assert b"SANDCRAWLER_METRICS_PORT" in again.stderr
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()


def _read(url: str) -> str:
    end = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return str(response.read().decode())
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def test_on_condition_it_says_what_came_of_it(settings: dict[str, str]) -> None:
    same = "https://journal.example.org/same"
    done = sandcrawler("fetch", same, "-v", "--etag", '"v1"', **settings)
    assert (done.returncode, json.loads(done.stdout)["status_code"]) == (0, 304)
    assert '> If-None-Match: "v1"' in done.stderr.decode()
    assert "* asked on condition (If-None-Match): the version that is known is still there" in done.stderr.decode()
    done = sandcrawler("fetch", same, "--etag", '"v2"', **settings)
    assert (json.loads(done.stdout)["status_code"], json.loads(done.stdout)["size_bytes"]) == (200, 7)


@pytest.mark.parametrize("words", [("--etag", "v1"), ("--etag", "*"), ("--last-modified", "yesterday")])
def test_a_validator_that_would_not_be_sent_is_wrong_usage(words: tuple[str, str]) -> None:
    done = sandcrawler("fetch", A, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words[0].encode() in done.stderr


def test_who_waits_at_a_terminal_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(document, "console", Console(file=shown, force_terminal=True, width=80))
    with document.waiting() as say:
        say("asking for [b]http://a.example/\x1b]0;x")
    assert "asking for [b]http://a.example/\\x1b]0;x" in shown.getvalue()
    monkeypatch.setattr(document, "console", Console(file=shown, force_terminal=False))
    before = shown.getvalue()
    with document.waiting() as say:
        say("asking for nothing")
    assert shown.getvalue() == before
