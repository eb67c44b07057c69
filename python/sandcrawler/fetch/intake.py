"""How the bodies of one call are taken in: collected within the worker's budget, cut after a part, or hashed.

Every back end hands its bodies over as they come from the wire or the file (`Incoming`). Codings are undone piece by
piece, with a pause for the other documents after each `BREATH` of them, since a megabyte can hold a gigabyte.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from sandcrawler.fetch.base import Refused, Take
from sandcrawler.fetch.budget import Holding
from sandcrawler.fetch.decode import Body
from sandcrawler.fetch.digest import Digest
from sandcrawler.fetch.judgement import decoder
from sandcrawler.status import Status

BREATH = 1 << 20


@dataclass(frozen=True, slots=True)
class Incoming:
    """A body on its way. `content_type`: the header; `length`: its bytes, codings not undone, at most, where known.

    `pieces` is closed when no more is wanted; it raises Refused where the body ends early.
    """

    content_type: str
    encodings: Sequence[str]
    length: int | None
    pieces: AsyncGenerator[bytes]


@dataclass
class Intake:
    """At most `cap` bytes of each body; `part`: what is longer is cut there, and no fault.

    `holding` pays for what is collected. `hashed`: nothing is, and `digest` is that of the last body.
    `take` records the answer that is being read.
    """

    cap: int
    holding: Holding | None = None
    part: bool = False
    hashed: bool = False
    digest: Digest | None = None
    take: Take | None = None

    def release(self) -> None:
        """What was taken in until now is not needed. To be called before waiting for anything that others hold."""
        if self.holding:
            self.holding.release()

    async def body(self, incoming: Incoming) -> bytes:
        """A body, its codings undone; where bodies are hashed, its beginning. Refused, TimeoutError."""
        self.release()
        self.digest = Digest(incoming.content_type) if self.hashed else None
        plain = incoming.content_type.partition(";")[0].strip().lower()
        async with aclosing(incoming.pieces) as pieces:
            body = decoder(plain, incoming.encodings, self.cap, self.digest)
            length = self.cap if incoming.length is None else incoming.length
            most = self.cap if body.coded else min(self.cap, length)
            try:
                async for piece in pieces:
                    if self.take:
                        self.take.feed(piece)
                    await self._feed(body, piece, most)
            except Refused as refused:
                if not self.part or refused.status is not Status.BODY_TOO_LARGE:
                    raise
                return body.so_far()
        whole = body.finish()
        if self.holding:
            self.holding.keep(len(whole))
        return whole

    async def _feed(self, body: Body, piece: bytes, most: int) -> None:
        breath = BREATH + body.size
        for size in body.feeding(piece):
            if self.holding:
                await self.holding.grow(size, most)
            if size > breath:
                breath = BREATH + size
                await asyncio.sleep(0)
