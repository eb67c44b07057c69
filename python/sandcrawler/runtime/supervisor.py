"""What a worker tells the service manager that started it (systemd's sd_notify(3)); nothing where none listens.

READY=1 comes after the first poll: servers are there, topics are right, the step's session is open. Until then
`systemctl start` and `restart` wait, so a rolling restart goes on only when the instance before it works.
"""

from sdnotify import SystemdNotifier

from sandcrawler.runtime.counts import Counts


class Supervisor:
    """The service manager's view of one worker."""

    def __init__(self) -> None:
        self._notifier = SystemdNotifier()
        self._ready = False

    def polled(self) -> None:
        """The loop went around; the first time, the worker is ready."""
        if not self._ready:
            self._ready = True
            self._notifier.notify("READY=1")

    def observe(self, counts: Counts) -> None:
        """The line that `systemctl status` shows."""
        self._notifier.notify(
            f"STATUS={counts.processed} processed, {counts.dead_letters} dead letters, {counts.in_flight} in flight"
        )

    def stopping(self) -> None:
        """What is in flight is being finished."""
        self._notifier.notify("STOPPING=1")
