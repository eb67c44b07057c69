"""What the web answered, kept as a WARC before the result that points into it goes out.

Kept is what has a row in the capture index: every document whose bytes are known, with all that was fetched for it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO, Protocol

from sandcrawler.config import Config
from sandcrawler.fetch.condition import unchanged
from sandcrawler.fetch.recording import Recording
from sandcrawler.ingest.outcome import Outcome
from sandcrawler.model import Capture, CdxRow


class Store(Protocol):
    """Where WARCs come to rest; see `persist.warcs`."""

    def put(self, cdx: CdxRow, file: BinaryIO) -> str:
        """Keep the file; its path."""
        ...

    def put_revisit(self, cdx: CdxRow, moment: str, file: BinaryIO) -> str:
        """Keep a file that says that this capture still held at a moment (14 digits); its path."""
        ...


@dataclass(frozen=True)
class Archive:
    """Records documents into `store`; without one, nothing is recorded."""

    store: Store | None = None

    @asynccontextmanager
    async def recording(self, config: Config) -> AsyncIterator[Recording | None]:
        """One document's recording, gone after the block."""
        if self.store is None:
            yield None
            return
        recording = Recording(config)
        try:
            yield recording
        finally:
            await recording.close()

    async def keep(self, recording: Recording | None, outcome: Outcome, capture: Capture | None) -> Outcome:
        """The outcome, its capture's WARC kept and named in its row. Unavailable: the store cannot do it now."""
        cdx = outcome.result.cdx
        if self.store is None or recording is None or cdx is None or capture is None:
            return outcome
        file = await recording.file()
        if file is not None and unchanged(capture):  # kept beside the capture that it refers to; its row stays
            await asyncio.to_thread(self.store.put_revisit, cdx, f"{capture.when:%Y%m%d%H%M%S}", file)
            return outcome
        member = recording.member(capture)
        if file is None or member is None:  # nothing was asked for on the web: it came from an archive
            return outcome
        path = await asyncio.to_thread(self.store.put, cdx, file)
        place = {"warc_path": path, "warc_offset": member.offset, "warc_csize": member.csize}
        return replace(outcome, result=outcome.result.model_copy(update={"cdx": cdx.model_copy(update=place)}))


NO_ARCHIVE = Archive()
