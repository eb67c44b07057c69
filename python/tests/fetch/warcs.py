"""A web of raw responses fetched with a recorder, and the records that came of it, as warcio itself reads them."""

import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.recording import Recording
from sandcrawler.fetch.warcfile import Member
from sandcrawler.model import Capture
from tests.fetch.web import Page, Web, run

HOST = "http://journal.example.org"


@dataclass(frozen=True)
class Record:
    """One record. `fields`: WARC headers; `head`: first line and headers of HTTP; `body`: as recorded."""

    kind: str
    url: str | None
    fields: dict[str, str]
    status: str
    head: dict[str, str]
    body: bytes


def records(data: bytes) -> Iterator[Record]:
    """Every record of a WARC's bytes."""
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise"):
        http = record.http_headers
        yield Record(
            record.rec_type,
            record.rec_headers.get_header("WARC-Target-URI"),
            dict(record.rec_headers.headers),
            http.statusline if http else "",
            {name.lower(): value for name, value in http.headers} if http else {},
            record.raw_stream.read(),
        )


def checked(path: Path) -> bool:
    """Whether `warcio check` finds nothing wrong."""
    command = type("Command", (), {"inputs": [str(path)], "verbose": False})
    return Checker(command()).process_all() == 0


@dataclass(frozen=True)
class Taped:
    """A recorded session: its captures, its WARC's bytes, and where each capture's record stands."""

    captures: list[Capture]
    data: bytes
    members: list[Member | None]

    @property
    def records(self) -> list[Record]:
        return list(records(self.data))

    def of(self, kind: str) -> list[Record]:
        return [record for record in self.records if record.kind == kind]

    def member(self, index: int = 0) -> Record:
        """The record in the byte range of one capture, read alone."""
        place = self.members[index]
        assert place is not None
        (record,) = records(self.data[place.offset : place.offset + place.csize])
        return record


def tape(
    pages: dict[str, Page],
    *urls: str,
    folder: Path | None = None,
    seconds: float = 20,
    parts: Sequence[str] = (),
    **more: Any,
) -> Taped:
    """Fetch URLs one after another, then `parts` (which may be revisits), all in one recording."""

    async def work() -> Taped:
        async with Web(pages) as web:
            config = web.config(None, **more)
            recording = Recording(config)
            async with Fetcher(config) as fetcher, fetcher.session(recording) as session:
                captures = [await session.get(url, time.monotonic() + seconds) for url in urls]
                recording.revisits = True
                captures += [await session.get(url, time.monotonic() + seconds) for url in parts]
            file = await recording.file()
            assert file is not None
            file.seek(0)
            data = file.read()
            if folder:
                (folder / "made.warc.gz").write_bytes(data)
            members = [recording.member(capture) for capture in captures]
            await recording.close()
            return Taped(captures, data, members)

    return run(work())
