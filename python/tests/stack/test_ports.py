"""Ports: free, distinct, below those the system gives to outgoing connections."""

import os
import socket
from contextlib import closing

import pytest

from sandcrawler.errors import Unavailable
from sandcrawler.stack import ports
from sandcrawler.stack.base import LOOPBACK


def test_chosen_ports_are_distinct_and_free() -> None:
    avoid = set(ports.choose(10, set()))
    chosen = ports.choose(50, avoid)
    assert len(set(chosen)) == 50
    assert not avoid & set(chosen)
    assert all(port in ports.RANGE and ports.free(port) for port in chosen)


def test_a_port_that_is_listened_on_is_not_free() -> None:
    with closing(socket.create_server((LOOPBACK, 0))) as server:
        port = server.getsockname()[1]
        assert not ports.free(port)
        assert f"process {os.getpid()} " in ports.holder(port)


def test_a_port_just_left_is_free() -> None:
    """A connection in TIME_WAIT does not keep a stack from its port."""
    with closing(socket.create_server((LOOPBACK, 0))) as server:
        port = server.getsockname()[1]
        with closing(socket.create_connection((LOOPBACK, port))):
            server.accept()[0].close()
    assert ports.free(port)


def test_no_ports_left_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "free", lambda _port: False)
    with pytest.raises(Unavailable, match="no 3 free ports"):
        ports.choose(3, set())
