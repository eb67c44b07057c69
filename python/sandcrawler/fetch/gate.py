"""Whether a URL may be asked for at all: first our own lists, then the site's robots.txt.

Documents, every redirect hop and sub-resources pass here, one by one, before they wait for their host's turn. The
address guard is not here but where connections are made (`connect`): robots.txt itself must pass it too.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from sandcrawler.config import Config
from sandcrawler.fetch import blocklist
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.hops import failure
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.robots import Robots
from sandcrawler.fetch.robotstxt import SLOW_BYTES, Rules
from sandcrawler.fetch.target import Target
from sandcrawler.fetch.watch import Watch
from sandcrawler.model import Capture
from sandcrawler.status import Status

AskRobots = Callable[[Target, int], Awaitable[Capture]]


class Gate:
    """One worker's gate. `ask(target, order)` fetches a robots.txt with its redirects, each of them `listed` first."""

    def __init__(self, config: Config, ask: AskRobots, clock: Clock, watch: Watch | None = None) -> None:
        self._blocklist = blocklist.load(config.fetch_blocklist)
        self._robots = Robots(config, ask, clock)
        self._clock = clock
        self._watch = watch

    async def enter(self, target: Target, deadline: float | None, order: int) -> Rules | Capture:
        """The rules of the site of a URL that may be asked; or the capture that says why it may not."""
        listed = self.listed(target)
        if listed:
            return listed
        rules = self._robots.known(target)
        if rules is None:
            try:
                async with asyncio.timeout(None if deadline is None else deadline - self._clock()):
                    found = await self._robots.learn(target, order)
            except TimeoutError:
                return _refusal(target, Status.TIMEOUT, "robots.txt did not come in time")
            if isinstance(found, Capture):
                capture = _refusal(target, found.status, f"robots.txt: {found.error_message}")
                return replace(capture, retry_at=found.retry_at)
            rules = found
        if self._watch:
            self._watch("*", str(rules))
        if rules.size < SLOW_BYTES:
            objection = rules.objection(target.url)
        else:
            objection = await asyncio.to_thread(rules.objection, target.url)
        if objection:
            return replace(_refusal(target, Status.BLOCKED_ROBOTS, objection), retry_at=rules.retry_at)
        return rules

    def listed(self, target: Target) -> Capture | None:
        """The capture of a URL that a list forbids; None where none does."""
        try:
            self._blocklist.check(target)
        except Refused as refused:
            return failure(target.url, (target.url,), refused)
        return None

    async def close(self) -> None:
        """Nothing is asked any more."""
        await self._robots.close()


def _refusal(target: Target, status: Status, message: str) -> Capture:
    return failure(target.url, (target.url,), Refused(status, message))
