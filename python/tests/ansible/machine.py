"""A booted Debian machine: `with booted(folder) as machine: machine.run("systemctl", "is-system-running")`.

It is a copy of the base tree under `systemd-nspawn -b`, with the host's network and a key made for the run. It has
control groups of its own, since two machines in one would take each other's services for theirs. `close` leaves
nothing behind; when this process is killed, the kernel tells nspawn (pdeathsig), and the next run removes the tree.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from sandcrawler.stack.ports import choose
from tests.ansible.base import UnfitError, cache, cgroups, check_host, plant
from tests.ansible.bus import system_bus

CERTIFICATES = Path("/usr/local/share/ca-certificates")
# Where the machine has what earlier ones downloaded. pip's cache may be shared; apt's has one user, so it is copied.
PIP_CACHE, APT_CACHE = Path("/var/cache/pip"), Path("/var/cache/apt/archives")
# Enter the control groups, and become the command.
JOIN = 'for each in $1; do echo $$ > "$each/cgroup.procs"; done; shift; exec "$@"'
BOOT_SECONDS = 60.0
STOP_SECONDS = 30.0
# nspawn's exit code when its machine rebooted and a manager (here: we) should start it again.
REBOOTED = 133
# pip's settings of this host that say where packages come from.
PIP_INDEX = ("INDEX_URL", "EXTRA_INDEX_URL", "TRUSTED_HOST")


class Machine:
    """One machine. `folder` is the run's own, for keys and the console's log; `port` is that of its sshd."""

    def __init__(self, folder: Path, name: str = "crawler") -> None:
        self.name, self.folder, self.port = name, folder, choose(1, set())[0]
        self._key, self._known = folder / "key", folder / "known_hosts"
        _sweep()
        self.tree = Path(tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=cache())) / "tree"
        self._groups = [root / f"machine-{self.tree.parent.name}" for root in cgroups()]
        self._nspawn: subprocess.Popen[bytes] | None = None

    def boot(self) -> None:
        """Start it and wait until systemd has started all. UnfitError where this host cannot."""
        for group in self._groups:
            group.mkdir(exist_ok=True)
        log = (self.folder / "console.log").open("ab")
        with log:
            self._nspawn = subprocess.Popen(
                [
                    *("setpriv", "--pdeathsig", "TERM"),
                    *("sh", "-c", JOIN, "join", " ".join(map(str, self._groups))),
                    *("systemd-nspawn", "-b", "--register=no", "--keep-unit", "-D", str(self.tree)),
                    *(f"--machine={self.name}", "--resolv-conf=copy-host", f"--bind={cache() / 'pip'}:{PIP_CACHE}"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        patience = time.monotonic() + BOOT_SECONDS
        while (state := self.state()) not in {"running", "degraded"}:
            if self._nspawn.poll() is not None or time.monotonic() > patience:
                console = (self.folder / "console.log").read_text("utf-8", "replace")
                raise UnfitError(f"systemd-nspawn: {state}\n{console[-2000:]}")
            time.sleep(0.2)
        if state == "degraded":
            print(self.run("systemctl", "--failed", "--no-legend").stdout)

    def state(self) -> str:
        """What systemd says of itself, or ssh of its absence."""
        done = self.run("systemctl", "is-system-running", check=False)
        return (done.stdout or done.stderr).strip()

    def run(self, *argv: str, check: bool = True, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """A command on the machine, as root, by ssh. `check`: AssertionError with its output if it fails."""
        command = ["ssh", "-T", *self.options, "-p", str(self.port), "root@127.0.0.1", shlex.join(argv)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, input=text or "")
        assert not check or not done.returncode, f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    @property
    def options(self) -> list[str]:
        """ssh's options: this run's key and nothing of the user's own."""
        pairs = {
            "IdentityFile": self._key,
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": self._known,
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "ConnectTimeout": 5,
            "LogLevel": "ERROR",
        }
        return ["-F", "none", *(part for key, value in pairs.items() for part in ("-o", f"{key}={value}"))]

    def variables(self) -> dict[str, Any]:
        """The machine's entry in an inventory."""
        return {
            "ansible_host": "127.0.0.1",
            "ansible_port": self.port,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self._key),
            "ansible_ssh_common_args": shlex.join(self.options),
        }

    def journal(self, *options: str) -> str:
        """What its services said; also when it is down."""
        command = ["journalctl", f"--directory={self.tree}/var/log/journal", "--no-pager", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def reboot(self) -> None:
        """Down in order, and up again."""
        assert self._nspawn, "it was never booted"
        self.run("systemctl", "reboot", check=False)
        assert self._nspawn.wait(STOP_SECONDS * 3) == REBOOTED
        self.boot()

    def close(self) -> None:
        """Power off, or kill what does not end; remove the tree."""
        if self._nspawn and self._nspawn.poll() is None:
            self._nspawn.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._nspawn.wait(STOP_SECONDS)
        for group in self._groups:
            _end(group)
        if self._nspawn:
            self._nspawn.wait()
        _link(self.tree / str(APT_CACHE).lstrip("/"), cache() / "apt")
        shutil.rmtree(self.tree.parent)

    def prepare(self) -> None:
        """Copy the base tree, and add what is this machine's own."""
        plant(self.tree)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key)], check=True)
        subprocess.run(["ssh-keygen", "-q", "-A", "-f", str(self.tree)], check=True)
        host_key = (self.tree / "etc/ssh/ssh_host_ed25519_key.pub").read_text()
        self._known.write_text(f"[127.0.0.1]:{self.port} {host_key}")
        sshd = f"Port {self.port}\nListenAddress 127.0.0.1\nPasswordAuthentication no\n"
        files = {
            "etc/ssh/sshd_config.d/machine.conf": sshd,
            "root/.ssh/authorized_keys": self._key.with_suffix(".pub").read_text(),
            "etc/hostname": f"{self.name}\n",
            "etc/hosts": f"127.0.0.1 localhost\n127.0.1.1 {self.name}\n",
            "etc/machine-id": f"{uuid.uuid4().hex}\n",
            "etc/pip.conf": _pip_settings(),
        }
        for path, content in files.items():
            (self.tree / path).parent.mkdir(mode=0o700, exist_ok=True)
            (self.tree / path).write_text(content)
        _link(cache() / "apt", self.tree / str(APT_CACHE).lstrip("/"))
        if found := list(CERTIFICATES.glob("*.crt")):
            for each in found:
                shutil.copy(each, self.tree / str(CERTIFICATES).lstrip("/"))
            subprocess.run(["chroot", str(self.tree), "update-ca-certificates"], capture_output=True, check=True)


