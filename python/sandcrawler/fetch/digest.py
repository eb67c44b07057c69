"""What is kept of a sub-resource: its digests and size, and of its bytes as many as are looked at."""

import asyncio
import hashlib
from typing import Protocol, runtime_checkable

from sandcrawler.extract.sniff import SNIFFED_BYTES
from sandcrawler.fetch.base import Session
from sandcrawler.model import Capture

STYLE_SHEET = "text/css"
# Longer style sheets are captured, but not searched for what they ask for.
SHEET_BYTES = 2 << 20
# Hashing this much takes longer than a switch to a thread.
LARGE_BODY = 1 << 18


class Digest:
    """A body that is hashed as it arrives, and let go but for its beginning."""

    def __init__(self, content_type: str | None) -> None:
        sheet = (content_type or "").strip().lower().startswith(STYLE_SHEET)
        self.size, self._keep, self._kept = 0, SHEET_BYTES if sheet else SNIFFED_BYTES, bytearray()
        self._sheet = sheet
        self._sha1, self._sha256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256()

    def write(self, data: bytes) -> None:
        """The next bytes, content codings undone."""
        self.size += len(data)
        self._sha1.update(data)
        self._sha256.update(data)
        if len(self._kept) < self._keep:
            self._kept += data[: self._keep - len(self._kept)]

    def tell(self) -> int:
        """How many bytes there were."""
        return self.size

    def getvalue(self) -> bytes:
        """The beginning."""
        return bytes(self._kept)

    @property
    def sha1hex(self) -> str:
        return self._sha1.hexdigest()

    @property
    def sha256hex(self) -> str:
        return self._sha256.hexdigest()

    @property
    def sheet(self) -> bytes | None:
        """The whole body of a style sheet that is not too long to be searched."""
        return self.getvalue() if self._sheet and self.size <= self._keep else None

    def forget(self) -> None:
        """The beginning is needed no longer."""
        self._kept.clear()


@runtime_checkable
class Digesting(Protocol):
    """A session that need not hold a body to hash it."""

    async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest | None]:
        """As `get`; the capture's body is the beginning alone. The digest is that of the terminal response."""
        ...


async def digest(session: Session, url: str, deadline: float | None = None) -> tuple[Capture, Digest | None]:
    """A URL's capture and digest, from a session of either kind."""
    if isinstance(session, Digesting):
        return await session.digest(url, deadline)
    capture = await session.get(url, deadline)
    return capture, await digested(capture)


async def digested(capture: Capture) -> Digest:
    """The digest of a body that was collected."""
    taken, body = Digest(capture.header("content-type")), capture.body or b""
    if len(body) >= LARGE_BODY:
        await asyncio.to_thread(taken.write, body)
    else:
        taken.write(body)
    return taken
