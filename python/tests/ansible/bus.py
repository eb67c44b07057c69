"""The host's system bus, without which systemd-nspawn starts nothing: one that runs, or one for the time of a block."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.ansible.base import UnfitError

SOCKET = Path("/run/dbus/system_bus_socket")


@contextmanager
def system_bus() -> Iterator[None]:
    """A bus that answers until the block ends. UnfitError where none can be started."""
    started = None if _answers() else _start()
    try:
        yield
    finally:
        if started:
            with suppress(ProcessLookupError):
                os.kill(started, signal.SIGTERM)
            # A pid file that is left would keep the next one from starting.
            Path("/run/dbus/pid").unlink(missing_ok=True)


def _answers() -> bool:
    with socket.socket(socket.AF_UNIX) as bus:
        try:
            bus.connect(str(SOCKET))
        except OSError:
            return False
    return True


def _start() -> int:
    """Its pid, once it listens."""
    SOCKET.parent.mkdir(parents=True, exist_ok=True)
    Path("/run/dbus/pid").unlink(missing_ok=True)
    done = subprocess.run(
        ["dbus-daemon", "--system", "--fork", "--print-pid"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UnfitError(f"no system bus: {done.stderr.strip()}")
    return int(done.stdout)
