"""Every exchange of one document's session, kept as a WARC file on disk until it is known what the document is.

Bodies come in pieces and side by side, records are written one after another: each body is spooled (small ones in
memory, others on disk) and written, in a thread, when it has ended. So memory holds little, however large the bodies
are; `warc_bytes` bounds the disk. What the disk refuses is told at the end, never as a fault of the web.
"""

import asyncio
import tempfile
from collections import deque
from datetime import datetime
from importlib.metadata import version
from typing import BinaryIO, cast

from sandcrawler import __version__
from sandcrawler.config import Config
from sandcrawler.errors import Unavailable
from sandcrawler.fetch.base import Exchange
from sandcrawler.fetch.revisit import RevisitingWarcFile, answers_condition
from sandcrawler.fetch.warcfile import Member
from sandcrawler.model import Capture, CdxRow

IN_MEMORY = 1 << 18  # of one body
# The settings that tell how a capture came about; no address, name or key is among them.
SETTINGS = (
    "fetch_body_bytes",
    "fetch_connect_seconds",
    "fetch_host_gap",
    "fetch_host_parallel",
    "fetch_read_seconds",
    "fetch_redirects",
    "ingest_hops",
    "ingest_resources",
    "ingest_seconds",
    "warc_bytes",
)


def warcinfo(config: Config) -> dict[str, str]:
    """The fields of the file's first record."""
    return {
        "software": f"sandcrawler/{__version__} aiohttp/{version('aiohttp')} warcio/{version('warcio')}",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "http-header-user-agent": config.fetch_user_agent,
        "robots": "obey" if config.fetch_robots else "ignore",
        "sandcrawler-settings": " ".join(f"{name}={getattr(config, name)}" for name in SETTINGS),
    }


class Recording:
    """A `Recorder`: one WARC file, open as long as its document is worked on."""

    def __init__(self, config: Config) -> None:
        self.revisits = False
        """Whether payloads that are there already become revisit records: the document itself stands in full."""
        self.known: CdxRow | None = None
        """The capture that the document is asked for on condition of."""
        self._config = config
        self._room = config.warc_bytes
        self._warc: RevisitingWarcFile | None = None
        self._members: dict[tuple[str, datetime], Member] = {}
        self._ended: deque[tuple[SpooledTake, bool]] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._failure: OSError | None = None

    def begin(self, exchange: Exchange) -> "SpooledTake":
        return SpooledTake(self, exchange)

    async def file(self) -> BinaryIO | None:
        """The whole file, every exchange in it; None where there was none. Unavailable: the disk is full."""
        while self._writing and not self._writing.done():
            await self._writing
        if self._failure:
            raise Unavailable(f"the WARC cannot be written in {tempfile.gettempdir()}: {self._failure}")
        return self._warc.file if self._warc else None

    def member(self, capture: Capture) -> Member | None:
        """Where the record of a capture's terminal response stands, if it was written in full."""
        found = self._members.get((capture.terminal_url, capture.when))
        return found if found and found.whole else None

    async def close(self) -> None:
        """Forget everything."""
        if self._writing:
            await asyncio.wait({self._writing})
        if self._warc:
            self._warc.file.close()

    def take_room(self, size: int) -> bool:
        """Whether so many more bytes may be kept."""
        if size > self._room:
            return False
        self._room -= size
        return True

    def failed(self, error: OSError) -> None:
        self._failure = self._failure or error

    def ended(self, take: "SpooledTake") -> None:
        self._ended.append((take, self.revisits))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self._ended:
            take, revisits = self._ended.popleft()
            try:
                if not self._failure:
                    await asyncio.to_thread(self._add, take, revisits)
            except OSError as error:
                self.failed(error)
            finally:
                take.body.close()

    def _add(self, take: "SpooledTake", revisits: bool) -> None:
        if self._warc is None:
            file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
            self._warc = RevisitingWarcFile(file, warcinfo(self._config))
        exchange = take.exchange
        if self.known and answers_condition(exchange, self.known):
            self._warc.add_unchanged(exchange, self.known)
            return
        member = self._warc.add(exchange, cast(BinaryIO, take.body), take.truncated, revisits=revisits)
        self._members[exchange.url, exchange.when] = member


class SpooledTake:
    """A `Take`: one body on its way into the file."""

    def __init__(self, recording: Recording, exchange: Exchange) -> None:
        self.exchange = exchange
        self.body = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed when it is written)
        self.truncated: str | None = None
        self._recording = recording

    def feed(self, piece: bytes) -> None:
        if self.truncated:
            return
        if not self._recording.take_room(len(piece)):
            self.truncated = "length"
            return
        try:
            self.body.write(piece)
        except OSError as error:
            self._recording.failed(error)

    def end(self, truncated: str | None = None) -> None:
        self.truncated = self.truncated or truncated
        self._recording.ended(self)
