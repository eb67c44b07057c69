"""URLs that are never asked for: rules in files, matched against parsed URLs.

A line of a file is a verdict and a pattern; `#` begins a comment. The verdicts are skip-url-blocklist, skip-wall, and
`allow`, by which an operator takes something out of a list again. A pattern is HOST[/PATH][?PARAMETERS]:

    skip-url-blocklist  archive.example.org            the host and every host below it
    skip-url-blocklist  resolver.example/10.5072       that path and everything below it, not /10.50721
    skip-wall           */**/login?target              any host; `**` is any folders; a parameter of that name
    skip-wall           sso.example.net?a=1&b          both parameters, one with that value

In a path, `*` stands for a part of one segment. Case makes no difference, nor do escapes, ports and schemes.
Substrings never match: `archive.example.org` is neither `myarchive.example.org` nor a parameter that mentions it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import ada_url

from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.target import Target
from sandcrawler.status import Status

OWN = files("sandcrawler.fetch") / "blocklist.txt"
ALLOW = "allow"
VERDICTS: dict[str, Status | None] = {
    ALLOW: None,
    **{status.value: status for status in (Status.SKIP_URL_BLOCKLIST, Status.SKIP_WALL)},
}
ANY_HOST = "*"
_MEANING = {
    Status.SKIP_URL_BLOCKLIST: "is on the list of what is not fetched",
    Status.SKIP_WALL: "is a login page or another wall",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of a list. `path` is None where every path is meant; `wanted` are the parameters, by name."""

    status: Status | None
    pattern: str
    host: str
    path: re.Pattern[str] | None
    wanted: tuple[tuple[str, str | None], ...]

    def matches(self, path: str, given: dict[str, set[str]]) -> bool:
        """Whether a path (unescaped, lower case) and parameters, of a host that fits, are meant."""
        if self.path is not None and not self.path.fullmatch(path):
            return False
        return all(name in given and (value is None or value in given[name]) for name, value in self.wanted)


class Blocklist:
    """The rules of all lists, by host."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_host: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            self._by_host[rule.host].append(rule)

    def check(self, target: Target) -> None:
        """Refused where a rule names this URL and no `allow` does."""
        found = self.find(target)
        if found is not None and found.status is not None:
            raise Refused(found.status, f"{target.host} {_MEANING[found.status]} ({found.pattern})")

    def find(self, target: Target) -> Rule | None:
        """The rule that decides on a URL: an `allow` before all others, then the most exact host's."""
        rules = [rule for name in _names(target.host) for rule in self._by_host.get(name, ())]
        if not rules:
            return None
        parts = urlsplit(target.url)
        path = unquote(parts.path).lower()
        given: dict[str, set[str]] = defaultdict(set)
        if parts.query:
            for name, value in parse_qsl(parts.query.lower(), keep_blank_values=True):
                given[name].add(value)
        found = [rule for rule in rules if rule.matches(path, given)]
        return min(found, key=lambda rule: rule.status is not None, default=None)


def load(more: Iterable[Path] = ()) -> Blocklist:
    """Our own list and the operator's. ConfigurationError names the file and the line."""
    texts = [(OWN.name, OWN.read_text("utf-8"))]
    for path in more:
        try:
            texts.append((str(path), path.read_text("utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"SANDCRAWLER_FETCH_BLOCKLIST: {path}: {error}") from error
    return Blocklist(rule for name, text in texts for rule in read(text, name))


def read(text: str, name: str) -> Iterator[Rule]:
    """The rules of a list's text; `name` is for errors."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in VERDICTS:
            raise ConfigurationError(f"{name}, line {number}: {line.strip()!r} is not {' | '.join(VERDICTS)} PATTERN")
        try:
            yield _rule(VERDICTS[words[0]], words[1])
        except ValueError as error:
            raise ConfigurationError(f"{name}, line {number}: {error}") from error


def _rule(status: Status | None, pattern: str) -> Rule:
    where, _, query = pattern.partition("?")
    host, slash, path = where.partition("/")
    wanted = tuple((name.lower(), value.lower() if mark else None) for name, mark, value in _fields(query))
    return Rule(status, pattern, _host(host), _path(path) if slash and path else None, wanted)


def _fields(query: str) -> Iterator[tuple[str, str, str]]:
    return (field.partition("=") for field in query.split("&") if field)


def _host(host: str) -> str:
    if host == ANY_HOST:
        return host
    if not host or "*" in host or ":" in host:
        raise ValueError(f"{host!r} is not a host name: write example.org, or * for all")
    return str(ada_url.URL(f"http://{host}/").hostname)


def _path(path: str) -> re.Pattern[str]:
    """A pattern of whole segments, and everything below them."""
    segments = [
        r"(?:[^/]*/)*" if segment == "**" else re.escape(segment).replace(r"\*", "[^/]*") + "/"
        for segment in path.lower().rstrip("/").split("/")
    ]
    return re.compile("/" + "".join(segments).removesuffix("/") + "(?:/.*)?", re.DOTALL)


def _names(host: str) -> Iterator[str]:
    """The host, every name above it, and the name for all."""
    name = host.rstrip(".")
    while name:
        yield name
        name = name.partition(".")[2]
    yield ANY_HOST
