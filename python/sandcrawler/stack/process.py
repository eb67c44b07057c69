"""Programs that outlive the command which starts them, and that are never mistaken for another.

A process is known by its number *and* its start time: the system gives numbers out again, and ours must never signal a
stranger. Servers run in sessions of their own, so that Ctrl-C or a closed terminal does not reach them.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from sandcrawler.stack.base import Command, Stop

# The start time is computed from the clock of the machine, which may be set while the process runs: a small
# difference is the same process.
CLOCK_SECONDS = 2.0

# A server sees these variables of ours and no others: a stray WEED_… or PG… must not change the stack.
INHERITED = ("PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE")


@dataclass(frozen=True)
class Running:
    """A process that was started: its number and its start time (seconds since 1970)."""

    pid: int
    started: float


def environment(command: Command) -> dict[str, str]:
    """The variables that a command sees."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(command.env)


def spawn(command: Command, directory: Path, log: Path) -> Running:
    """Start a program in the background; its output is added to `log`. OSError: it could not be started."""
    account = command.account
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603  (an argument list of our own making)
            command.argv,
            cwd=directory,
            env=environment(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    try:
        started = psutil.Process(process.pid).create_time()
    except psutil.NoSuchProcess:
        started = time.time()
    process.returncode = 0  # it is no longer this object's business, which would warn when it goes
    return Running(process.pid, started)


def find(running: Running) -> psutil.Process | None:
    """The process, if it still runs and is the one that was started."""
    try:
        process = psutil.Process(running.pid)
        if abs(process.create_time() - running.started) > CLOCK_SECONDS:
            return None
        return None if process.status() == psutil.STATUS_ZOMBIE else process
    except psutil.NoSuchProcess:
        return None


def stop(running: Running, how: Stop) -> bool:
    """Ask it to stop, wait, and kill it in the end. False: it had to be killed. Nothing is done to a stranger."""
    process = find(running)
    if process is None:
        return True
    try:
        process.send_signal(how.signal)
        process.wait(how.seconds)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return _kill(process)
    return True


def _kill(process: psutil.Process) -> bool:
    try:
        process.kill()  # psutil looks at the start time once more
        process.wait(10)
    except psutil.NoSuchProcess:
        pass
    return False


def run(command: Command, directory: Path) -> str:
    """Run a short program to its end; what it printed. CalledProcessError has its output."""
    account = command.account
    done = subprocess.run(  # noqa: S603
        command.argv,
        cwd=directory,
        env=environment(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=True,
        start_new_session=True,  # Ctrl-C is ours to handle
        timeout=120,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    return done.stdout


def tail(log: Path, lines: int = 12) -> Iterator[str]:
    """The last lines of a log, each cut to a readable length."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 16384))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines()[-lines:]:
        yield line[:300]
