"""The local stack: servers side by side in one folder, started together, watched until they can work, stopped in order.

    up: lock the folder ─► each server at the same time: ports free ─► prepare ─► spawn ─► healthy ─► stack.toml

One folder is one stack; two folders are two stacks. Whoever begins a server that does not come up stops what it began.
"""

import errno
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from sandcrawler.config import Config, data_dir, load
from sandcrawler.errors import Unavailable
from sandcrawler.stack import ports, process, state
from sandcrawler.stack.base import Place, Report, Server
from sandcrawler.stack.kafka import Kafka
from sandcrawler.stack.postgres import Postgres
from sandcrawler.stack.process import Running
from sandcrawler.stack.seaweedfs import SeaweedFS

HEALTHY_SECONDS = 60.0
LOCK_SECONDS = 300.0


@dataclass(frozen=True)
class Addresses:
    """Fields of `Config` under which a stack is reached."""

    kafka_brokers: str
    postgres_url: str
    s3_url: str
    s3_access_key: str
    s3_secret_key: str


@dataclass(frozen=True)
class Row:
    """One server as `ps` shows it. `state` is running, starting, stopped or external."""

    name: str
    state: str
    pid: int | None
    address: str | None


def silent(_server: str, _text: str) -> None:
    """A report to nobody."""


def servers(config: Config) -> tuple[Server, ...]:
    """The stack's servers."""
    return Kafka(), Postgres(), SeaweedFS(config.s3_access_key, config.s3_secret_key.get_secret_value())


def up(config: Config | None = None, directory: Path | None = None, report: Report = silent) -> Addresses:
    """Start what is not running yet, and wait until all can work. Safe to repeat.

    A server whose address the settings name (environment or settings file) is the user's own and is not started.
    Unavailable says which server did not come up, and why; then nothing that was begun here is left running.
    """
    return _up(config or load(), directory or data_dir(), report)[0]


def down(directory: Path | None = None, report: Report = silent) -> list[str]:
    """Stop a stack in order; the names of the servers that were stopped. Data stay."""
    directory = directory or data_dir()
    if not (directory / state.STATE).exists():
        return []
    with _locked(directory, report):
        known = state.load(directory)
        return _stop(directory, known, [name for name, entry in known.servers.items() if entry.running], report)


def ps(config: Config | None = None, directory: Path | None = None) -> list[Row]:
    """Every server of a stack, whether it runs or not."""
    config, directory = config or load(), directory or data_dir()
    known, external, rows = state.load(directory), _external(config), []
    for server in servers(config):
        entry = known.servers.get(server.name)
        running = entry.running if entry else None
        if server.name in external:
            rows.append(Row(server.name, "external", None, external[server.name]))
        elif entry is None or running is None:
            rows.append(Row(server.name, "stopped", None, None))
        else:
            able = server.healthy(state.place(directory, server, entry))
            rows.append(
                Row(server.name, "running" if able else "starting", running.pid, entry.settings[server.setting])
            )
    return rows


@contextmanager
def running(
    directory: Path | None = None, config: Config | None = None, report: Report = silent
) -> Iterator[Addresses]:
    """A stack for the length of a `with` block: what is begun here is stopped after it.

    Without a directory the data live in a temporary folder and go with it. A stack that runs already is left running.
    """
    with _folder(directory) as place:
        addresses, begun = _up(config or load(), place, report)
        try:
            yield addresses
        finally:
            with _locked(place, report):
                _stop(place, state.load(place), begun, report)


@contextmanager
def _folder(directory: Path | None) -> Iterator[Path]:
    if directory is not None:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="sandcrawler-stack-") as name:
        yield Path(name)


def _up(config: Config, directory: Path, report: Report) -> tuple[Addresses, list[str]]:
    """The addresses, and the names of the servers that were begun by this call."""
    _make(directory)
    external = _external(config)
    ours = [server for server in servers(config) if server.name not in external]
    with _locked(directory, report):
        start = _Start(directory, report)
        begun = start.all(ours)
        settings = [start.known.servers[server.name].settings for server in ours]
        state.publish(directory, settings)
    merged = {name: value for part in settings for name, value in part.items()}
    own = {"kafka_brokers": config.kafka_brokers, "postgres_url": config.postgres_url, "s3_url": config.s3_url}
    keys = {"s3_access_key": config.s3_access_key, "s3_secret_key": config.s3_secret_key.get_secret_value()}
    return Addresses(**{name: merged.get(name) or value or "" for name, value in (own | keys).items()}), begun


