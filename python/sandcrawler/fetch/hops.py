"""HTTP redirects followed, for any back end that can ask for one URL.

A request is the same as before when its URL and the cookies it would send are the same: then the site runs in a
circle. Sites that set a cookie and send the reader back (nature.com → idp.nature.com → nature.com) are no circle, but
a URL is asked twice at most.
"""

from collections.abc import Awaitable, Callable, Container
from dataclasses import replace
from datetime import UTC, datetime

from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.target import Target, location, read, shown
from sandcrawler.model import Capture
from sandcrawler.status import Status

REDIRECTS = frozenset({301, 302, 303, 307, 308})  # those that browsers follow
MOST_VISITS = 2


async def follow(
    ask: Callable[[Target], Awaitable[Capture]],
    cookies: Callable[[Target], str],
    url: str,
    limit: int,
    more_ports: Container[int] = (),
) -> Capture:
    """The capture at the end of the redirects of `url`, with every URL asked as its hops.

    `ask` makes one request and never raises for the web's faults; `cookies` is what it would send along.
    """
    try:
        target = read(url, more_ports=more_ports)
    except Refused as refused:
        return failure(url, (shown(url),), refused)
    hops: list[str] = []
    asked: set[tuple[str, str]] = set()
    while True:
        asked.add((target.url, cookies(target)))
        hops.append(target.url)
        answer = replace(await ask(target), url=hops[0], hops=tuple(hops), terminal_url=target.url)
        if answer.status_code not in REDIRECTS or answer.status is not Status.TERMINAL_BAD_STATUS:
            return answer
        try:
            target = _next(answer, more_ports)
            _check(target, hops, (target.url, cookies(target)) in asked, limit)
        except Refused as refused:
            return replace(answer, status=refused.status, error_message=str(refused))


def _next(answer: Capture, more_ports: Container[int]) -> Target:
    """Where a redirect leads. Refused: bad-redirect, bad-url, blocked-address."""
    values = {value.strip(): None for name, value in answer.headers if name.lower() == "location"}
    value = location(next(iter(values), ""))
    if len(values) > 1:
        raise Refused(Status.BAD_REDIRECT, f"HTTP {answer.status_code} with {len(values)} different Locations")
    if not value:
        raise Refused(Status.BAD_REDIRECT, f"HTTP {answer.status_code} without a Location")
    try:
        return read(value, answer.terminal_url, more_ports)
    except Refused as refused:
        raise Refused(refused.status, f"redirect to {shown(value)[:256]}: {refused}") from refused


def _check(target: Target, hops: list[str], same: bool, limit: int) -> None:
    if same or hops.count(target.url) >= MOST_VISITS:
        raise Refused(Status.REDIRECT_LOOP, f"the redirect leads back to {target.url[:256]}")
    if len(hops) > limit:
        raise Refused(Status.REDIRECTS_EXCEEDED, f"more than {limit} redirects")


def failure(url: str, hops: tuple[str, ...], refused: Refused) -> Capture:
    """A capture for a URL that was never asked, or from which nothing came."""
    return Capture(
        url=shown(url),
        status=refused.status,
        hops=hops,
        when=datetime.now(UTC),
        terminal_url=hops[-1],
        error_message=str(refused),
    )
