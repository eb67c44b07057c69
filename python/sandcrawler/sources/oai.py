"""Harvesting a live OAI-PMH endpoint, page by page, so that an interruption costs at most one page.

    list, or the state's token ─► page ─► the caller uses it ─► state saved ─► the next token …

The state file is written after the caller is done with a page. A token that the server has forgotten meanwhile means
to list again: from the last datestamp where the list has come in order of datestamps so far, else from the start (what
is asked for twice does no harm, what is passed over would). The protocol's libraries at hand repair broken XML in
silence, so records and the token after the break are lost without a word: hence these lines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import structlog

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.sources.failures import Failure, HttpError
from sandcrawler.sources.http import Client, Retry
from sandcrawler.sources.oai_records import Page, parse
from sandcrawler.sources.oai_state import State
from sandcrawler.sources.seen import Seen

log = structlog.get_logger()

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
# What no later try will mend.
REFUSED = FORGOTTEN | {Failure.NOWHERE}
# Seconds between two askings for a page that is broken.
BROKEN_SECONDS = 2.0
# So many pages without a record, one after another, are a list without end.
EMPTY_PAGES = 1000
# How often people hear how far it is.
TOLD_PAGES = 50


@dataclass
class Harvest:
    """A harvest under way. `state` is what to save once the page that was given last is used."""

    client: Client
    state: State

    def pages(self) -> Iterator[Page]:
        """The pages from the state on. Unavailable where the server gives none: go on later from the state.

        ConfigurationError for what the server refuses (a prefix, a set, a date).
        """
        since, listed, empty, came = None, "", 0, Seen()
        while not self.state.done:
            token = self.state.token
            came.add(token or "")
            page = self._page(token, since)
            if page is None:
                since = self.state.again_since()
                if listed == (listed := f"{since} {self.state.latest}"):
                    raise Unavailable(f"{self.state.query.endpoint}: its tokens are forgotten before they can be used")
                log.warning("token forgotten, listing again", page=self.state.pages + 1, since=since or "the start")
                self.state, came = replace(self.state, token=None), Seen()
                continue
            if page.token is not None and not came.add(page.token):
                page = replace(page, token=None, broken="its token came before: the list would never end")
            if page.broken and page.token is None:
                yield page
                raise Unavailable(f"page {self.state.pages + 1} is broken and names no next one: {page.broken}")
            empty = 0 if page.records else empty + 1
            if empty > EMPTY_PAGES:
                raise Unavailable(f"{self.state.query.endpoint}: {EMPTY_PAGES} pages without a record and no end")
            self.state = self.state.after(page)
            if self.state.pages % TOLD_PAGES == 0:
                log.info("harvesting", pages=self.state.pages, latest=self.state.latest)
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
            if page.foreign and not (token or self.state.pages):
                raise ConfigurationError(f"{url}: {page.broken}: is this the base URL of an OAI-PMH endpoint?")
            if not page.broken or attempt == TRIES:
                break
            log.warning("broken page, asked for again", page=self.state.pages + 1, error=page.broken)
            self.client.sleeper(BROKEN_SECONDS)
        code, words = page.error or ("", "")
        if code == "badResumptionToken" and token:
            return None
        if code and code != "noRecordsMatch":
            raise ConfigurationError(f"{self.state.query.endpoint} refuses: {code}: {words}")
        return page


def _refused(error: HttpError) -> ConfigurationError | Unavailable:
    if error.failure in REFUSED:
        return ConfigurationError(f"{error}: is this the base URL of an OAI-PMH endpoint?")
    return Unavailable(f"{error}: the harvest can go on later, with the same --state")