class _Start:
    """One start of a folder's servers, each in a thread. What it began it can stop again."""

    def __init__(self, directory: Path, report: Report) -> None:
        self.directory, self.report = directory, report
        self.known = state.load(directory)
        self.begun: list[str] = []
        self._lock = threading.Lock()
        self._broken = threading.Event()

    def all(self, ours: list[Server]) -> list[str]:
        """Start them; the names of those that did not run before."""
        for server in ours:
            self.known.entry(server)
        state.save(self.directory, self.known)
        try:
            with ThreadPoolExecutor(len(ours) or 1) as pool:
                try:
                    waiting = [pool.submit(self._one, server) for server in ours]
                    wait(waiting, return_when=FIRST_EXCEPTION)
                finally:
                    self._broken.set()  # for those that still wait, when another failed or Ctrl-C came
            for future in sorted(waiting, key=lambda future: isinstance(future.exception(), _Broken)):
                future.result()
        except BaseException:
            _stop(self.directory, self.known, self.begun, self.report)
            raise
        return self.begun

    def _one(self, server: Server) -> None:
        entry = self.known.servers[server.name]
        place = state.place(self.directory, server, entry)
        place.data.mkdir(exist_ok=True, mode=0o700)
        began = time.monotonic()
        try:
            if entry.running:
                self._wait(server, place, entry.running)
                self.report(server.name, "already running")
            else:
                self._begin(server, place)
                self.report(server.name, f"ready after {time.monotonic() - began:.1f} s")
        except OSError as error:
            raise Unavailable(f"{server.title}: {_explain(error, self.directory)}") from error

    def _begin(self, server: Server, place: Place) -> None:
        for purpose, port in place.ports.items():
            if not ports.free(port):
                raise Unavailable(
                    f"{server.title}: its port {port} ({purpose}) is taken by {ports.holder(port)}: "
                    f"stop that, or use another --dir"
                )
        server.prepare(place, self._say)
        with self._lock:
            if self._broken.is_set():
                raise _Broken
            self.report(server.name, "starting")
            started = process.spawn(server.command(place), place.data, place.log)
            entry = self.known.servers[server.name]
            entry.pid, entry.started, entry.settings = started.pid, started.started, server.settings(place)
            self.begun.append(server.name)
            state.save(self.directory, self.known)
        self._wait(server, place, started)

    def _say(self, server: str, text: str) -> None:
        """Report; a long preparation ends here when another server failed or Ctrl-C came."""
        if self._broken.is_set():
            raise _Broken
        self.report(server, text)

    def _wait(self, server: Server, place: Place, started: Running) -> None:
        limit = time.monotonic() + HEALTHY_SECONDS
        while not server.healthy(place):
            if self._broken.is_set():
                raise _Broken
            if process.find(started) is None:
                raise Unavailable(f"{server.title} stopped while starting.{_last_words(place.log)}")
            if time.monotonic() > limit:
                raise Unavailable(f"{server.title} is not ready after {HEALTHY_SECONDS:.0f} s.{_last_words(place.log)}")
            time.sleep(0.1)


class _Broken(Exception):
    """Another server failed, so this one is not waited for."""


def _stop(directory: Path, known: state.State, names: list[str], report: Report) -> list[str]:
    """Stop servers side by side, then take the addresses away."""
    kinds = {server.name: server for server in servers(load())}

    def one(name: str) -> None:
        entry = known.servers[name]
        if started := entry.running:
            report(name, "stopping")
            process.stop(started, kinds[name].stop)
            for path in kinds[name].leftovers(state.place(directory, kinds[name], entry)):
                path.unlink(missing_ok=True)
            report(name, "stopped")
        entry.pid = entry.started = None

    with ThreadPoolExecutor(len(names) or 1) as pool:
        list(pool.map(one, names))
    state.save(directory, known)
    if not any(entry.running for entry in known.servers.values()):
        state.withdraw(directory)
    return names


def _external(config: Config) -> dict[str, str]:
    """Servers of the user's own, by the name of ours: the settings name their address, and not because of a stack."""
    stacks = state.addresses(data_dir())
    named = {server.name: (getattr(config, server.setting), stacks.get(server.setting)) for server in servers(config)}
    return {name: address for name, (address, stack) in named.items() if address and address != stack}


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (directory / "logs").mkdir(exist_ok=True)
    except OSError as error:
        raise Unavailable(_explain(error, directory)) from error


@contextmanager
def _locked(directory: Path, report: Report) -> Iterator[None]:
    """Only one command works on a folder at a time; a second one waits for it."""
    lock = FileLock(directory / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        report("stack", f"another command is at work in {directory}: waiting for it")
        try:
            lock.acquire(timeout=LOCK_SECONDS)
        except Timeout as error:
            raise Unavailable(f"another command has been at work in {directory} for {LOCK_SECONDS:.0f} s") from error
    try:
        yield
    finally:
        lock.release()


def _explain(error: OSError, directory: Path) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"the disk is full: {_megabytes(directory)} MB are free for {error.filename or directory}"
    return str(error)


def _megabytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free // 1_000_000


def _last_words(log: Path) -> str:
    lines = list(process.tail(log))
    full = any("No space left on device" in line for line in lines)
    return (" The disk is full." if full else "") + f" The end of {log}:\n  " + "\n  ".join(lines)
