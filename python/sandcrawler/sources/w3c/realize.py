"""Reading a resource that may be gone, broken, refused or unreachable, without losing the harvest.

    refused (429, 403)     everybody backs off; tried again, three times in all; then `throttled`, never `skipped`
    gone or broken         `skipped`: not asked for again in this run
    no connection          None, and remembered nowhere: the next who needs it asks again

Once the back-off has given up, or somebody has said stop, nothing is asked any more: this is the one place through
which the workers ask.
"""

import threading
from collections.abc import Callable

import structlog

from sandcrawler.fetch.governor import Governor
from sandcrawler.sources.failures import TRANSPORT, Failure, HttpError
from sandcrawler.sources.w3c.api import Api, Resource, embedded

log = structlog.get_logger()

ATTEMPTS = 3


class Realizer:
    """Reads resources for all workers of one harvest. `stopped` says that nothing more shall be asked."""

    def __init__(self, api: Api, governor: Governor, stopped: Callable[[], bool] = lambda: False) -> None:
        self.api, self.governor, self._stopped = api, governor, stopped
        self.skipped: set[str] = set()
        self.throttled: set[str] = set()
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Forget what was skipped and throttled, and the back-off."""
        with self._lock:
            self.skipped.clear()
            self.throttled.clear()
        self.api.forget()
        self.governor.reset()

    def stopping(self) -> bool:
        """Whether nothing more is asked."""
        return self.governor.exhausted or self._stopped()

    def resource(self, href: str, page: Resource | None = None) -> Resource | None:
        """A resource, or None. With the page that names it, what is embedded there needs no request."""
        brought = next((each for address, each in embedded(page) if address == href), None) if page else None
        if brought is not None:
            self.api.learn(href, brought)
            return self._safely(href, lambda _: brought, counts=False)
        return self._safely(href, self.api.resource, counts=page is None)

    def page(self, href: str) -> Resource | None:
        """A page of a list, or None."""
        return self._safely(href, self.api.read)

    def _safely(self, href: str, read: Callable[[str], Resource], counts: bool = True) -> Resource | None:
        if self.stopping() or href in self.skipped:
            return None
        for attempt in range(1, ATTEMPTS + 1):
            self.governor.wait()
            if self.stopping():
                return None
            try:
                value = read(href)
            except HttpError as error:
                if self._again(href, error, attempt):
                    continue
                return None
            if counts:
                self.governor.succeeded()
            with self._lock:
                self.throttled.discard(href)
            return value
        return None

    def _again(self, href: str, error: HttpError, attempt: int) -> bool:
        """Note a failure; whether to try once more."""
        if error.status is not None and self.governor.throttles(error.status):
            given_up = self.governor.throttled(error.retry_after)
            if not given_up and attempt < ATTEMPTS:
                return True
            log.warning("throttled out, still rate-limited", href=href, attempts=attempt, error=str(error))
            self._note(self.throttled, href)
        elif error.failure in TRANSPORT:
            log.warning("failed to read", href=href, error=str(error))
        else:
            words = "not found" if error.failure is Failure.NOT_FOUND else "skipping, upstream error after retries"
            log.warning(words, href=href, error=str(error))
            self._note(self.skipped, href)
        return False

    def _note(self, where: set[str], href: str) -> None:
        with self._lock:
            where.add(href)
