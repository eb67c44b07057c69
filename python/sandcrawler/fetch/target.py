"""A URL as a browser would read it, and whether it may be asked at all.

Reading is Ada's (the WHATWG URL standard): blanks and line ends go, `127.1`, `0x7f.1`, `2130706433` and full-width
digits become 127.0.0.1, IDN becomes Punycode, escapes stay as they are. What a check sees is thus what is connected
to. User names and passwords are dropped here, so that they are neither sent nor written anywhere.
"""

from collections.abc import Container
from dataclasses import dataclass
from urllib.parse import quote_from_bytes

import ada_url

from sandcrawler.fetch.base import Refused
from sandcrawler.status import Status

PORTS = {"http:": 80, "https:": 443}
ALLOWED_PORTS = frozenset({80, 443, 8080, 8443})
ANY_PORT = range(1 << 16)  # for URLs that are looked up and not asked
# Browsers go further; servers and archives do not.
LONGEST_URL = 8192


@dataclass(frozen=True, slots=True)
class Target:
    """A URL fit to be asked: `url` as it goes on the wire, no fragment, no user name; `host` without brackets."""

    url: str
    host: str
    port: int


def read(url: str, base: str | None = None, more_ports: Container[int] = ()) -> Target:
    """The URL (relative to `base`, where given) as a target. Refused: bad-url, or blocked-address for its port."""
    parsed = _parsed(url, base)
    if parsed.protocol not in PORTS:
        raise Refused(Status.BAD_URL, f"only http and https are fetched, not {parsed.protocol[:32]}")
    if len(parsed.href) > LONGEST_URL:
        raise Refused(Status.BAD_URL, f"the URL is longer than {LONGEST_URL} characters")
    host = parsed.hostname.strip("[]")
    if not host.strip("."):
        raise Refused(Status.BAD_URL, "the URL has no host")
    port = int(parsed.port or PORTS[parsed.protocol])
    if port not in ALLOWED_PORTS and port not in more_ports:
        raise Refused(Status.BLOCKED_ADDRESS, f"port {port} is not fetched (SANDCRAWLER_FETCH_ALLOW_PORTS adds ports)")
    return Target(parsed.href, host, port)


def _parsed(url: str, base: str | None) -> ada_url.URL:
    if len(url) > 8 * LONGEST_URL:
        raise Refused(Status.BAD_URL, f"the URL is longer than {LONGEST_URL} characters")
    try:
        parsed = ada_url.URL(url, base) if base else ada_url.URL(url)
        parsed.username = parsed.password = parsed.hash = ""
    except (ValueError, AttributeError) as error:  # UnicodeError, of lone surrogates, is a ValueError
        raise Refused(Status.BAD_URL, "not an absolute URL that can be understood") from error
    return parsed


def shown(url: str) -> str:
    """A URL for people and tables, whether or not it can be fetched: no user name, no password, no control codes."""
    try:
        return read(url).url
    except Refused:
        head, mark, rest = url.partition("://")
        authority, slash, path = rest.partition("/")
        bare = f"{head}{mark}{authority.rpartition('@')[2]}{slash}{path}" if mark else url
        return "".join(c for c in bare if c.isprintable())[:LONGEST_URL]


def location(value: str) -> str:
    """A Location header (its bytes as latin-1 characters) as an ASCII URL: other bytes are escaped as they came.

    Servers send UTF-8 or Latin-1 unescaped; browsers pass on those very bytes, so the server understands them again.
    """
    return quote_from_bytes(value.encode("latin-1", "replace"), safe="".join(map(chr, range(0x21, 0x7F))) + " \t\r\n")
