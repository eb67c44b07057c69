"""The back end `warc:PATH|URL`: answers come from an existing WARC file (.warc or .warc.gz, of any size).

The file is indexed once, when the fetcher opens, and records are read where they stand. Answers are what the live web
would have given at that time: redirects are followed within the file, content codings undone under the same limits,
revisits resolved to the payload that they refer to. What the file does not hold is `no-capture`.
A file on the web is copied to a temporary file first, through the address guard like everything else.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from sandcrawler.config import Config
from sandcrawler.fetch.base import Recorder, Refused
from sandcrawler.fetch.download import downloaded
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.judgement import decoder, judged, of_code
from sandcrawler.fetch.target import ANY_PORT, Target
from sandcrawler.fetch.warcindex import Entry, WarcIndex
from sandcrawler.fetch.warcrecord import Damaged, HttpHead, Record, opened
from sandcrawler.model import Capture, WarcPlace
from sandcrawler.status import Status

WEB = ("http://", "https://")
NOT_MODIFIED = 304
# Around a body in its record: the head, and what chunks add.
OVERHEAD = 1 << 20


class WarcFetcher:
    """One WARC file's captures. Use as an async context manager, which reads the file through."""

    def __init__(self, config: Config, place: str) -> None:
        self.config = config
        self.place = place if place.startswith(WEB) else str(Path(place).absolute())
        self._index: WarcIndex | None = None
        self._copy: IO[bytes] | None = None

    async def __aenter__(self) -> Self:
        """ConfigurationError: the file is not there, or no WARC."""
        path = Path(self.place)
        if self.place.startswith(WEB):
            self._copy = await downloaded(self.place, self.config)
            path = Path(self._copy.name)
        try:
            self._index = await asyncio.to_thread(WarcIndex, path)
        except BaseException:
            self._forget()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._index:
            self._index.close()
        self._forget()

    @asynccontextmanager
    async def session(self, recorder: Recorder | None = None) -> AsyncIterator["Session"]:  # noqa: ARG002
        """A session for one document. Nothing is recorded: it is in a WARC already."""
        if self._index is None:
            raise RuntimeError("a WarcFetcher is used as an async context manager")
        yield Session(self.config, self._index, self.place)

    def _forget(self) -> None:
        if self._copy:
            self._copy.close()


class Session:
    """Answers from one index; there is nothing that one document could leave behind for the next."""

    def __init__(self, config: Config, index: WarcIndex, place: str) -> None:
        self._config = config
        self._index = index
        self._place = place

    async def get(self, url: str, deadline: float | None = None) -> Capture:
        """The URL, followed through redirects that the file holds."""

        async def ask(target: Target) -> Capture:
            try:
                async with asyncio.timeout(None if deadline is None else deadline - time.monotonic()):
                    return await asyncio.to_thread(self._answer, target)
            except TimeoutError:
                return _nothing(target, Status.TIMEOUT, "the file was not read in time")

        return await follow(ask, lambda _: "", url, self._config.fetch_redirects, ANY_PORT)

    def _answer(self, target: Target) -> Capture:
        entry = self._index.best(target.url)
        if entry is None:
            return _nothing(target, Status.NO_CAPTURE, f"{self._place} has no capture of it")
        answer = replace(_nothing(target, Status.WAYBACK_CONTENT_ERROR, ""), when=_moment(entry.moment))
        try:
            return self._read(entry, answer)
        except Refused as refused:
            return replace(answer, status=refused.status, error_message=str(refused))
        except (Damaged, OSError, EOFError, ValueError) as error:
            return replace(answer, error_message=f"{self._place}, byte {entry.start}: {error}"[:800])

    def _read(self, entry: Entry, answer: Capture) -> Capture:
        """The capture of an entry; a revisit's head stays its own, its body is that of the first capture."""
        if entry.kind != "revisit":
            return self._capture(entry, answer, None)
        first = self._index.first(entry)
        if first is None:
            return replace(answer, status=Status.NO_CAPTURE, error_message="what the revisit refers to is not there")
        own = None
        if entry.code != NOT_MODIFIED:
            with opened(self._index.path, entry.start) as revisit:
                own = revisit.head()
        return self._capture(first, answer, own)

    def _capture(self, entry: Entry, answer: Capture, own: HttpHead | None) -> Capture:
        with opened(self._index.path, entry.start) as record:
            stored = record.head()
            shown = own or stored
            answer = replace(
                answer,
                status=of_code(shown.code),
                status_code=shown.code,
                headers=shown.headers,
                error_message=None,
                place=WarcPlace(self._place, entry.start, entry.size),
            )
            if shown.code in REDIRECTS:
                return answer
            try:
                return judged(answer, self._body(record, stored))
            except Refused as refused:
                return replace(answer, status=refused.status, error_message=str(refused))

    def _body(self, record: Record, head: HttpHead) -> bytes:
        """The body, content codings undone. Refused as for a live response; Damaged."""
        cap = self._config.fetch_body_bytes
        if record.size > cap + OVERHEAD:
            raise Refused(Status.BODY_TOO_LARGE, f"more than {cap} bytes")
        content_type = head.header("content-type").partition(";")[0].strip().lower()
        body, size = decoder(content_type, head.all("content-encoding"), cap), 0
        for piece in record.body(head):
            size += len(piece)
            body.feed(piece)
        if record.truncated:
            raise Refused(Status.TRUNCATED_BODY, f"the record was cut when it was made: {record.truncated}")
        length = head.header("content-length")
        if length.isascii() and length.isdigit() and size < int(length):
            raise Refused(Status.TRUNCATED_BODY, f"{size} of {length} bytes were recorded")
        return body.finish()


def _nothing(target: Target, status: Status, message: str) -> Capture:
    return Capture(target.url, status, (target.url,), datetime.now(UTC), target.url, error_message=message)


def _moment(text: str) -> datetime:
    """A WARC-Date; its absence is the beginning of time."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
