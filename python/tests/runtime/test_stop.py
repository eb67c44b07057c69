"""The first signal asks, the second one ends."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import time
from sandcrawler.runtime import stop_on_signals
stop = stop_on_signals()
print("ready", flush=True)
stop.wait(120)
print(stop.signal, flush=True)
time.sleep({rest})
"""


def start(rest: float) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", PROGRAM.format(rest=rest)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_only_sets_the_flag_and_says_which(number: signal.Signals) -> None:
    process = start(rest=0)
    process.send_signal(number)
    assert process.communicate(timeout=60)[0] == f"{number.value}\n"
    assert process.returncode == 0


def test_the_second_signal_ends_the_process() -> None:
    process = start(rest=600)
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    assert process.stdout.readline() == "15\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
