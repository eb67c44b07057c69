"""The local stack: servers side by side in one folder, started together and stopped in order.

One folder is one stack, and two folders are two stacks. Only one command works on a folder at a time. A server whose
address the settings name (environment or settings file) is the user's own: it is used, and never started or stopped.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from sandcrawler.config import Config, data_dir, load
from sandcrawler.errors import Unavailable
from sandcrawler.stack import state
from sandcrawler.stack.base import Report, Server
from sandcrawler.stack.kafka import Kafka
from sandcrawler.stack.postgres import Postgres
from sandcrawler.stack.seaweedfs import SeaweedFS
from sandcrawler.stack.start import Start, explain, stop

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
    """Start what does not run yet, and wait until all can work. Safe to repeat.

    Without a directory the stack lives in `config.data_dir()`. Unavailable says which server did not come up, and why;
    then nothing that was begun here is left running.
    """
    return _up(config or load(), directory or data_dir(), report)[0]


def down(directory: Path | None = None, report: Report = silent) -> list[str]:
    """Stop a stack in order; the names of the servers that were stopped. Data and ports stay."""
    directory = directory or data_dir()
    if not (directory / state.STATE).exists():
        return []
    with _locked(directory, report):
        known = state.load(directory)
        return stop(directory, known, servers(load()), list(known.servers), report)


def ps(config: Config | None = None, directory: Path | None = None) -> list[Row]:
    """Every server of a stack, whether it runs or not."""
    config, directory = config or load(), directory or data_dir()
    known, external = state.load(directory), _external(config)
    return [_row(server, known.servers.get(server.name), external, directory) for server in servers(config)]


@contextmanager
def running(
    directory: Path | None = None, config: Config | None = None, report: Report = silent
) -> Iterator[Addresses]:
    """A stack for the length of a `with` block: what is begun here is stopped after it.

    Without a directory the data live in a temporary folder and go with it. A stack that runs already is left running.
    """
    config = config or load()
    with _folder(directory) as place:
        addresses, begun = _up(config, place, report)
        try:
            yield addresses
        finally:
            if begun:
                with _locked(place, report):
                    stop(place, state.load(place), servers(config), begun, report)


def _up(config: Config, directory: Path, report: Report) -> tuple[Addresses, list[str]]:
    """The addresses, and the names of the servers that were begun by this call."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (directory / "logs").mkdir(exist_ok=True)
    except OSError as error:
        raise Unavailable(explain(error, directory)) from error
    external = _external(config)
    ours = [server for server in servers(config) if server.name not in external]
    with _locked(directory, report):
        start = Start(directory, ours, report)
        start.all()
        found = {k: v for server in ours for k, v in start.known.servers[server.name].settings.items()}
        state.publish(directory, found)
    given = {
        "kafka_brokers": config.kafka_brokers or "",
        "postgres_url": config.postgres_url or "",
        "s3_url": config.s3_url or "",
        "s3_access_key": config.s3_access_key,
        "s3_secret_key": config.s3_secret_key.get_secret_value(),
    }
    return Addresses(**(given | found)), start.begun


def _row(server: Server, entry: state.Entry | None, external: dict[str, str], directory: Path) -> Row:
    if server.name in external:
        return Row(server.name, "external", None, external[server.name])
    running = entry.running if entry else None
    if entry is None or running is None:
        return Row(server.name, "stopped", None, None)
    able = server.healthy(state.place(directory, server, entry))
    return Row(server.name, "running" if able else "starting", running.pid, entry.settings[server.setting])


def _external(config: Config) -> dict[str, str]:
    """Servers of the user's own, by the name of ours: the settings name their address, and not because of a stack."""
    stack = state.addresses(data_dir())
    named = {server.name: (getattr(config, server.setting), stack.get(server.setting)) for server in servers(config)}
    return {name: address for name, (address, ours) in named.items() if address and address != ours}


@contextmanager
def _folder(directory: Path | None) -> Iterator[Path]:
    if directory is not None:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="sandcrawler-stack-") as name:
        yield Path(name)


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
