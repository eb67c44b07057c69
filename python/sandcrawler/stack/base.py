"""What the local stack knows of a server, and nothing of any one of them.

A `Server` says how its data is prepared, which command runs it, when it is healthy and under which settings it is
reached; `local` starts, watches and stops whatever keeps this interface: `kafka`, `postgres` and `seaweedfs`. All three
listen on 127.0.0.1 only, and write nowhere but in their `Place`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM, Signals
from typing import Protocol

LOOPBACK = "127.0.0.1"

# Called with a server's name and what it is doing now, for the person who waits.
Report = Callable[[str, str], None]


@dataclass(frozen=True)
class Place:
    """Where one server of one stack lives."""

    data: Path  # its own folder, which is there
    log: Path
    ports: Mapping[str, int]  # by purpose
    secret: str  # random, made once for this place


@dataclass(frozen=True)
class Account:
    """A user of the machine under whom a server runs."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Command:
    """A program to run until it is stopped."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None  # None: the account that we run under


@dataclass(frozen=True)
class Stop:
    """How a server is asked to stop, and how many seconds it has before it is killed."""

    signal: Signals = SIGTERM
    seconds: float = 30.0


class Server(Protocol):
    """One of the stack's servers."""

    @property
    def name(self) -> str:
        """One word: the folder, the log and the line of `ps`."""

    @property
    def title(self) -> str:
        """Its name and version for people."""

    @property
    def setting(self) -> str:
        """The setting that names the user's own server instead of this one."""

    @property
    def ports(self) -> tuple[str, ...]:
        """What it needs ports for."""

    @property
    def stop(self) -> Stop:
        """How it wants to be stopped."""

    def prepare(self, place: Place, report: Report) -> None:
        """Bring the programs and the data folder into being; safe to repeat, and after a break at any point."""

    def command(self, place: Place) -> Command:
        """What runs it."""

    def healthy(self, place: Place) -> bool:
        """Whether it can do its work now; takes at most a few seconds and never raises for a server not yet up."""

    def leftovers(self, place: Place) -> tuple[Path, ...]:
        """Files outside its place that may be left when it stops."""

    def settings(self, place: Place) -> dict[str, str]:
        """Fields of `Config` under which it is reached; the one named by `setting` comes first."""
