"""One document's requests to the live web: each turned into a Capture, every fault of the web into its status.

gate ─► the host's turn ─► request ─► head: throttled? redirect? ─► body, bounded ─► judged
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import aiohttp
from yarl import URL

from sandcrawler.fetch import exchange, faults, metrics, robots
from sandcrawler.fetch.allowance import allowed
from sandcrawler.fetch.base import Recorder, Refused
from sandcrawler.fetch.bodies import BodySession
from sandcrawler.fetch.condition import NOT_MODIFIED, UNASKED, Condition, unchanged
from sandcrawler.fetch.governor import retry_after
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.hosts import CoolingDown, Host
from sandcrawler.fetch.intake import Intake
from sandcrawler.fetch.judgement import judged, of_code
from sandcrawler.fetch.target import Target
from sandcrawler.model import Capture
from sandcrawler.status import Status

if TYPE_CHECKING:
    from sandcrawler.fetch.live import Fetcher


class Session(BodySession):
    """One document's fetches; `order` is its place among the worker's documents."""

    def __init__(
        self,
        fetcher: "Fetcher",
        http: aiohttp.ClientSession,
        order: int,
        recorder: Recorder | None,
        part: int | None,
    ) -> None:
        super().__init__(fetcher.config, part)
        self._order = order
        self._recorder = recorder
        self._fetcher = fetcher
        self._http = http

    async def fetch(self, url: str, deadline: float | None, intake: Intake) -> Capture:
        """See `BodySession.fetch`."""
        return await self._follow(url, deadline, intake)

    async def get_unless(self, condition: Condition, url: str, deadline: float | None = None) -> Capture:
        """As `get`, the request of the condition's URL sent with it."""
        with self.collecting() as intake:
            return await self._follow(url, deadline, intake, condition)

    async def _follow(
        self, url: str, deadline: float | None, intake: Intake, condition: Condition | None = None
    ) -> Capture:
        config = self._fetcher.config

        async def ask(target: Target) -> Capture:
            rules = await self._fetcher.gate.enter(target, deadline, self._order)
            if isinstance(rules, Capture):
                return self._noted(target, rules)
            if condition is not None and condition.url == target.url:
                sent = await self._exchange(target, deadline, rules.delay, intake, condition.headers)
                if (answer := condition.judged(sent, self._fetcher.watch)) is not None:
                    return self._noted(target, answer)
            return self._noted(target, await self._exchange(target, deadline, rules.delay, intake))

        return await follow(ask, self._cookies, url, config.fetch_redirects, config.fetch_allow_ports)

    async def robots_txt(self, url: str) -> Capture:
        """A site's rules, followed through their own redirects."""
        fetcher, deadline = self._fetcher, self._fetcher.clock() + robots.ASK_SECONDS

        async def ask(target: Target) -> Capture:
            listed = fetcher.gate.listed(target)
            return self._noted(target, listed or await self._exchange(target, deadline, None, intake))

        with self.collecting() as intake:
            return await follow(ask, self._cookies, url, robots.REDIRECTS, fetcher.config.fetch_allow_ports)

    def _noted(self, target: Target, capture: Capture) -> Capture:
        metrics.answered(target.host, capture)
        if self._fetcher.watch:
            to = capture.header("location") if capture.status_code in REDIRECTS else None
            size = "not modified" if unchanged(capture) else f"{len(capture.body or b'')} bytes"
            said = capture.error_message or (f"to {to}" if to else size)
            self._fetcher.watch("*", f"{'redirect' if to else capture.status}: {said}")
        return capture

    def _cookies(self, target: Target) -> str:
        return self._http.cookie_jar.filter_cookies(URL(target.url, encoded=True)).output(header="", sep=";")

    async def _exchange(
        self,
        target: Target,
        deadline: float | None,
        gap: float | None,
        intake: Intake,
        more: Mapping[str, str] | None = None,
    ) -> Capture:
        """One request, with `more` headers: its response, or why there is none."""
        intake.release()
        asked = self._fetcher.clock()
        nothing = Capture(target.url, Status.CONNECT_ERROR, (target.url,), datetime.now(UTC), target.url)
        try:
            async with self._fetcher.hosts.turn(target.host, deadline, self._order, gap) as host:
                self._waited(host, self._fetcher.clock() - asked)
                try:
                    async with allowed(None if deadline is None else deadline - self._fetcher.clock()):
                        return await self._request(target, host, intake, more)
                except faults.CAUGHT as error:
                    if isinstance(error, faults.SILENCE):
                        host.missed()
                    status, reason = faults.status(error), faults.reason(error, target)
                    return replace(nothing, status=status, error_message=reason)
        except CoolingDown as cooling:
            later, reason = _later(cooling.seconds), str(cooling)
            return replace(nothing, status=Status.HOST_BACKOFF, error_message=reason, retry_at=later)

    def _waited(self, host: Host, seconds: float) -> None:
        metrics.TURN.observe(seconds)
        if self._fetcher.watch:
            self._fetcher.watch("*", f"{host.name}: its turn came after {seconds:.3f} s, gap {host.pacer.gap:g} s")

    async def _request(self, target: Target, host: Host, intake: Intake, more: Mapping[str, str] | None) -> Capture:
        start, url = self._fetcher.clock(), URL(target.url, encoded=True)
        async with self._http.get(url, headers=more, allow_redirects=False) as response:
            metrics.HEAD.observe(self._fetcher.clock() - start)
            answer = Capture(
                url=target.url,
                status=of_code(response.status),
                hops=(target.url,),
                when=datetime.now(UTC),
                terminal_url=target.url,
                status_code=response.status,
                headers=exchange.headers(response),
            )
            if self._recorder is None:
                return await self._answer(target, host, response, answer, intake)
            take = intake.take = self._recorder.begin(exchange.exchange(response, target.url, answer.when))
            status = Status.TIMEOUT  # should this be cut short
            try:
                answer = await self._answer(target, host, response, answer, intake)
                status = answer.status
            finally:
                take.end(exchange.truncated(response, status))
            return answer

    async def _answer(
        self, target: Target, host: Host, response: aiohttp.ClientResponse, answer: Capture, intake: Intake
    ) -> Capture:
        if host.heard(response.status, retry_after(answer.header("retry-after"))):
            return _throttled(answer, host.governor.remaining())
        if response.status in REDIRECTS:
            await exchange.drain(response, intake.take)
            return answer
        if response.status == NOT_MODIFIED:  # without a body, whatever its headers say
            return replace(answer, error_message=UNASKED)
        try:
            return judged(answer, await self._body(response, intake))
        except Refused as refused:
            response.close()
            return replace(answer, status=refused.status, error_message=str(refused))
        except TimeoutError as error:
            response.close()
            return replace(answer, status=Status.TIMEOUT, error_message=faults.reason(error, target))

    async def _body(self, response: aiohttp.ClientResponse, intake: Intake) -> bytes:
        start = self._fetcher.clock()
        body = await intake.body(exchange.incoming(response))
        seconds = self._fetcher.clock() - start
        metrics.BODY.observe(seconds)
        if self._fetcher.watch:
            self._fetcher.watch("*", f"the body came after another {seconds:.3f} s")
        return body


def _throttled(answer: Capture, seconds: float) -> Capture:
    message = f"HTTP {answer.status_code}: the host has had enough, and is left alone for {seconds:.0f} s"
    return replace(answer, status=Status.HOST_BACKOFF, error_message=message, retry_at=_later(seconds))


def _later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
