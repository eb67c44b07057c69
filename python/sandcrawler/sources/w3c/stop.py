"""Stopping a harvest in order: Ctrl-C or SIGTERM says stop, whoever sleeps wakes up, and what there is gets saved."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether to stop, and a sleep that ends when somebody says so. `interrupted`: it was the user who said it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.interrupted = False

    def __call__(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        """Say stop."""
        self._event.set()

    def sleep(self, seconds: float) -> None:
        """Sleep, or wake at once on stop."""
        self._event.wait(seconds)

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Ctrl-C or SIGTERM says stop; a second one does what it did before. Only the main thread hears of signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            self.interrupted = True
            self.set()
            restore()

        for number in SIGNALS:
            signal.signal(number, interrupt)
        try:
            yield
        finally:
            restore()
