"""Harvesting a live OAI-PMH endpoint, page by page, so that an interruption costs at most one page.

    list, or the state's token ─► page ─► the caller uses it ─► state saved ─► the next token …

The state file is written after the caller is done with a page. A token that the server has forgotten meanwhile means
to list again: from the last datestamp where the list has come in order of datestamps so far, else from the start (what
is asked for twice does no harm, what is passed over would). The protocol's libraries at hand repair broken XML in
silence, so records and the token after the break are lost without a word: hence these lines.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.sources.http import Client, Failure, HttpError, Retry
from sandcrawler.sources.oai_records import Page, parse

# A server that is busy says when to come again (503 with Retry-After): that is the protocol's flow control.
BUSY = Retry(8, 5.0, 2.0, 300.0, hint=1800.0)
RETRIES: Mapping[Failure, Retry] = {
    Failure.SERVER: BUSY,
    Failure.TOO_MANY: BUSY,
    Failure.CONNECTION: Retry(6, 1.0, 2.0, 60.0, hint=60.0),
    Failure.TIMEOUT: Retry(6, 1.0, 2.0, 60.0, hint=60.0),
}
# How often a page that is broken is asked for before the harvest goes on with what it has.
TRIES = 3
# A token that the server does not know, where it says so by its status instead of an OAI-PMH error.
FORGOTTEN = frozenset({Failure.BAD_REQUEST, Failure.NOT_FOUND, Failure.OTHER})


@dataclass(frozen=True, slots=True)
class Query:
    """What to list. Dates as the server's granularity has them: 2024-01-31 or 2024-01-31T00:00:00Z."""

    endpoint: str
    prefix: str = "oai_dc"
    since: str | None = None
    until: str | None = None
    set: str | None = None

    def url(self, token: str | None = None, since: str | None = None) -> str:
        """The request for the first page, or for the page behind a token."""
        given = (
            {"resumptionToken": token}
            if token
            else {
                "metadataPrefix": self.prefix,
                "from": since or self.since,
                "until": self.until,
                "set": self.set,
            }
        )
        arguments = {"verb": "ListRecords"} | {name: value for name, value in given.items() if value}
        return f"{self.endpoint}{'&' if '?' in self.endpoint else '?'}{urlencode(arguments)}"


@dataclass(frozen=True, slots=True)
class State:
    """How far a harvest has come: the token of the next page; the pages used; the last datestamp, and if in order."""

    query: Query
    token: str | None = None
    pages: int = 0
    latest: str = ""
    ordered: bool = True
    done: bool = False

    def after(self, page: Page) -> "State":
        """The state when a page is used."""
        stamps = [record.datestamp for record in page.records if record.datestamp]
        return replace(
            self,
            token=page.token,
            pages=self.pages + 1,
            latest=max([self.latest, *stamps]),
            ordered=self.ordered and [self.latest, *stamps] == sorted([self.latest, *stamps]),
            done=page.token is None,
        )

    def again_since(self) -> str | None:
        """Where to list again: the last datestamp, as coarse as `until` is (the protocol wants them alike)."""
        if not (self.ordered and self.latest):
            return self.query.since
        return self.latest[: len(self.query.until)] if self.query.until else self.latest


def load(path: Path, query: Query) -> State:
    """The state of an interrupted harvest; a new one where there is no file or the last harvest was finished."""
    try:
        held = json.loads(path.read_text("utf-8"))
        state = State(**(held | {"query": Query(**held["query"])}))
    except FileNotFoundError:
        return State(query)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"--state {path}: not the state of a harvest ({error}); remove it") from error
    if state.query != query:
        raise ConfigurationError(f"--state {path}: that is the state of another harvest: {asdict(state.query)}")
    return State(query) if state.done else state


def save(path: Path, state: State) -> None:
    """Write the state so that there is always a whole one."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(asdict(state), indent=1) + "\n", "utf-8")
    new.replace(path)


@dataclass
class Harvest:
    """A harvest under way. `state` is what to save once the page that was given last is used."""

    client: Client
    state: State
    notes: list[str] = field(default_factory=list)

    def pages(self) -> Iterator[Page]:
        """The pages from the state on. Unavailable where the server gives none: go on later from the state.

        ConfigurationError for what the server refuses (a prefix, a set, a date).
        """
        since, listed = None, ""
        while not self.state.done:
            token = self.state.token
            page = self._page(token, since)
            if page is None:
                since = self.state.again_since()
                if listed == (listed := f"{since} {self.state.latest}"):
                    raise Unavailable(f"{self.state.query.endpoint}: its tokens are forgotten before they can be used")
                self._note(f"the server has forgotten the token; listing again from {since or 'the start'}")
                self.state = replace(self.state, token=None)
                continue
            if page.token is not None and page.token == token:
                page = replace(page, token=None, broken="its token is that of the next page, which would never end")
            if page.broken and page.token is None:
                yield page
                raise Unavailable(f"page {self.state.pages + 1} is broken and names no next one: {page.broken}")
            self.state = self.state.after(page)
            yield page

    def _page(self, token: str | None, since: str | None) -> Page | None:
        """A page, asked for again while it is broken; None where its token is unknown."""
        url = self.state.query.url(token, since)
        for attempt in range(1, TRIES + 1):
            try:
                page = parse(self.client.get(url).body)
            except HttpError as error:
                if token and error.failure in FORGOTTEN:
                    return None
                raise _refused(error) from error
            if not page.broken or attempt == TRIES:
                break
            self._note(f"a broken page, asked for again: {page.broken}")
        code, words = page.error or ("", "")
        if code == "badResumptionToken" and token:
            return None
        if code and code != "noRecordsMatch":
            raise ConfigurationError(f"{self.state.query.endpoint} refuses: {code}: {words}")
        return page

    def _note(self, text: str) -> None:
        self.notes.append(f"page {self.state.pages + 1}: {text}")


def _refused(error: HttpError) -> ConfigurationError | Unavailable:
    if error.failure in FORGOTTEN:
        return ConfigurationError(f"{error}: is this the base URL of an OAI-PMH endpoint?")
    return Unavailable(f"{error}: the harvest can go on later, with the same --state")
