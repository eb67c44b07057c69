"""The back end `spn`: Save Page Now captures the URL, and the archive is then asked for what was saved.

    Save Page Now (`spnapi`) ─► the moment of the capture ─► `wayback`: that capture and nothing older

What the page consists of was saved with it, so later URLs of a document are looked up near its moment; only what the
archive does not have is saved too, a few URLs of a document at most. URLs that would not be fetched from here (an
operator's list, a private address or a name that leads to one) are not told to others either: what is submitted to a
public service is public.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from sandcrawler.config import Config
from sandcrawler.fetch import wayback
from sandcrawler.fetch.address import local, refusal
from sandcrawler.fetch.allowance import allowed
from sandcrawler.fetch.base import Recorder, Refused
from sandcrawler.fetch.bodies import BodySession
from sandcrawler.fetch.faults import text
from sandcrawler.fetch.hops import failure
from sandcrawler.fetch.hosts import AsyncSleeper
from sandcrawler.fetch.intake import Intake
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.spnapi import POLL_SECONDS, NotSaved, SavePageNow
from sandcrawler.fetch.target import Target, read, shown
from sandcrawler.model import Capture
from sandcrawler.status import Status

LOOK_UPS = 20  # a new capture comes into the index a little later
SUBMISSIONS = 4  # of one document
# What a name is from here; OSError: nothing.
Addresses = Callable[[str], Awaitable[Sequence[str]]]


class SpnFetcher:
    """One account's captures. Use as an async context manager."""

    def __init__(
        self,
        config: Config,
        _: str = "",
        clock: Clock = time.monotonic,
        sleeper: AsyncSleeper = asyncio.sleep,
        addresses: Addresses | None = None,
    ) -> None:
        """ConfigurationError: there are no keys, or the address is none."""
        self.config, self.sleeper = config, sleeper
        self.archive = wayback.WaybackFetcher(config)
        self.api = SavePageNow(config, self.archive.service, clock, sleeper)
        self._addresses = addresses or self.archive.service.addresses

    async def __aenter__(self) -> Self:
        await self.archive.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.archive.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["Session"]:  # noqa: ARG002
        """A session for one document. Nothing is recorded: it is in an archive then."""
        session = Session(self)
        try:
            yield session
        finally:
            session.release()

    async def target(self, url: str) -> Target:
        """The URL as it may be handed to others. Refused: what would not be fetched from here is not told there.

        Networks that are exempt from the address guard are local all the same. A name that leads nowhere from here
        could not be captured from there either.
        """
        target = read(url, more_ports=self.config.fetch_allow_ports)
        self.archive.check(target)
        try:
            reasons = [local(target.host)] if local(target.host) else await self._reasons(target.host)
        except OSError as error:
            raise Refused(Status.DNS_ERROR, f"{target.host}: {text(error)}") from error
        if any(reasons):
            raise Refused(Status.BLOCKED_ADDRESS, "; ".join(dict.fromkeys(filter(None, reasons))))
        return target

    async def _reasons(self, host: str) -> list[str | None]:
        return [refusal(address) for address in await self._addresses(host)]


class Session(BodySession):
    """One document's captures, all near the moment of the first."""

    def __init__(self, fetcher: SpnFetcher) -> None:
        super().__init__(fetcher.config)
        self._fetcher = fetcher
        self._near: wayback.Session | None = None
        self._submitted = 0

    async def fetch(self, url: str, deadline: float | None, intake: Intake) -> Capture:
        """The URL as Save Page Now captured it, followed through the redirects that it captured."""
        if self._near is not None:
            capture = await self._near.fetch(url, deadline, intake)
            if capture.status is not Status.NO_CAPTURE or self._submitted >= SUBMISSIONS:
                return capture
        self._submitted += 1
        refused: Refused | NotSaved
        try:
            async with allowed(None if deadline is None else deadline - time.monotonic()):
                target = await self._fetcher.target(url)
                moment, before = await self._fetcher.api.save(target.url, deadline)
                return await self._saved(target, (moment, before), deadline, intake)
        except TimeoutError:
            refused = Refused(Status.TIMEOUT, "Save Page Now was not done in time")
        except (Refused, NotSaved) as error:
            refused = error
        capture = failure(url, (shown(url),), Refused(refused.status, str(refused)))
        return replace(capture, retry_at=getattr(refused, "retry_at", None))

    async def _saved(
        self, target: Target, saved: tuple[datetime, timedelta], deadline: float | None, intake: Intake
    ) -> Capture:
        """What was saved, as soon as the archive's index has it. NotSaved: it does not come."""
        archive, (moment, before) = self._fetcher.archive, saved
        for number in range(LOOK_UPS):
            if number:
                await self._fetcher.sleeper(POLL_SECONDS)
            capture = await wayback.Session(archive, moment, moment - before).fetch(target.url, deadline, intake)
            if capture.status is not Status.NO_CAPTURE:
                self._near = self._near or wayback.Session(archive, moment)
                return capture
        message = f"saved at {moment:%Y%m%d%H%M%S}, and not in the index yet"
        raise NotSaved(Status.SPN2_BACKOFF, message, datetime.now(UTC) + timedelta(minutes=10))
