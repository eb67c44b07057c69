"""Every site's robots.txt (RFC 9309), looked up once a day; what is in it is read by `robotstxt`.

One look-up for each request; a site (scheme, host, port) is asked once a day, however many documents want it at the
same moment. What came back decides:

    2xx                        its rules; of more than 500 KiB, the first 500
    4xx, redirects that end    there are none: all is allowed
      nowhere
    429                        the host is throttling: host-backoff, like everywhere
    5xx, a broken body         nothing is allowed for some minutes
    no answer at all           the document would meet the same: it gets that status (dns-error, blocked-address, …)
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog

from sandcrawler.config import Config
from sandcrawler.fetch.metrics import ROBOTS
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.robotstxt import SLOW_BYTES, Rules, product_token
from sandcrawler.fetch.target import Target
from sandcrawler.model import Capture
from sandcrawler.status import Status

REDIRECTS = 5
READ_BYTES = 1 << 20  # what is received is cut in pieces of up to some 100 KB
ASK_SECONDS = 60.0  # the whole look-up, pacing and redirects included
KEPT_SECONDS = 24 * 3600.0
KEPT_TROUBLE_SECONDS = 300.0
KEPT_SITES = 10_000
KEPT_BYTES = 4 << 20  # of rules as text, which is some 30 times as much in memory

# A redirect that cannot be followed: the site has no robots.txt to show (RFC 9309, 2.3.1.2).
NOWHERE = frozenset(
    {
        Status.REDIRECTS_EXCEEDED,
        Status.REDIRECT_LOOP,
        Status.BAD_REDIRECT,
        Status.BAD_URL,
        Status.SKIP_URL_BLOCKLIST,
        Status.SKIP_WALL,
    }
)
# An answer came, and cannot be used.
TROUBLE = frozenset({Status.TRUNCATED_BODY, Status.BAD_GZIP_ENCODING, Status.TIMEOUT, Status.HOST_BACKOFF})

log = structlog.get_logger()


Ask = Callable[[Target, int], Awaitable[Capture]]


class Robots:
    """The rules of the sites in use. `ask` fetches a robots.txt, politely; the number is the document's turn."""

    def __init__(self, config: Config, ask: Ask, clock: Clock) -> None:
        self._ask, self._clock = ask, clock
        self._obeyed = config.fetch_robots
        self._exempt = {host.lower() for host in config.fetch_robots_exempt}
        self._longest_delay = config.fetch_crawl_delay
        self._agent = product_token(config.fetch_user_agent)
        self._sites: OrderedDict[str, Rules] = OrderedDict()
        self._bytes = 0
        self._asking: dict[str, asyncio.Task[Rules | Capture]] = {}

    def known(self, target: Target) -> Rules | None:
        """The rules of the URL's site, if they are at hand."""
        if not self._obeyed:
            return ALLOWED
        rules = self._sites.get(_site(target))
        return rules if rules is not None and self._clock() < rules.expires else None

    async def learn(self, target: Target, order: int) -> Rules | Capture:
        """The rules of the URL's site, asked for now; or what came in place of an answer."""
        site = _site(target)
        task = self._asking.get(site)
        if task is None:
            task = self._asking[site] = asyncio.create_task(self._look_up(site, target, order))
            task.add_done_callback(lambda _: self._asking.pop(site, None))
        return await asyncio.shield(task)  # one document's time limit is not the others'

    async def close(self) -> None:
        """Stop asking."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_up(self, site: str, target: Target, order: int) -> Rules | Capture:
        if self._is_exempt(target.host):
            ROBOTS.labels("exempt").inc()
            log.info("robots.txt is not asked for: the host is exempt", host=target.host)
            return self._keep(site, Rules(self._clock() + KEPT_SECONDS, site))
        source = f"{site}/robots.txt"
        capture = await self._ask(Target(source, target.host, target.port), order)
        if silent(capture):
            ROBOTS.labels("silent").inc()
            return capture
        rules = await self._rules(source, capture)
        ROBOTS.labels("denied" if rules.denial else "rules" if rules.parser else "none").inc()
        return self._keep(site, rules)

    def _is_exempt(self, host: str) -> bool:
        return any(host == name or host.endswith("." + name) for name in self._exempt)

    async def _rules(self, source: str, capture: Capture) -> Rules:
        code = capture.status_code or 0
        if capture.status not in NOWHERE and (not 200 <= code < 500 or capture.status in TROUBLE):
            why = f"HTTP {code}" if code >= 500 else capture.error_message
            until = datetime.now(UTC) + timedelta(seconds=KEPT_TROUBLE_SECONDS)
            denial = f"{source} cannot be read, so nothing is allowed for now: {why}"
            return Rules(self._clock() + KEPT_TROUBLE_SECONDS, source, denial=denial, retry_at=until)
        body = capture.body if 200 <= code < 300 else None
        if body and len(body) > SLOW_BYTES:
            return await asyncio.to_thread(self._parsed, source, body)
        return self._parsed(source, body or b"")

    def _parsed(self, source: str, body: bytes) -> Rules:
        return Rules.of(source, body, self._agent, self._longest_delay, self._clock() + KEPT_SECONDS)

    def _keep(self, site: str, rules: Rules) -> Rules:
        old = self._sites.pop(site, None)
        self._sites[site] = rules
        self._bytes += rules.size - (old.size if old else 0)
        while len(self._sites) > KEPT_SITES or (self._bytes > KEPT_BYTES and len(self._sites) > 1):
            self._bytes -= self._sites.popitem(last=False)[1].size
        return rules


ALLOWED = Rules(float("inf"), "no robots.txt")


def silent(capture: Capture) -> bool:
    """No answer of the site: the document itself would meet the same, and gets that for its status."""
    if len(capture.hops) > 1 or capture.status in NOWHERE:
        return False
    return capture.status_code is None or (capture.status is Status.HOST_BACKOFF and capture.status_code < 500)


def _site(target: Target) -> str:
    """Scheme, host and port of a target: its URL is in the browsers' spelling, so the path's slash is there."""
    return target.url[: target.url.index("/", len("https://"))]
