"""Extraction children against what happens to a worker: signals to its whole group, and its own sudden end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]


@contextmanager
def lone_worker(step: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A worker whose children are busy, in a process group of its own, and all its descendants."""
    program = [sys.executable, "-m", "tests.ingest.lone_worker", step]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        family = psutil.Process(worker.pid).children(recursive=True)
        try:
            yield worker, family
        finally:
            worker.kill()
            for one in family:
                with suppress(psutil.NoSuchProcess):
                    one.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_group_is_for_the_worker_alone(number: signal.Signals) -> None:
    with lone_worker("slow") as (worker, _):
        os.killpg(worker.pid, number)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "success success\n"
        assert worker.wait(60) == 0


@pytest.mark.parametrize("step", ["hang", "hang_in_c"])
def test_nobody_outlives_a_worker_that_is_killed(step: str) -> None:
    with lone_worker(step) as (worker, family):
        assert len(family) >= 4, "the resource tracker, the fork server, two children"
        worker.kill()
        end = time.monotonic() + 60
        while (left := [one for one in family if _lives(one)]) and time.monotonic() < end:
            time.sleep(0.1)
        assert not left


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
