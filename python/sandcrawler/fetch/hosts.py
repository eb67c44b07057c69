"""Every host that a worker talks to: its slots, its pacer, its governor. One per worker, shared by all documents.

A turn is: a free slot, no cooldown, and the pacer's slot. Where that would take longer than the caller has, or the
host wants to be left alone for longer than `patience`, the answer is CoolingDown at once, so that the document can be
asked for again later and holds no place meanwhile. Hosts without anything to remember are forgotten, so memory stays
flat over millions of them.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from sandcrawler.fetch.pacing import Clock, Governor, Pacer

AsyncSleeper = Callable[[float], Awaitable[object]]

PATIENCE = 30.0  # the longest cooldown that is sat out within a document
REFUSALS = 5  # so many 403 in a row are throttling, not a page that is closed
FORGET_SECONDS = 60.0
FORGET_TROUBLE_SECONDS = 3600.0


class CoolingDown(Exception):
    """The host cannot be asked now; `seconds` until it may be."""

    def __init__(self, seconds: float, message: str) -> None:
        super().__init__(message)
        self.seconds = seconds


class HostGovernor(Governor):
    """Web servers say 429 or 503."""

    THROTTLE_ERRORS: ClassVar = frozenset({429, 503})


@dataclass(slots=True)
class Host:
    """One host's state."""

    pacer: Pacer
    governor: HostGovernor
    slots: asyncio.Semaphore
    users: int = 0
    used: float = -inf
    forbidden: int = 0

    def heard(self, status_code: int, retry_after: float | None) -> bool:
        """Note an answer: whether it was throttling."""
        self.forbidden = self.forbidden + 1 if status_code == 403 else 0
        if self.governor.throttles(status_code) or self.forbidden >= REFUSALS:
            self.governor.throttled(retry_after)
            return True
        if not self.forbidden:
            self.governor.succeeded()
        return False


class Hosts:
    """The hosts in use, the longest unused first."""

    def __init__(self, gap: float, parallel: int, clock: Clock, sleeper: AsyncSleeper) -> None:
        self._gap, self._parallel = gap, parallel
        self._clock, self._sleeper = clock, sleeper
        self._hosts: OrderedDict[str, Host] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hosts)

    @asynccontextmanager
    async def turn(self, name: str, deadline: float | None = None) -> AsyncIterator[Host]:
        """The host's next turn, held while the block runs. CoolingDown where it comes too late."""
        host = self._host(name)
        host.users += 1
        try:
            self._check(name, host, deadline)  # before the queue too: a cooling host needs no queue
            async with host.slots:
                await self._pause(name, host, deadline)
                host.used = self._clock()
                yield host
        finally:
            host.users -= 1

    def _check(self, name: str, host: Host, deadline: float | None) -> None:
        seconds = host.governor.remaining()
        left = deadline - self._clock() if deadline is not None else inf
        if host.governor.exhausted:
            rounds = host.governor.give_up_rounds
            seconds = max(seconds, host.used + FORGET_TROUBLE_SECONDS - self._clock())
            raise CoolingDown(seconds, f"{name} refused in {rounds} rounds of waiting and is left alone")
        if seconds > min(PATIENCE, left):
            raise CoolingDown(seconds, f"{name} asked to be left alone for another {seconds:.0f} s")

    async def _pause(self, name: str, host: Host, deadline: float | None) -> None:
        while True:
            self._check(name, host, deadline)
            for pause in host.governor.pauses():
                await self._sleeper(pause)
                self._check(name, host, deadline)
            left = deadline - self._clock() if deadline is not None else inf
            delay = host.pacer.reserve(left)
            if delay is None:
                raise CoolingDown(host.pacer.gap, f"{name} has no free turn before the time limit")
            if delay:
                await self._sleeper(delay)
                host.pacer.note(delay)
            if not host.governor.remaining():
                return

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None or self._forgettable(host):
            host = Host(
                Pacer(self._gap, clock=self._clock),
                HostGovernor(clock=self._clock),
                asyncio.Semaphore(self._parallel),
                used=self._clock(),
            )
            self._hosts[name] = host
        self._hosts.move_to_end(name)
        self._forget()
        return host

    def _forget(self) -> None:
        """Look at the two longest unused; over many turns that is enough to keep up."""
        for name in [name for name, _ in zip(self._hosts, range(2), strict=False)]:
            if self._forgettable(self._hosts[name]):
                del self._hosts[name]
            elif len(self._hosts) > 2:
                self._hosts.move_to_end(name)

    def _forgettable(self, host: Host) -> bool:
        troubled = host.governor.throttle_count or host.forbidden
        idle = max(FORGET_TROUBLE_SECONDS if troubled else FORGET_SECONDS, host.pacer.gap)
        return not host.users and self._clock() >= host.used + idle and not host.governor.remaining()
