"""What the service manager hears, by a real socket of its kind."""

import socket
from pathlib import Path

import pytest

from sandcrawler.runtime.counts import Tally
from sandcrawler.runtime.supervisor import Supervisor


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    address = str(tmp_path / "notify")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(address)
    listening.settimeout(1)
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    return listening


def heard(manager: socket.socket) -> list[bytes]:
    manager.setblocking(False)
    words = []
    while True:
        try:
            words.append(manager.recv(4096))
        except BlockingIOError:
            return words


def test_ready_is_said_once_after_the_first_poll_and_stopping_at_the_end(manager: socket.socket) -> None:
    supervisor = Supervisor()
    assert heard(manager) == []
    supervisor.polled()
    supervisor.polled()
    supervisor.observe(Tally("ingest").counts())
    supervisor.stopping()
    assert heard(manager) == [b"READY=1", b"STATUS=0 processed, 0 dead letters, 0 in flight", b"STOPPING=1"]


def test_without_a_service_manager_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    supervisor = Supervisor()
    supervisor.polled()
    supervisor.stopping()


def test_a_manager_that_went_away_stops_no_worker(manager: socket.socket) -> None:
    supervisor = Supervisor()
    manager.close()
    supervisor.polled()
    supervisor.stopping()
