"""The back end `warc:PATH|URL`: answers come from an existing WARC file (.warc or .warc.gz, of any size), or a folder.

A file is indexed once, when the fetcher opens, and records are read where they stand. Answers are what the live web
would have given at that time: redirects are followed within the file, content codings undone under the same limits,
revisits resolved to the payload that they refer to. What the file does not hold is `no-capture`.
A file on the web is copied to a temporary file first, through the address guard like everything else.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from sandcrawler.config import Config
from sandcrawler.fetch.allowance import allowed
from sandcrawler.fetch.base import Recorder, Refused
from sandcrawler.fetch.bodies import BodySession
from sandcrawler.fetch.download import downloaded
from sandcrawler.fetch.hops import REDIRECTS, follow
from sandcrawler.fetch.intake import Incoming, Intake
from sandcrawler.fetch.judgement import judged, of_code
from sandcrawler.fetch.target import ANY_PORT, Target
from sandcrawler.fetch.warchttp import Damaged, HttpHead
from sandcrawler.fetch.warcindex import Entry, WarcIndex
from sandcrawler.fetch.warcrecord import Record, opened
from sandcrawler.model import Capture, WarcPlace
from sandcrawler.status import Status

WEB = ("http://", "https://")
NOT_MODIFIED = 304
# What a body was put through, in this order; chunks, which are named here too, are undone before.
CODINGS = ("content-encoding", "transfer-encoding", "x-archive-orig-transfer-encoding")
# Around a body in its record: the head, and what chunks add.
OVERHEAD = 1 << 20


class WarcFetcher:
    """The captures of a WARC file, or of all below a folder. Use as an async context manager, which reads them."""

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
        session = Session(self.config, self._index, self.place)
        try:
            yield session
        finally:
            session.release()

    def _forget(self) -> None:
        if self._copy:
            self._copy.close()


class Session(BodySession):
    """Answers from one index; there is nothing that one document could leave behind for the next."""

    def __init__(self, config: Config, index: WarcIndex, place: str) -> None:
        super().__init__(config)
        self._config = config
        self._index = index
        self._place = place

    async def fetch(self, url: str, deadline: float | None, intake: Intake) -> Capture:
        """The URL, followed through redirects that the file holds."""

        async def ask(target: Target) -> Capture:
            try:
                async with allowed(None if deadline is None else deadline - time.monotonic()):
                    return await self._answer(target, intake)
            except TimeoutError:
                return _nothing(target, Status.TIMEOUT, "the file was not read in time")

        return await follow(ask, lambda _: "", url, self._config.fetch_redirects, ANY_PORT)

    async def _answer(self, target: Target, intake: Intake) -> Capture:
        entry = await asyncio.to_thread(self._index.best, target.url)
        if entry is None:
            return _nothing(target, Status.NO_CAPTURE, f"{self._place} has no capture of it")
        answer = replace(_nothing(target, Status.WAYBACK_CONTENT_ERROR, ""), when=_moment(entry.moment))
        try:
            return await self._read(entry, answer, intake)
        except Refused as refused:
            return replace(answer, status=refused.status, error_message=str(refused))
        except (Damaged, OSError, EOFError, ValueError) as error:
            return replace(answer, error_message=f"{self._where(entry)}, byte {entry.start}: {error}"[:800])

    def _where(self, entry: Entry) -> str:
        """The file of an entry, by the name that the operator gave, or within the folder that the operator named."""
        return self._place if entry.file == str(self._index.path) else entry.file

    async def _read(self, entry: Entry, answer: Capture, intake: Intake) -> Capture:
        """The capture of an entry; a revisit's head stays its own, its body is that of the first capture."""
        if entry.kind != "revisit":
            return await self._capture(entry, answer, None, intake)
        first = await asyncio.to_thread(self._index.first, entry)
        if first is None:
            return replace(answer, status=Status.NO_CAPTURE, error_message="what the revisit refers to is not there")
        own = None
        if entry.code != NOT_MODIFIED:
            async with reading(Path(entry.file), entry.start) as revisit:
                own = await asyncio.to_thread(revisit.head)
        return await self._capture(first, answer, own, intake)

    async def _capture(self, entry: Entry, answer: Capture, own: HttpHead | None, intake: Intake) -> Capture:
        async with reading(Path(entry.file), entry.start) as record:
            stored = await asyncio.to_thread(record.head)
            shown = own or stored
            answer = replace(
                answer,
                status=of_code(shown.code),
                status_code=shown.code,
                headers=shown.headers,
                error_message=None,
                place=WarcPlace(self._where(entry), entry.start, entry.size),
            )
            if shown.code in REDIRECTS:
                return answer
            try:
                return judged(answer, await intake.body(_incoming(record, stored, intake.cap)))
            except Refused as refused:
                return replace(answer, status=refused.status, error_message=str(refused))


@asynccontextmanager
async def reading(path: Path, offset: int) -> AsyncIterator[Record]:
    """`opened`, the file read in a thread."""
    with ExitStack() as stack:
        yield await asyncio.to_thread(stack.enter_context, opened(path, offset))


def _incoming(record: Record, head: HttpHead, cap: int) -> Incoming:
    """A record's body; its pieces raise Damaged, too."""
    encodings = [word for name in CODINGS for word in head.all(name)]
    return Incoming(head.header("content-type"), encodings, record.size, _pieces(record, head, cap))


async def _pieces(record: Record, head: HttpHead, cap: int) -> AsyncGenerator[bytes]:
    if record.size > cap + OVERHEAD:
        raise Refused(Status.BODY_TOO_LARGE, f"more than {cap} bytes")
    pieces, size = record.body(head), 0
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        size += len(piece)
        yield piece
    if record.truncated:
        raise Refused(Status.TRUNCATED_BODY, f"the record was cut when it was made: {record.truncated}")
    length = head.header("content-length")
    if length.isascii() and length.isdigit() and size < int(length):
        raise Refused(Status.TRUNCATED_BODY, f"{size} of {length} bytes were recorded")


def _nothing(target: Target, status: Status, message: str) -> Capture:
    return Capture(target.url, status, (target.url,), datetime.now(UTC), target.url, error_message=message)


def _moment(text: str) -> datetime:
    """A WARC-Date; its absence is the beginning of time."""
    try:
        when = datetime.fromisoformat(text)
        return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)
