"""What an OAI-PMH harvest is, and how far it has come: values, and the file that keeps them for the next time."""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlencode

from pydantic import TypeAdapter

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.oai_records import Page

# The protocol's two granularities: how a date looks -> its form.
DATES: Mapping[re.Pattern[str], str] = {
    re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"): "%Y-%m-%d",
    re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"): "%Y-%m-%dT%H:%M:%SZ",
}


@dataclass(frozen=True, slots=True)
class Query:
    """What to list. Dates as the server's granularity has them: 2024-01-31 or 2024-01-31T00:00:00Z."""

    endpoint: str
    prefix: str = "oai_dc"
    since: str | None = None
    until: str | None = None
    set: str | None = None

    def __post_init__(self) -> None:
        """ConfigurationError for what no server can take."""
        if not self.endpoint.lower().startswith(("http://", "https://")):
            raise ConfigurationError(f"{self.endpoint!r} is no http or https address")
        if not self.prefix.strip():
            raise ConfigurationError("--prefix: a metadataPrefix is needed, such as oai_dc")
        since, until = _form(self.since, "--from"), _form(self.until, "--until")
        if since and until and since != until:
            raise ConfigurationError("--from and --until: both must be days, or both moments")
        if self.since and self.until and self.since > self.until:
            raise ConfigurationError(f"--from {self.since} is later than --until {self.until}")

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


def _form(date: str | None, option: str) -> str | None:
    """Which of the granularities a date has. ConfigurationError where it is none, or no day of the calendar."""
    if date is None:
        return None
    for pattern, form in DATES.items():
        if pattern.fullmatch(date):
            try:
                datetime.strptime(date, form)  # noqa: DTZ007  (only whether it is one)
            except ValueError:
                break
            return form
    raise ConfigurationError(f"{option}: {date!r} is no date: write 2024-01-31 or 2024-01-31T12:00:00Z")


def load(path: Path, query: Query) -> State:
    """The state of an interrupted harvest; a new one where there is no file or the last harvest was finished.

    ConfigurationError where the file is something else, or cannot be written: better known now than after a page.
    """
    if path.exists() and not path.is_file():
        raise ConfigurationError(f"--state {path} is no file")
    try:
        state = TypeAdapter(State).validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        state = State(query)
    except OSError as error:
        raise ConfigurationError(f"--state {path}: {error.strerror}") from error
    except (ValueError, ConfigurationError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigurationError(f"--state {path}: not the state of a harvest ({reason}); remove it") from error
    if state.query != query:
        raise ConfigurationError(f"--state {path}: that is the state of another harvest: {asdict(state.query)}")
    state = State(query) if state.done else state
    try:
        save(path, state)
    except OSError as error:
        raise ConfigurationError(f"--state {path} cannot be written: {error.strerror}") from error
    return state


def save(path: Path, state: State) -> None:
    """Write the state so that there is always a whole one."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(asdict(state), indent=1) + "\n", "utf-8")
    new.replace(path)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Nobody else harvests with this state meanwhile: two would take turns at overwriting each other's place.

    ConfigurationError where somebody does. The lock ends with the process, whatever it dies of.
    """
    place = path.with_name(f".{path.name}.lock")
    try:
        handle = _locked(place)
    except BlockingIOError as error:
        raise ConfigurationError(f"--state {path}: another harvest is at it") from error
    except OSError as error:
        raise ConfigurationError(f"--state {path} cannot be locked: {error.strerror}") from error
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(handle)


def _locked(place: Path) -> int:
    """The lock's file, open. One that its last holder has deleted meanwhile locks nobody out."""
    while True:
        handle = os.open(place, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if place.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
