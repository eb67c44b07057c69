"""When offsets are committed: what the window says is ready, at most so often, patiently while the broker is away.

A late commit only means that more is done again after a crash, so haste is not worth a round trip for each batch.
"""

import time

from sandcrawler.errors import Unavailable
from sandcrawler.runtime.effects import Patience
from sandcrawler.runtime.records import Consumer
from sandcrawler.runtime.window import Window


class Commits:
    """Commits a window's offsets every `seconds` at most."""

    def __init__(self, consumer: Consumer, window: Window, patience: Patience, seconds: float) -> None:
        self._consumer = consumer
        self._window = window
        self._patience = patience
        self._seconds = seconds
        self._waits = patience.backoff.waits()
        self._due = 0.0

    def when_due(self) -> None:
        """Commits if it is time. Raises Unavailable when the broker was away for longer than the back-off allows."""
        if not self._window.ready or time.monotonic() < self._due:
            return
        try:
            self.now()
        except Unavailable as error:
            wait = next(self._waits, None)
            if wait is None:
                raise
            self._patience.note(error)
            self._due = time.monotonic() + wait

    def hurry(self) -> None:
        """From here on without a pause between commits: the worker is about to end."""
        self._seconds = self._due = 0.0

    def now(self) -> None:
        """Commits what is ready. Raises Unavailable."""
        if not self._window.ready:
            return
        offsets = dict(self._window.ready)
        self._consumer.commit(offsets)
        self._window.committed(offsets)
        self._waits = self._patience.backoff.waits()
        self._due = time.monotonic() + self._seconds
