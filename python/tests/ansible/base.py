"""The tree of a bare Debian machine that one can log in to: made by debootstrap once, kept outside the checkout.

    ~/.cache/sandcrawler/machines/base-HASH/      the tree; HASH is that of the recipe below
    ~/.cache/sandcrawler/machines/apt/, pip/      what machines have downloaded, so that the next one need not
    ~/.cache/sandcrawler/machines/run-PID-…/      the trees of machines that run

A tree is made beside its place and moved there when it is whole: a break leaves no half of one.
"""

import hashlib
import inspect
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

SUITE = "bookworm"
# No more than a machine has from its provider: no sudo, no python3-apt, no package lists.
PACKAGES = ("ca-certificates", "dbus", "iproute2", "openssh-server", "python3", "systemd", "systemd-sysv")
TOOLS = ("debootstrap", "systemd-nspawn", "dbus-daemon", "ssh", "ssh-keygen", "setpriv", "unshare")
# Where systemd looks for its own processes: one of cgroup v2, or version 1 with or without version 2 beside it.
CGROUPS = tuple(map(Path, ("/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified")))


class UnfitError(Exception):
    """No machine can be booted on this host; the text says why."""


def cache() -> Path:
    """The folder of all that outlives a run."""
    return user_cache_path("sandcrawler") / "machines"


def cgroups() -> list[Path]:
    """The hierarchies that a booted systemd uses."""
    return [root for root in CGROUPS if (root / "cgroup.procs").exists()]


def check_host() -> None:
    """UnfitError unless this host has what a machine needs, as far as that shows beforehand."""
    if os.geteuid():
        raise UnfitError("only root can boot a machine")
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        raise UnfitError(f"not installed: {', '.join(missing)}")
    if not (found := cgroups()) or not all(os.access(root, os.W_OK) for root in found):
        raise UnfitError("there is no cgroup that a machine could have")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
        raise UnfitError("mounts are refused here")


def plant(tree: Path) -> None:
    """Copy the base tree to a new place; first make it, if it is not there. UnfitError where Debian cannot be had.

    Making takes a minute, copying half a second (of 330 MB; so no overlay, which would have to be unmounted).
    """
    recipe = "\n".join([SUITE, *PACKAGES, inspect.getsource(_make)])
    base = cache() / f"base-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    with FileLock(cache() / "base.lock"):
        if not base.exists():
            with tempfile.TemporaryDirectory(prefix="making-", dir=cache()) as beside:
                _make(Path(beside) / "tree")
                for old in cache().glob("base-*"):
                    shutil.rmtree(old)
                (Path(beside) / "tree").rename(base)
        subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(tree)], check=True)


def _make(tree: Path) -> None:
    # From Debian's mirror that debootstrap knows, which is then the machine's, too.
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(tree)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise UnfitError(f"debootstrap: {' '.join(done.stdout.splitlines()[-3:])}")
    # What must not be the same on two machines, and what a new machine has not yet.
    for path in [*tree.glob("etc/ssh/ssh_host_*"), *tree.glob("var/lib/apt/lists/*_*")]:
        path.unlink()
    shutil.rmtree(tree / "var/cache/apt/archives")
    (tree / "var/cache/apt/archives/partial").mkdir(parents=True)
    (tree / "var/log/journal").mkdir(exist_ok=True)
