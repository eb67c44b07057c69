"""Processes that end when we kill them or when we are gone, and not by what is meant for us.

A service manager's SIGTERM and a terminal's Ctrl-C go to the whole group. A child that obeyed would look like a page
that crashes the parser, while its worker is finishing what it has: so both are held back from the fork server on, and
the worker alone decides. And a worker that is killed outright (out of memory) can stop nobody: so each child has its
kernel watch the pipe whose other end the worker holds, and SIGIO, which nobody handles, ends it even within C code.
The fork server ends with the last of them.
"""

import fcntl
import multiprocessing
import os
import signal
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import parent_process

OURS = (signal.SIGTERM, signal.SIGINT)


class ServedProcess(ForkServerProcess):
    """Forked from the server, which starts with the first; it inherits what signals are held back."""

    def start(self) -> None:
        # The tracker first: it lets these signals through again when it starts.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, OURS)
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def terminate(self) -> None:
        """At once: the pool would ask first, and wait for an answer that cannot come."""
        self.kill()


class ServedContext(ForkServerContext):
    """For a pool of such processes."""

    Process = ServedProcess


SERVED = ServedContext()
FORKED = multiprocessing.get_context("fork")


def stand_alone() -> None:
    """Within a child: signals for the group are not for it, and it does not outlive its worker."""
    for number in OURS:
        signal.signal(number, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    pipe = parent.sentinel
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([pipe], 0):  # it was gone before
        os._exit(1)
