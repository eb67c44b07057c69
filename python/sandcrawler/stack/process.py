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

from sandcrawler.errors import Unavailable
from sandcrawler.stack.base import Account, Command, Stop

# The start time is computed from the clock of the machine, which may be set while the process runs: a small
# difference is the same process.
CLOCK_SECONDS = 2.0

LOG_BYTES = 10 << 20  # a longer log is put aside when its server starts

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
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".old.log"))
    with log.open("ab") as output:
        process = subprocess.Popen(
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
        if process.status() != psutil.STATUS_ZOMBIE:
            return process
        process.wait(0)  # dead; if it was our child, its number is free from now on
    except (psutil.NoSuchProcess, psutil.TimeoutExpired):
        pass
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


def run(command: Command, directory: Path) -> None:
    """Run a short program to its end. Unavailable: it failed; the text has the end of what it printed."""
    account = command.account
    what = Path(command.argv[0]).name
    try:
        _run(command, directory, account)
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{what} failed ({error.returncode}):\n{error.stdout[-2000:]}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} took more than {error.timeout:.0f} s") from error


def _run(command: Command, directory: Path, account: Account | None) -> None:
    subprocess.run(
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
