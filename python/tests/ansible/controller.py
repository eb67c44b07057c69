"""The operator's side: a checkout of its own, a home, and a shell in which the commands of `ansible/README.md` are run.

The checkout is the working tree as it stands, in a repository of its own: what is tested is what is deployed, and the
test can make commits. Three programs stand before the system's in PATH, so that commands are run as they are written:
`ssh` and `sftp` lead every address to the machine, and `make` finds `.venv` made (it is the one that runs the tests).
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandcrawler.stack import jars
from tests.ansible.machine import Machine

ROOT = Path(__file__).resolve().parents[3]
RECAP = re.compile(r"^(\S+) +: (ok=.*)$", re.MULTILINE)
TASKS = re.compile(r"\n(?=TASK |RUNNING |PLAY )")
LIMIT_SECONDS = 900.0
AUTHOR = ("-c", "user.name=test", "-c", "user.email=test@example.org")


@dataclass(frozen=True)
class Run:
    """What a command said, how long it took, and a playbook's counts by host ({} for other commands)."""

    output: str
    seconds: float
    counts: Mapping[str, Mapping[str, int]]

    @property
    def changed(self) -> int:
        """Tasks that changed something, on all hosts."""
        assert self.counts, f"no recap:\n{self.output}"
        return sum(counts["changed"] for counts in self.counts.values())

    @property
    def changes(self) -> str:
        """The parts of the output that say what changed, for the message of a failed test."""
        return "\n".join(part for part in TASKS.split(self.output) if re.search(r"^changed:", part, re.MULTILINE))


class Controller:
    """A checkout whose inventory `one-host` has these variables beside its own, and a shell in its `ansible/`."""

    def __init__(self, folder: Path, machine: Machine, variables: Mapping[str, Any]) -> None:
        self.folder, self.checkout = folder, folder / "checkout"
        _copy_checkout(self.checkout)
        added = self.checkout / "ansible/inventories/one-host/group_vars/all/test.yml"
        added.parent.mkdir(parents=True, exist_ok=True)
        added.write_text(yaml.safe_dump(dict(variables)), "utf-8")
        _make_repository(self.checkout, folder / "origin")
        self._state = folder / "state.sh"
        self._state.touch()
        self._environment = _environment(folder, machine)

    def run(self, command: str) -> Run:
        """A command in the folder `ansible/`, where earlier ones have left off. AssertionError with its output."""
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f". {self._state}\n{command}\nexport -p > {self._state}"],
            cwd=self.checkout / "ansible",
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert not done.returncode, f"{command}\nexit code {done.returncode}\n{done.stdout[-8000:]}"
        counts = {
            host: {name: int(count) for name, _, count in (pair.partition("=") for pair in pairs.split())}
            for host, pairs in RECAP.findall(done.stdout)
        }
        return Run(done.stdout, time.monotonic() - began, counts)

    def publish(self, file: str, line: str) -> None:
        """A commit of someone else's that adds a line to a file, there to be pulled."""
        other = self.folder / "other"
        shutil.rmtree(other, ignore_errors=True)
        subprocess.run(["git", "clone", "--quiet", str(self.folder / "origin"), str(other)], check=True)
        with (other / file).open("a") as text:
            text.write(f"{line}\n")
        subprocess.run(["git", "-C", str(other), *AUTHOR, "commit", "--quiet", "-a", "-m", line], check=True)
        subprocess.run(["git", "-C", str(other), "push", "--quiet"], check=True)


def _copy_checkout(target: Path) -> None:
    """Every file that git knows or would add, as it is now."""
    listed = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
    done = subprocess.run(listed, check=True, capture_output=True, text=True)
    for name in filter(None, done.stdout.split("\0")):
        source, copy = ROOT / name, target / name
        if source.is_file():  # not one that was deleted and is not committed yet
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    (target / ".venv").symlink_to(sys.prefix)


def _make_repository(checkout: Path, origin: Path) -> None:
    git = ["git", "-C", str(checkout), *AUTHOR]
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    with (checkout / ".git/info/exclude").open("a") as ignored:
        ignored.write(".venv\n")
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "The working tree"], check=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", str(checkout), str(origin)], check=True)
    subprocess.run([*git, "remote", "add", "origin", str(origin)], check=True)
    subprocess.run([*git, "fetch", "--quiet"], check=True)
    subprocess.run([*git, "branch", "--quiet", "--set-upstream-to=origin/main"], check=True)


def _environment(folder: Path, machine: Machine) -> dict[str, str]:
    """A home of its own (with the jars that this user has), and the programs that stand before the system's."""
    programs = folder / "bin"
    way = " ".join([*machine.options, "-p", str(machine.port), "-o", "HostName=127.0.0.1"])
    scripts = {
        "ssh": f'exec {shutil.which("ssh")} {way} "$@"',
        "sftp": f'exec {shutil.which("sftp")} -S {programs}/ssh "$@"',
        "make": 'test "$*" = "-C .. .venv/ready"',
    }
    programs.mkdir()
    for name, line in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    kept = folder / "home/.cache/sandcrawler" / jars.folder().name
    kept.parent.mkdir(parents=True)
    jars.folder().mkdir(parents=True, exist_ok=True)
    kept.symlink_to(jars.folder())
    own = {name: text for name, text in os.environ.items() if not name.startswith(("ANSIBLE_", "SANDCRAWLER_", "XDG_"))}
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return own | {"PATH": path, "HOME": str(folder / "home"), "ANSIBLE_NOCOLOR": "1"}