@contextmanager
def booted(folder: Path) -> Iterator[Machine]:
    """A machine until the block ends. UnfitError where this host cannot have one."""
    check_host()
    for kind in ("apt", "pip"):
        (cache() / kind).mkdir(parents=True, exist_ok=True)
    with system_bus():
        machine = Machine(folder)
        try:
            machine.prepare()
            machine.boot()
            yield machine
        finally:
            machine.close()


def _pip_settings() -> str:
    """pip's settings on the machine: the system's certificates, the kept downloads, and this host's index."""
    index = {name: os.environ[f"PIP_{name}"] for name in PIP_INDEX if f"PIP_{name}" in os.environ}
    lines = [f"{name.lower().replace('_', '-')} = {value}" for name, value in index.items()]
    certificates = "cert = /etc/ssl/certs/ca-certificates.crt"
    return "\n".join(["[global]", certificates, f"cache-dir = {PIP_CACHE}", *lines, ""])


def _link(packages: Path, folder: Path) -> None:
    """Whole downloads of apt (those under way are in a folder below), by hard links."""
    for package in packages.glob("*.deb"):
        with suppress(FileExistsError):
            os.link(package, folder / package.name)


def _sweep() -> None:
    """Remove the trees of runs that were killed."""
    for left in cache().glob("run-*-*"):
        if not psutil.pid_exists(int(left.name.split("-")[1])):
            shutil.rmtree(left, ignore_errors=True)


def _end(group: Path) -> None:
    """Kill what still runs in a control group, and remove it with all below."""
    patience = time.monotonic() + STOP_SECONDS
    while pids := [pid for file in group.rglob("cgroup.procs") for pid in file.read_text().split()]:
        assert time.monotonic() < patience, f"{group}: {pids} do not end"
        for pid in map(int, pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    for each in sorted(group.rglob("*/"), reverse=True):
        each.rmdir()
    with suppress(FileNotFoundError):
        group.rmdir()
