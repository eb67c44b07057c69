"""robots.txt (RFC 9309): what a site lets this crawler ask for, and how slowly.

One look-up for each request; a site (scheme, host, port) is asked once a day, however many documents want it at the
same moment. What came back decides:

    2xx                        its rules; of more than 500 KiB, the first 500
    4xx, redirects that end    there are none: all is allowed
      nowhere
    429                        the host is throttling: host-backoff, like everywhere
    5xx, a broken body         nothing is allowed for some minutes
    no answer at all           the document would meet the same: it gets that status (dns-error, blocked-address, …)

Only the lines of our own group, or else of `*`, are given to Protego: agents are compared as the RFC says (the whole
product token), and files made to be slow (10,000 agents × 10,000 rules) are not.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from protego import Protego

from sandcrawler.config import Config
from sandcrawler.fetch.metrics import ROBOTS
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.target import Target
from sandcrawler.model import Capture
from sandcrawler.status import Status

REDIRECTS = 5
PARSED_BYTES = 500 << 10  # the least that RFC 9309 asks for
READ_BYTES = 1 << 20  # what is received is cut in pieces of up to some 100 KB
ASK_SECONDS = 60.0  # the whole look-up, pacing and redirects included
KEPT_SECONDS = 24 * 3600.0
KEPT_TROUBLE_SECONDS = 300.0
KEPT_SITES = 10_000
KEPT_BYTES = 4 << 20  # of rules as text, which is some 30 times as much in memory
SLOW_BYTES = 1 << 15  # so much is parsed, and matched, in a thread: 25,000 rules with stars take 0.3 s for a URL

_TOKEN = re.compile(r"[A-Za-z_-]+")
_COMPATIBLE = re.compile(r"compatible;\s*([A-Za-z_-]+)")
_AGENT = re.compile(r"\s*user[- ]?agent(?:\s*:|\s)\s*(.*)", re.IGNORECASE)
_NO_RULE = re.compile(r"\s*(?:site-?maps?|host)(?:\s*:|\s)", re.IGNORECASE)
ANYBODY = "*"
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


@dataclass(frozen=True, slots=True)
class Rules:
    """What one site says to us. `expires` on the monotonic clock; `delay`: seconds between requests, 0 for no wish.

    `parser` is None where there are no rules; `denial` says why nothing at all may be asked, until `retry_at`.
    """

    expires: float
    source: str
    parser: Protego | None = None
    group: str = ANYBODY
    delay: float = 0.0
    size: int = 0
    denial: str | None = None
    retry_at: datetime | None = None

    def __str__(self) -> str:
        delay = f", a request every {self.delay:g} s" if self.delay else ""
        return f"{self.source}: {f'rules for {self.group!r}' if self.parser else 'no rules'}{delay}"

    def objection(self, url: str) -> str | None:
        """Why this URL must not be asked for; None where it may."""
        if self.denial or self.parser is None or self.parser.can_fetch(url, self.group):
            return self.denial
        return f"{self.source} does not allow this URL (group {self.group!r})"


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
        text, group = select(readable(body), self._agent)
        expires = self._clock() + KEPT_SECONDS
        if not text:
            return Rules(expires, source)
        parser = Protego.parse(text)
        delay = min(float(parser.crawl_delay(group) or 0), self._longest_delay)
        return Rules(expires, source, parser, group, delay, len(text))

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


def product_token(user_agent: str) -> str:
    """The name by which sites address us: the first word of the User-Agent, or the one after `compatible;`."""
    found = _COMPATIBLE.search(user_agent)
    if found:
        return found[1].lower()
    first = _TOKEN.match(user_agent)
    return first[0].lower() if first else "sandcrawler"


def readable(body: bytes) -> str:
    """The text of a robots.txt, cut to whole lines."""
    if len(body) > PARSED_BYTES:
        body = body[:PARSED_BYTES].rpartition(b"\n")[0]
    return body.decode("utf-8-sig", "replace")


def select(text: str, agent: str) -> tuple[str, str]:
    """The lines of the groups that speak to `agent`, or else of those for anybody; and which of the two it is."""
    chosen: dict[str, list[str]] = {agent: [], ANYBODY: []}
    named: set[str] = set()
    naming = False
    current: set[str] = set()
    for line in (line.partition("#")[0] for line in text.splitlines()):
        found = _AGENT.match(line)
        if found:
            current = current if naming else set()
            naming = True
            token = _TOKEN.match(found[1])
            current |= {token[0].lower() if token else found[1].strip()} & chosen.keys()
            named |= current
        elif line.strip() and not _NO_RULE.match(line):
            naming = False
            for name in current:
                chosen[name].append(line)
    group = agent if agent in named else ANYBODY
    return "\n".join([f"User-agent: {group}", *chosen[group]]) if chosen[group] else "", group
