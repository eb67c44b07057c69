"""A machine of the tests boots, goes on after a reboot, and leaves nothing behind."""

from pathlib import Path

import psutil
import pytest

from tests.ansible.base import UnfitError, cgroups, check_host
from tests.ansible.machine import booted


@pytest.fixture
def fit() -> None:
    try:
        check_host()
    except UnfitError as reason:
        pytest.skip(str(reason))


@pytest.mark.machine
@pytest.mark.stack
@pytest.mark.usefixtures("fit")
def test_nothing_is_left_when_a_test_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError), booted(tmp_path) as machine:  # noqa: PT012  (its end is what is tested)
        tree = machine.tree
        assert machine.run("systemctl", "is-system-running").stdout.strip() == "running"
        groups = [root / f"machine-{tree.parent.name}" for root in cgroups()]
        assert any(group.exists() for group in groups)
        first = machine.run("cat", "/proc/sys/kernel/random/boot_id", "/proc/1/stat").stdout
        machine.reboot()
        assert machine.run("cat", "/proc/sys/kernel/random/boot_id", "/proc/1/stat").stdout != first
        assert "Reached target" in machine.journal()
        # It ends 90 s after it is told to, unless it is killed.
        machine.run("systemd-run", "--unit=stubborn", "sh", "-c", "trap '' TERM; sleep 1000 & wait; wait")
        monkeypatch.setattr("tests.ansible.machine.STOP_SECONDS", 3.0)
        _ = 1 / 0
    assert not tree.parent.exists()
    assert not any(group.exists() for group in groups)
    assert not [each for each in psutil.process_iter(["cmdline"]) if str(tree) in (each.info["cmdline"] or ())]
    assert not any(str(tree) in line for line in Path("/proc/self/mounts").read_text().splitlines())


@pytest.mark.usefixtures("fit")
def test_a_host_without_the_tools_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnfitError, match="not installed: debootstrap, systemd-nspawn"):
        check_host()
