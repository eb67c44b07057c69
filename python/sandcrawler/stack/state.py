"""What a stack's folder remembers: ports, secrets and processes in `servers.json`, addresses in `stack.toml`.

`servers.json` outlives the servers, so that the next start finds the same ports. `stack.toml` is there while the stack
runs, for `config` to read. Both are written whole or not at all, and only their owner may read them.

    DIR/servers.json   DIR/stack.toml   DIR/lock   DIR/logs/NAME.log   DIR/NAME/ (data)
"""

import os
import secrets
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w
from pydantic import BaseModel, Field, ValidationError

from sandcrawler.errors import ConfigurationError
from sandcrawler.stack.base import Place, Server
from sandcrawler.stack.ports import choose
from sandcrawler.stack.process import Running, find

STATE = "servers.json"
ADDRESSES = "stack.toml"


class Entry(BaseModel):
    """One server of the stack. `settings` are fields of `Config`."""

    ports: dict[str, int]
    secret: str = Field(default_factory=lambda: secrets.token_urlsafe(24))
    pid: int | None = None
    started: float | None = None
    settings: dict[str, str] = {}

    @property
    def running(self) -> Running | None:
        """The process that was started for it, if it still runs."""
        if self.pid is None or self.started is None:
            return None
        running = Running(self.pid, self.started)
        return running if find(running) else None


class State(BaseModel):
    """All that is remembered of a stack."""

    servers: dict[str, Entry] = {}

    def entry(self, server: Server) -> Entry:
        """What is known of a server; ports are chosen on first sight."""
        known = self.servers.get(server.name)
        if known is None or set(known.ports) != set(server.ports):
            used = {port for entry in self.servers.values() for port in entry.ports.values()}
            ports = dict(zip(server.ports, choose(len(server.ports), used), strict=True))
            known = Entry(ports=ports) if known is None else known.model_copy(update={"ports": ports})
            self.servers[server.name] = known
        return known


def place(directory: Path, server: Server, entry: Entry) -> Place:
    """Where a server lives in a stack's folder."""
    return Place(directory / server.name, directory / "logs" / f"{server.name}.log", entry.ports, entry.secret)


def load(directory: Path) -> State:
    """The state of a stack; an empty one for a folder that never had a stack."""
    path = directory / STATE
    try:
        return State.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return State()
    except ValidationError as error:
        raise ConfigurationError(f"{path} is damaged ({error.error_count()} errors): move it away") from error


def save(directory: Path, state: State) -> None:
    """Remember a state."""
    write(directory / STATE, state.model_dump_json(indent=2).encode())


def publish(directory: Path, settings: Mapping[str, str]) -> None:
    """Write the addresses for `config` to read."""
    head = b"# Addresses of the running local stack. Written by `sandcrawler up`, removed by `sandcrawler down`.\n"
    write(directory / ADDRESSES, head + tomli_w.dumps(dict(settings)).encode())


def addresses(directory: Path) -> dict[str, str]:
    """The addresses that a running stack has published; empty without one."""
    try:
        return dict(tomllib.loads((directory / ADDRESSES).read_text("utf-8")))
    except FileNotFoundError:
        return {}


def withdraw(directory: Path) -> None:
    """Take the addresses away: nothing answers there any more."""
    (directory / ADDRESSES).unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Write a private file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
