"""How commands of sources end when they are not let finish: signals, readers that have enough, brokers that go away."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sandcrawler.cli import app, source_output
from sandcrawler.cli.feed import BATCH
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.sources import oai_state
from tests.sources.repository import Repository, serving

PYTHON = (sys.executable, "-m", "sandcrawler", "source")


def lined(count: int) -> bytes:
    return b"".join(b"https://journal.example.org/%d\n" % number for number in range(count))


def test_a_maker_that_is_ended_gives_out_whole_lines(tmp_path: Path) -> None:
    """The input is a pipe that stays open: the end comes while the maker waits for more."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = tmp_path / "out"
    with out.open("wb") as sink:
        running = subprocess.Popen([*PYTHON, "list", "requests", str(pipe)], stdout=sink, stderr=subprocess.PIPE)
    with pipe.open("wb", buffering=0) as feeding:
        feeding.write(lined(300))
        limit = time.monotonic() + 30
        while out.stat().st_size < 1000 and time.monotonic() < limit:
            time.sleep(0.02)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=20)
    assert (running.returncode, said.splitlines()[-1]) == (130, b"sandcrawler: interrupted")
    assert [json.loads(line)["base_url"][-1] for line in out.read_bytes().splitlines()]
    assert out.read_bytes().endswith(b"\n")


@pytest.mark.parametrize("words", [["list", "requests", "LIST"], ["doaj", "requests", "BAD"]])
def test_a_reader_that_has_enough_is_no_error(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(lined(20_000))
    (tmp_path / "bad").write_bytes(b"not json\n" * 20_000)
    words = [{"LIST": str(tmp_path / "list"), "BAD": str(tmp_path / "bad")}.get(word, word) for word in words]
    running = subprocess.Popen([*PYTHON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout
    assert running.stderr
    (running.stderr if words[0] == "doaj" else running.stdout).readline()
    running.stdout.close()
    if words[0] == "doaj":
        running.stderr.close()
        assert running.wait(60) in {0, 1}
        return
    said = running.stderr.read()
    running.stderr.close()
    assert (running.wait(60), said) == (0, b"")


class Broker:
    """Takes batches until it goes away."""

    def __init__(self, batches: int) -> None:
        self.left, self.taken = batches, 0

    def publish(self, batch: list[Any]) -> None:
        if self.left == 0:
            raise Unavailable("Kafka went away")
        self.left -= 1
        self.taken += len(batch)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("batches", [0, 2])
def test_a_broker_that_goes_away(batches: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(batches)
    monkeypatch.setattr("sandcrawler.kafka.open_producer", lambda _: broker)
    (tmp_path / "list").write_bytes(lined(5 * BATCH))
    done = CliRunner().invoke(app, ["source", "list", "requests", str(tmp_path / "list"), "--publish"])
    assert isinstance(done.exception, Unavailable)
    assert f"{batches * BATCH} requests were published before this" in done.stderr
    assert broker.taken == batches * BATCH


def test_an_error_in_the_input_comes_after_what_was_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broker = Broker(5)
    monkeypatch.setattr("sandcrawler.kafka.open_producer", lambda _: broker)

    def failing() -> Iterator[dict[str, Any]]:
        yield {"base_url": "https://journal.example.org/"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source_output.emit(failing(), "bulk", before=7)
    assert broker.taken == 1
    assert "8 requests were published before this" in capsys.readouterr().err


def test_two_harvests_do_not_share_a_state(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with serving(Repository()) as url:
        words = ["source", "oai", "requests", url, "--state", str(state)]
        with oai_state.held(state):
            done = CliRunner().invoke(app, words)
            assert isinstance(done.exception, ConfigurationError)
            assert "another harvest is at it" in str(done.exception)
            assert not state.exists()
        assert len(CliRunner().invoke(app, words).stdout.splitlines()) == 10
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


HOLD = """
import sys, time
from pathlib import Path
from sandcrawler.sources.oai_state import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_lock_of_a_harvest_that_was_killed_holds_nobody_up(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(state)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(ConfigurationError), oai_state.held(state):
            pass
        holder.kill()
    with oai_state.held(state), pytest.raises(ConfigurationError), oai_state.held(state):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be locked"), oai_state.held(tmp_path / "none" / "state"):
        pass
