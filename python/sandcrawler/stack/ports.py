"""Loopback ports: chosen once for a stack, then kept, so that addresses stay the same from day to day."""

import random
import socket
from contextlib import closing

import psutil

from sandcrawler.errors import Unavailable
from sandcrawler.stack.base import LOOPBACK

# Below 32768, where the system starts to pick ports for outgoing connections: one of those would take a port of
# ours while the stack is down.
RANGE = range(20000, 32768)


def free(port: int) -> bool:
    """Whether a server could listen there now."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # servers set it too: a past connection is no bar
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def choose(count: int, avoid: set[int]) -> list[int]:
    """So many free ports that are not among those to avoid."""
    chosen: list[int] = []
    for port in random.sample(RANGE, len(RANGE)):
        if len(chosen) == count:
            break
        if port not in avoid and free(port):
            chosen.append(port)
    if len(chosen) < count:
        raise Unavailable(f"no {count} free ports on {LOOPBACK} between {RANGE.start} and {RANGE.stop}")
    return chosen


def holder(port: int) -> str:
    """Who listens on a port, as far as we may know."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,) and connection.pid:
                return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    except psutil.Error:
        pass
    return "another process"
