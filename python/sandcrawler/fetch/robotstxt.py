"""What a robots.txt says (RFC 9309): its bytes read, the rules for us picked out of it. Pure.

Only the lines of our own group, or else of `*`, are given to Protego: agents are compared as the RFC says (the whole
product token), and files made to be slow (10,000 agents × 10,000 rules) are not.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from protego import Protego

PARSED_BYTES = 500 << 10  # the least that RFC 9309 asks for
SLOW_BYTES = 1 << 15  # so much is parsed, and matched, in a thread: 25,000 rules with stars take 0.3 s for a URL

_TOKEN = re.compile(r"[A-Za-z_-]+")
_COMPATIBLE = re.compile(r"compatible;\s*([A-Za-z_-]+)")
_AGENT = re.compile(r"\s*user[- ]?agent(?:\s*:|\s)\s*(.*)", re.IGNORECASE)
_NO_RULE = re.compile(r"\s*(?:site-?maps?|host)(?:\s*:|\s)", re.IGNORECASE)
ANYBODY = "*"


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

    @classmethod
    def of(cls, source: str, body: bytes, agent: str, longest_delay: float, expires: float) -> Self:
        """The rules of these bytes for a product token."""
        text, group = select(readable(body), agent)
        if not text:
            return cls(expires, source)
        parser = Protego.parse(text)
        delay = min(float(parser.crawl_delay(group) or 0), longest_delay)
        return cls(expires, source, parser, group, delay, len(text))


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
