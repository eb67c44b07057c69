"""Background programs: detached, stopped within bounds, never mistaken for another."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from sandcrawler.errors import Unavailable
from sandcrawler.stack import process
from sandcrawler.stack.base import Command, Stop
from sandcrawler.stack.process import Running

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(300)"
POLITE = "import time; print('up', flush=True); time.sleep(300)"


def python(code: str) -> Command:
    return Command((sys.executable, "-c", code))


def started(code: str, folder: Path) -> Running:
    log = folder / "program.log"
    running = process.spawn(python(code), folder, log)
    limit = time.monotonic() + 60
    while b"up" not in log.read_bytes():
        assert time.monotonic() < limit
        time.sleep(0.02)
    return running


def test_runs_in_a_session_of_its_own_and_logs(tmp_path: Path) -> None:
    running = started(POLITE, tmp_path)
    assert process.find(running)
    assert os.getsid(running.pid) == running.pid
    assert process.stop(running, Stop(seconds=60))
    assert process.find(running) is None


def test_kills_what_does_not_listen(tmp_path: Path) -> None:
    running = started(DEAF, tmp_path)
    assert not process.stop(running, Stop(seconds=0.2))
    assert process.find(running) is None


def test_sends_the_signal_that_was_asked_for(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGINT, lambda *_: print('asked', flush=True) or exit()); "
    running = started(code + POLITE, tmp_path)
    assert process.stop(running, Stop(signal.SIGINT, 60))
    assert b"asked" in (tmp_path / "program.log").read_bytes()


def test_a_number_given_out_again_is_a_stranger(tmp_path: Path) -> None:
    stranger = started(POLITE, tmp_path)
    ours = Running(stranger.pid, stranger.started - 3600)
    try:
        assert process.find(ours) is None
        assert process.stop(ours, Stop(seconds=0.1))
        assert psutil.pid_exists(stranger.pid), "a stranger was stopped"
        assert process.find(stranger)
    finally:
        process.stop(stranger, Stop(seconds=60))


def test_the_dead_are_not_running(tmp_path: Path) -> None:
    running = process.spawn(python("pass"), tmp_path, tmp_path / "log")
    limit = time.monotonic() + 60
    while process.find(running):  # a zombie until it is waited for
        assert time.monotonic() < limit
        time.sleep(0.02)
    assert process.stop(running, Stop())


def test_only_named_variables_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDATA", "/elsewhere")
    monkeypatch.setenv("WEED_MASTER_PORT", "1")
    monkeypatch.setenv("SANDCRAWLER_S3_SECRET_KEY", "secret")
    seen = process.environment(Command(("true",), {"OWN": "1"}))
    assert seen["OWN"] == "1"
    assert not {"PGDATA", "WEED_MASTER_PORT", "SANDCRAWLER_S3_SECRET_KEY"} & set(seen)


def test_a_failed_program_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"failed \(3\)(.|\n)*no room here"):
        process.run(python("import sys; print('no room here'); sys.exit(3)"), tmp_path)


def test_tail_is_short_and_survives_any_bytes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\n" * 10_000 + b"\xff" * 5000 + b"\nlast\n")
    lines = list(process.tail(log, 3))
    assert [len(line) for line in lines] == [5, 300, 4]
    assert list(process.tail(tmp_path / "none")) == []


def test_a_long_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOG_BYTES", 100)
    log = tmp_path / "program.log"
    log.write_bytes(b"x" * 101)
    running = started(POLITE, tmp_path)
    process.stop(running, Stop(seconds=60))
    assert (tmp_path / "program.old.log").stat().st_size == 101
    assert log.read_bytes() == b"up\n"
