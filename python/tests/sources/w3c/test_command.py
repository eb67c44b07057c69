"""`sandcrawler source w3c …` as its users meet it: output, exit codes, signals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandcrawler.sources import yamltext
from sandcrawler.sources.w3c.index import read_rows
from sandcrawler.sources.w3c.record import from_xml, from_yaml
from tests.sources.w3c.server import Fault, Server, key, serving
from tests.sources.w3c.world import Harvest, names, world


def command(*words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "sandcrawler", "source", "w3c", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harvest")
    with serving(world(2, 3)) as server:
        Harvest(server.base, folder).run()
    return folder


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    with serving(world()) as running:
        yield running


def test_get_prints_the_identifier(harvested: Path) -> None:
    done = command("get", "W3C REC-tide-0", "--index", harvested / "index-v2.yaml", "--id-only")
    assert (done.returncode, done.stdout) == (0, "W3C REC-tide-0-20010315\n")


@pytest.mark.parametrize("words", [["--id-only"], []])
def test_a_miss_prints_nothing(harvested: Path, words: list[str]) -> None:
    done = command("get", "W3C REC-tide-9", "--index", harvested / "index-v2.yaml", *words)
    assert (done.returncode, done.stdout) == (1, "")


def test_an_unreadable_reference_is_a_miss_with_a_reason(harvested: Path) -> None:
    done = command("get", "REC-", "--index", harvested / "index-v2.yaml", "--id-only")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no W3C identifier" in done.stderr


def test_an_index_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    for words in (["--index", tmp_path / "none"], ["--data", tmp_path]):
        done = command("get", "W3C x", "--id-only", *words)
        assert (done.returncode, done.stdout) == (3, "")


def test_a_malformed_index_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("{}\n")
    assert command("get", "W3C x", "--index", tmp_path / "index").returncode == 2


def test_the_record_in_three_forms(harvested: Path) -> None:
    texts = {}
    for form in ("json", "yaml", "xml"):
        done = command("get", "W3C REC-tide-0", "--data", harvested, "--format", form)
        assert done.returncode == 0, done.stderr
        texts[form] = done.stdout
    record = json.loads(texts["json"])
    assert record["docnumber"] == "REC-tide-0-20010315"
    assert from_yaml(texts["yaml"]) == record
    assert {**from_xml(texts["xml"]), "id": record["id"]} == record


def test_fetch(server: Server, tmp_path: Path) -> None:
    done = command("fetch", "--output", tmp_path, "--api", server.base, "--ledger", "--prune")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 16
    assert len(names(tmp_path)) == 16
    assert json.loads((tmp_path / "errors.json").read_text())["messages"] == []
    again = command("fetch", "--output", tmp_path, "--ledger", "--prune", W3C_API_URL=server.base)
    counts = json.loads(again.stdout)
    assert (counts["unchanged"], counts["pruned"], counts["requests_saved_by_ledger"]) == (16, 0, 40)


def test_fetch_with_something_to_report(tmp_path: Path) -> None:
    made = world(1, 1)
    made["/specifications/tide-0/versions/20010115"]["uri"] = "http://www.w3.org/TR/2001/REC-/"
    with serving(made) as server:
        done = command("fetch", "--output", tmp_path, "--api", server.base, "--format", "xml")
    assert done.returncode == 1
    (message,) = json.loads((tmp_path / "errors.json").read_text())["messages"]
    assert "was not indexed" in message
    assert len(list(tmp_path.glob("*.xml"))) == 2


def test_fetch_that_would_be_truncated(server: Server, tmp_path: Path) -> None:
    del server.answers[key("/specifications?embed=true")]["_links"]["next"]
    done = command("fetch", "--output", tmp_path, "--api", server.base)
    assert done.returncode == 1
    assert "page 1 of 2; refusing to save a partial dataset" in done.stderr
    assert not (tmp_path / "index-v2.yaml").exists()


def test_fetch_without_a_server(server: Server, tmp_path: Path) -> None:
    server.always[key("/specifications?embed=true")] = Fault(404)
    assert command("fetch", "--output", tmp_path, "--api", server.base).returncode == 3
    (tmp_path / "file").write_text("")
    assert command("fetch", "--output", tmp_path / "file", "--api", server.base).returncode == 3


def test_wrong_settings(server: Server, tmp_path: Path) -> None:
    done = command("fetch", "--output", tmp_path, "--api", server.base, RELATON_W3C_FETCH_CONCURRENCY="none")
    assert done.returncode == 2
    assert "RELATON_W3C_FETCH_CONCURRENCY" in done.stderr


def test_ctrl_c_saves_what_there_is_also_in_the_midst_of_a_back_off(server: Server, tmp_path: Path) -> None:
    server.always[key("/specifications/tide-3/versions")] = Fault(403, {"Retry-After": "600"})
    words = ["fetch", "--output", str(tmp_path), "--api", server.base]
    running = subprocess.Popen(
        [sys.executable, "-m", "sandcrawler", "source", "w3c", *words], stdout=subprocess.PIPE, text=True
    )
    limit = time.monotonic() + 60
    waited_for = "/specifications/tide-3/versions"
    while not (server.count(waited_for) and names(tmp_path)) and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert json.loads(output)["documents"] == len(names(tmp_path)) > 0
    assert {row.file for row in read_rows(tmp_path / "index-v2.yaml")} == names(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_harvest_that_is_ended_leaves_whole_records_and_the_next_finishes_it(
    number: signal.Signals, server: Server, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    assert command("fetch", "--output", whole, "--api", server.base, "--ledger").returncode == 0
    undisturbed = {name: (whole / name).read_bytes() for name in names(whole) | {"index-v2.yaml"}}
    server.asked.clear()
    # Slow from the middle on, so that it is not done before it is ended.
    server.on_request = lambda _: time.sleep(1 if len(server.asked) > 25 else 0.02)
    folder = tmp_path / "out"
    words = ["fetch", "--output", str(folder), "--api", server.base, "--ledger"]
    running = subprocess.Popen([sys.executable, "-m", "sandcrawler", "source", "w3c", *words], stdout=subprocess.PIPE)
    limit = time.monotonic() + 60
    while not (len(server.asked) >= 25 and names(folder)) and time.monotonic() < limit:
        time.sleep(0.01)
    running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode == (130 if number == signal.SIGTERM else -signal.SIGKILL)
    left = names(folder)
    assert 0 < len(left) < 16
    assert all((folder / name).read_bytes() == undisturbed[name] for name in left)
    index, ledger = folder / "index-v2.yaml", folder / ".digests.yaml"
    assert index.exists() == ledger.exists() == (number == signal.SIGTERM)
    if number == signal.SIGTERM:
        assert {row.file for row in read_rows(index)} == left
    server.on_request = lambda _: None
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert {name: (folder / name).read_bytes() for name in names(folder) | {"index-v2.yaml"}} == undisturbed
    assert yamltext.load(ledger.read_bytes()) == yamltext.load((whole / ".digests.yaml").read_bytes())
    assert (json.loads(done.stdout).get("unchanged", 0) > 0) == (number == signal.SIGTERM)


def test_requests(harvested: Path) -> None:
    done = command("requests", harvested)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert len(lines) == 6
    assert {line["link_source"] for line in lines} == {"w3c"}
