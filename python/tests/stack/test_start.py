"""Starting and stopping, with small programs in the place of the servers: what is said, and what is left running."""

import errno
import os
import shutil
import socket
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from sandcrawler import stack
from sandcrawler.config import Config
from sandcrawler.errors import Unavailable
from sandcrawler.stack import local, start, state
from sandcrawler.stack.base import LOOPBACK, Command, Place, Report, Server, Stop

SERVE = (
    "import sys, http.server as h; "
    "h.HTTPServer(('127.0.0.1', int(sys.argv[1])), h.SimpleHTTPRequestHandler).serve_forever()"
)
SAY = "import sys; sys.exit(print('fatal: ' + sys.argv[2]) or 1)"
SLEEP = "import time; time.sleep(60)"


@dataclass(frozen=True)
class Small:
    """A server that is a few lines of Python."""

    name: str
    setting: str
    code: str = SERVE
    word: str = ""
    title: str = "Small 1.0"
    ports: tuple[str, ...] = ("http",)
    stop: Stop = Stop(seconds=10)  # noqa: RUF009  (frozen too)
    trouble: BaseException | None = None

    def prepare(self, place: Place, report: Report) -> None:
        if self.trouble:
            raise self.trouble
        report(self.name, "preparing")
        with (place.data / "prepared").open("a") as file:
            file.write("once more\n")

    def command(self, place: Place) -> Command:
        return Command((sys.executable, "-c", self.code, str(place.ports["http"]), self.word))

    def healthy(self, place: Place) -> bool:
        try:
            with urlopen(f"http://{LOOPBACK}:{place.ports['http']}/", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def leftovers(self, place: Place) -> tuple[Path, ...]:
        return ()

    def settings(self, place: Place) -> dict[str, str]:
        return {self.setting: f"{LOOPBACK}:{place.ports['http']}"}


GOOD = (Small("one", "kafka_brokers"), Small("two", "postgres_url"), Small("three", "s3_url"))


@pytest.fixture(autouse=True)
def _small_servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    use(monkeypatch, *GOOD)
    yield
    stack.down(tmp_path)
    assert not alive(tmp_path), "a test left servers running"


def use(monkeypatch: pytest.MonkeyPatch, *servers: Server) -> None:
    monkeypatch.setattr(local, "servers", lambda _config: servers)


def alive(directory: Path) -> list[int]:
    """The programs that work in a stack's folder, however they came there."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).is_relative_to(directory):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_up_ps_down(tmp_path: Path) -> None:
    said: list[tuple[str, str]] = []
    addresses = stack.up(directory=tmp_path, report=lambda *what: said.append(what))
    assert len(alive(tmp_path)) == 3
    assert [row.state for row in stack.ps(directory=tmp_path)] == ["running"] * 3
    assert state.addresses(tmp_path)["s3_url"] == addresses.s3_url
    again: list[tuple[str, str]] = []
    assert stack.up(directory=tmp_path, report=lambda *what: again.append(what)) == addresses
    assert sorted(again) == [("one", "already running"), ("three", "already running"), ("two", "already running")]
    assert stack.down(tmp_path) == ["one", "two", "three"]
    assert [row.state for row in stack.ps(directory=tmp_path)] == ["stopped"] * 3
    assert not (tmp_path / state.ADDRESSES).exists()
    assert stack.up(directory=tmp_path) == addresses, "the ports are kept"


def test_up_starts_only_what_died(tmp_path: Path) -> None:
    stack.up(directory=tmp_path)
    pids = {row.name: row.pid for row in stack.ps(directory=tmp_path)}
    psutil.Process(pids["two"]).kill()
    limit = time.monotonic() + 60
    while [row.state for row in stack.ps(directory=tmp_path)] != ["running", "stopped", "running"]:
        assert time.monotonic() < limit
    stack.up(directory=tmp_path)
    after = {row.name: row.pid for row in stack.ps(directory=tmp_path)}
    assert (after["one"], after["three"]) == (pids["one"], pids["three"])
    assert after["two"] != pids["two"]


def test_a_server_that_dies_is_quoted_and_its_neighbours_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, GOOD[0], Small("bad", "s3_url", SAY, "no Java today", title="Bad 2"))
    with pytest.raises(Unavailable, match=r"Bad 2 stopped while starting(.|\n)*bad\.log(.|\n)*fatal: no Java today"):
        stack.up(directory=tmp_path)
    assert not alive(tmp_path)
    assert not (tmp_path / state.ADDRESSES).exists()


def test_a_full_disk_in_a_log_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Small("bad", "s3_url", SAY, "write: No space left on device"))
    with pytest.raises(Unavailable, match=r"The disk is full\."):
        stack.up(directory=tmp_path)


def test_a_failed_start_leaves_what_ran_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, GOOD[0])
    stack.up(directory=tmp_path)
    use(monkeypatch, GOOD[0], Small("bad", "s3_url", SAY))
    with pytest.raises(Unavailable):
        stack.up(directory=tmp_path)
    assert len(alive(tmp_path)) == 1


def test_a_server_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "HEALTHY_SECONDS", 0.3)
    use(monkeypatch, Small("dumb", "s3_url", SLEEP))
    with pytest.raises(Unavailable, match="is not ready after"):
        stack.up(directory=tmp_path)
    assert not alive(tmp_path)


def test_a_taken_port_is_named_with_its_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "PORT_SECONDS", 0.2)
    stack.up(directory=tmp_path)
    stack.down(tmp_path)
    port = state.load(tmp_path).servers["two"].ports["http"]
    with (
        closing(socket.create_server((LOOPBACK, port))),
        pytest.raises(Unavailable, match=rf"its port {port} \(http\) is taken by process {os.getpid()} .*--dir"),
    ):
        stack.up(directory=tmp_path)
    assert not alive(tmp_path)


def test_a_port_that_is_being_let_go_is_waited_for(tmp_path: Path) -> None:
    stack.up(directory=tmp_path)
    stack.down(tmp_path)
    dying = socket.create_server((LOOPBACK, state.load(tmp_path).servers["two"].ports["http"]))
    threading.Timer(0.5, dying.close).start()
    stack.up(directory=tmp_path)


@pytest.mark.parametrize(
    ("trouble", "text"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), r"the disk is full: \d+ MiB are free"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "Permission denied"),
        (Unavailable("download of a:b:1 failed"), "download of a:b:1 failed"),
    ],
)
def test_trouble_in_preparation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: BaseException, text: str
) -> None:
    use(monkeypatch, GOOD[0], Small("bad", "s3_url", trouble=trouble))
    with pytest.raises(Unavailable, match=text):
        stack.up(directory=tmp_path)
    assert not alive(tmp_path)


def test_too_little_room_is_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(1 << 40, 1 << 40, 7 << 20))
    with pytest.raises(Unavailable, match="7 MiB are free in"):
        stack.up(directory=tmp_path)


def test_interruption_stops_what_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, GOOD[0], Small("slow", "s3_url", SLEEP))

    def interrupt(waiting: object, return_when: object) -> None:
        limit = time.monotonic() + 60
        while len(alive(tmp_path)) < 2:
            assert time.monotonic() < limit
        raise KeyboardInterrupt

    monkeypatch.setattr(start, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stack.up(directory=tmp_path)
    assert not alive(tmp_path)


def test_two_at_once_on_one_folder_make_one_stack(tmp_path: Path) -> None:
    said: list[tuple[str, str]] = []
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(stack.up, directory=tmp_path, report=lambda *what: said.append(what)) for _ in range(2)]
        assert both[0].result() == both[1].result()
    assert len(alive(tmp_path)) == 3
    assert sum(text == "starting" for _name, text in said) == 3


def test_two_folders_are_two_stacks(tmp_path: Path) -> None:
    with stack.running(tmp_path / "a") as a, stack.running(tmp_path / "b") as b:
        assert a.s3_url != b.s3_url
        assert len(alive(tmp_path)) == 6
        stack.down(tmp_path / "a")
        assert len(alive(tmp_path / "b")) == 3


def test_running_stops_only_what_it_began(tmp_path: Path) -> None:
    stack.up(directory=tmp_path)
    with stack.running(tmp_path):
        pass
    assert len(alive(tmp_path)) == 3


def test_running_without_a_folder_leaves_nothing() -> None:
    with stack.running() as addresses:
        port = int(addresses.kafka_brokers.rpartition(":")[2])
        socket.create_connection((LOOPBACK, port)).close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((LOOPBACK, port))


def test_a_server_of_the_users_own_is_not_started(tmp_path: Path) -> None:
    own = Config(postgres_url="postgresql://me@db.example/papers")
    addresses = stack.up(own, tmp_path)
    assert addresses.postgres_url == "postgresql://me@db.example/papers"
    assert len(alive(tmp_path)) == 2
    assert [row.state for row in stack.ps(own, tmp_path)] == ["running", "external", "running"]
    assert "postgres_url" not in state.addresses(tmp_path)


def test_a_running_stack_is_not_a_server_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDCRAWLER_DIR", str(tmp_path / "default"))
    with stack.running(), stack.running(tmp_path / "default") as first, stack.running(tmp_path / "other") as second:
        assert first.kafka_brokers != second.kafka_brokers
        assert len(alive(tmp_path / "other")) == 3


def test_a_running_server_with_other_settings_is_not_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack.up(directory=tmp_path)
    use(monkeypatch, GOOD[0], GOOD[1], Small("three", "kafka_brokers"))
    with pytest.raises(Unavailable, match="runs with other settings"):
        stack.up(directory=tmp_path)
    use(monkeypatch, *GOOD)


def test_a_second_command_waits_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    with local._locked(tmp_path, local.silent):
        waiting = threading.Thread(
            target=stack.up, kwargs={"directory": tmp_path, "report": lambda _n, t: said.append(t)}
        )
        waiting.start()
        limit = time.monotonic() + 60
        while not said:
            assert time.monotonic() < limit
            time.sleep(0.02)
        assert "another command is at work" in said[0]
        assert not alive(tmp_path)
    waiting.join(120)
    assert len(alive(tmp_path)) == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="file"):
        stack.up(directory=tmp_path / "file" / "stack")
