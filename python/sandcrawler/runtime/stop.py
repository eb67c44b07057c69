"""How a worker is told to stop: a flag, and the signals that raise it."""

import os
import signal
import threading
from types import FrameType


class Stop(threading.Event):
    """Set when the worker should finish what it has in hand. `signal` is what asked for it, if a signal did."""

    signal: int | None = None


def stop_on_signals(*signals: int) -> Stop:
    """A Stop that SIGTERM and SIGINT (or these signals) set. The second one ends the process at once.

    What was not committed then is done again by the next worker. Must be called in the main thread.
    """
    stop = Stop()

    def handle(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.signal = number
        stop.set()

    for number in signals or (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
    return stop
