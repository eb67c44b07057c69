"""One start of a stack: every server in a thread of its own, from free ports to the first healthy answer.

    ports free ─► prepare (download, format) ─► spawn ─► remembered ─► healthy

When one fails, or Ctrl-C comes, the others stop waiting, and all that was begun here is stopped again.
"""

import errno
import shutil
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from sandcrawler.config import MIB
from sandcrawler.errors import Unavailable
from sandcrawler.stack import ports, process, state
from sandcrawler.stack.base import Place, Report, Server
from sandcrawler.stack.process import Running

# Kafka reads its whole log again after a crash.
HEALTHY_SECONDS = 120.0
# A server that was killed a moment ago may still be letting go of its ports.
PORT_SECONDS = 3.0
ROOM_BYTES = 500 * MIB


class Abandoned(Exception):
    """Another server failed, so this one is not waited for."""


class Start:
    """One start. `begun` has the names of the servers that did not run before, in the order they came."""

    def __init__(self, directory: Path, servers: Sequence[Server], report: Report) -> None:
        self.directory, self.servers, self.report = directory, servers, report
        self.known = state.load(directory)
        self.begun: list[str] = []
        self._lock = threading.Lock()
        self._broken = threading.Event()

    def all(self) -> None:
        """Start them all. Unavailable says which did not come up, and why."""
        try:
            for server in self.servers:
                self.known.entry(server)
            state.save(self.directory, self.known)
            self._together()
        except BaseException as error:
            stop(self.directory, self.known, self.servers, self.begun, self.report)
            if isinstance(error, OSError):
                raise Unavailable(explain(error, self.directory)) from error
            raise

    def _together(self) -> None:
        with ThreadPoolExecutor(max(1, len(self.servers))) as pool:
            try:
                waiting = [pool.submit(self._one, server) for server in self.servers]
                wait(waiting, return_when=FIRST_EXCEPTION)
            finally:
                self._broken.set()
        for future in sorted(waiting, key=lambda future: isinstance(future.exception(), Abandoned)):
            future.result()

    def _one(self, server: Server) -> None:
        entry = self.known.servers[server.name]
        place = state.place(self.directory, server, entry)
        began = time.monotonic()
        running = entry.running
        if running is None:
            self._begin(server, place)
            self.report(server.name, f"ready after {time.monotonic() - began:.1f} s")
            return
        if entry.settings != server.settings(place):
            raise Unavailable(f"{server.title} runs with other settings than those asked for: `sandcrawler down` first")
        self._wait(server, place, running)
        self.report(server.name, "already running")

    def _begin(self, server: Server, place: Place) -> None:
        limit = time.monotonic() + PORT_SECONDS
        for purpose, port in place.ports.items():
            while not (free := ports.free(port)) and time.monotonic() < limit:
                time.sleep(0.1)
            if not free:
                raise Unavailable(
                    f"{server.title}: its port {port} ({purpose}) is taken by {ports.holder(port)}: "
                    f"stop that, or use another --dir"
                )
        if (room := shutil.disk_usage(self.directory).free) < ROOM_BYTES:
            raise Unavailable(f"{server.title}: {room // MIB} MiB are free in {self.directory}, too few: make room")
        place.data.mkdir(exist_ok=True, mode=0o700)
        server.prepare(place, self._say)
        with self._lock:
            if self._broken.is_set():
                raise Abandoned
            self.report(server.name, "starting")
            started = process.spawn(server.command(place), place.data, place.log)
            self.begun.append(server.name)
            entry = self.known.servers[server.name]
            entry.pid, entry.started, entry.settings = started.pid, started.started, server.settings(place)
            state.save(self.directory, self.known)
        self._wait(server, place, started)

    def _say(self, server: str, text: str) -> None:
        """Report; a long preparation ends here when another server failed or Ctrl-C came."""
        if self._broken.is_set():
            raise Abandoned
        self.report(server, text)

    def _wait(self, server: Server, place: Place, started: Running) -> None:
        limit = time.monotonic() + HEALTHY_SECONDS
        while not server.healthy(place):
            if self._broken.is_set():
                raise Abandoned
            if process.find(started) is None:
                raise Unavailable(f"{server.title} stopped while starting.{last_words(place.log)}")
            if time.monotonic() > limit:
                raise Unavailable(f"{server.title} is not ready after {HEALTHY_SECONDS:.0f} s.{last_words(place.log)}")
            time.sleep(0.1)


def stop(
    directory: Path, known: state.State, servers: Sequence[Server], names: Sequence[str], report: Report
) -> list[str]:
    """Stop the named servers side by side, and take the addresses away with the last; the names of those that ran."""

    def one(server: Server) -> str | None:
        entry = known.servers[server.name]
        started = entry.running
        if started is not None:
            report(server.name, "stopping")
            process.stop(started, server.stop)
            for path in server.leftovers(state.place(directory, server, entry)):
                path.unlink(missing_ok=True)
            report(server.name, "stopped")
        entry.pid = entry.started = None
        return server.name if started else None

    with ThreadPoolExecutor(max(1, len(servers))) as pool:
        stopped = list(pool.map(one, [server for server in servers if server.name in names]))
    if not any(entry.running for entry in known.servers.values()):
        state.withdraw(directory)
    state.save(directory, known)
    return [name for name in stopped if name]


def explain(error: OSError, directory: Path) -> str:
    """What the system refused, in the user's terms."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"the disk is full: {shutil.disk_usage(directory).free // MIB} MiB are free in {directory}"
    return str(error)


def last_words(log: Path) -> str:
    """The end of a log, for an error text."""
    lines = list(process.tail(log))
    full = " The disk is full." if any("No space left on device" in line for line in lines) else ""
    return f"{full} The end of {log}:\n  " + "\n  ".join(lines)
