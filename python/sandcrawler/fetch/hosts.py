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

from sandcrawler.fetch.governor import Governor
from sandcrawler.fetch.pacing import Clock, Pacer
from sandcrawler.fetch.slots import Slots

AsyncSleeper = Callable[[float], Awaitable[object]]

REFUSALS = 5  # so many 403 in a row are throttling, not a page that is closed
SILENCES = 3  # so many connections in a row that fail or fall silent
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

    name: str
    pacer: Pacer
    governor: HostGovernor
    slots: Slots  # for requests under way
    start: Slots  # one at a time waits for the pacer, so that late wakers do not bunch up
    users: int = 0
    used: float = -inf
    forbidden: int = 0
    silent: int = 0

    def missed(self) -> None:
        """Note that no answer came: a host that is down must not use up the time of every document."""
        self.silent += 1
        if self.silent >= SILENCES:
            self.governor.throttled()

    def heard(self, status_code: int, retry_after: float | None) -> bool:
        """Note an answer: whether it was throttling."""
        self.silent = 0
        self.forbidden = self.forbidden + 1 if status_code == 403 else 0
        if self.governor.throttles(status_code) or self.forbidden >= REFUSALS:
            self.governor.throttled(retry_after)
            return True
        if not self.forbidden:
            self.governor.succeeded()
        return False


def _too_late(host: Host) -> CoolingDown:
    return CoolingDown(host.pacer.gap, f"{host.name} has no free turn before the time limit")


class Hosts:
    """The hosts in use, the longest unused first."""

    def __init__(self, gap: float, parallel: int, patience: float, clock: Clock, sleeper: AsyncSleeper) -> None:
        self._gap, self._parallel, self._patience = gap, parallel, patience
        self._clock, self._sleeper = clock, sleeper
        self._hosts: OrderedDict[str, Host] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hosts)

    @asynccontextmanager
    async def turn(
        self, name: str, deadline: float | None = None, order: int = 0, gap: float | None = None
    ) -> AsyncIterator[Host]:
        """The host's next turn, lowest `order` first, held while the block runs. CoolingDown where it is too late.

        `gap`: what the host asks for between two requests; ours is kept where it is longer.
        """
        host = self._host(name)
        if gap is not None:
            host.pacer.gap = max(self._gap, gap)
        host.users += 1
        try:
            self._check(host, deadline)  # before the queue too: a cooling host needs no queue
            async with self._place(host, host.slots, deadline, order):
                async with self._place(host, host.start, deadline, order):
                    await self._pause(host, deadline)
                host.used = self._clock()
                yield host
        finally:
            host.users -= 1

    @asynccontextmanager
    async def _place(self, host: Host, slots: Slots, deadline: float | None, order: int) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(None if deadline is None else self._left(deadline)):
                await slots.acquire(order)
        except TimeoutError as error:
            raise _too_late(host) from error
        try:
            yield
        finally:
            slots.release()

    async def _pause(self, host: Host, deadline: float | None) -> None:
        """Wait until the host may be asked: no cooldown, and the pacer's slot."""
        while True:
            self._check(host, deadline)
            for pause in host.governor.pauses():
                await self._sleeper(pause)
                self._check(host, deadline)
            delay = host.pacer.reserve(self._left(deadline))
            if delay is None:
                raise _too_late(host)
            if delay:
                await self._sleeper(delay)
                host.pacer.note(delay)
            if not host.governor.remaining():
                host.pacer.started()
                return

    def _check(self, host: Host, deadline: float | None) -> None:
        seconds = host.governor.remaining()
        if host.governor.exhausted:
            seconds = max(seconds, host.used + FORGET_TROUBLE_SECONDS - self._clock())
            raise CoolingDown(
                seconds, f"{host.name} is left alone after {host.governor.give_up_rounds} rounds of waiting"
            )
        if seconds > min(self._patience, self._left(deadline)):
            raise CoolingDown(seconds, f"{host.name} is left alone for another {seconds:.0f} s")

    def _left(self, deadline: float | None) -> float:
        return inf if deadline is None else max(0.0, deadline - self._clock())

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None or self._forgettable(host):
            host = Host(
                name,
                Pacer(self._gap, clock=self._clock),
                HostGovernor(clock=self._clock),
                Slots(self._parallel),
                Slots(1),
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
