"""How the bodies of one call are taken in: collected within the worker's budget, cut after a part, or hashed.

Codings are undone piece by piece, with a pause for the other documents after each `BREATH` of them, since a megabyte
can hold a gigabyte.
"""

import asyncio
from dataclasses import dataclass

import aiohttp

from sandcrawler.fetch import faults
from sandcrawler.fetch.base import Refused, Take
from sandcrawler.fetch.budget import Holding
from sandcrawler.fetch.decode import Body
from sandcrawler.fetch.digest import Digest
from sandcrawler.fetch.judgement import decoder
from sandcrawler.status import Status

BREATH = 1 << 20


@dataclass
class Intake:
    """At most `cap` bytes of each body; `part`: what is longer is cut there, and no fault.

    `holding` pays for what is collected; without one, bodies are hashed and `digest` is that of the last.
    `take` records the answer that is being read.
    """

    cap: int
    holding: Holding | None = None
    part: bool = False
    digest: Digest | None = None
    take: Take | None = None

    async def body(self, response: aiohttp.ClientResponse) -> bytes:
        """A response's body, its codings undone; where bodies are hashed, its beginning. Refused, TimeoutError."""
        encodings = response.headers.getall("Content-Encoding", [])
        self.digest = None if self.holding else Digest(response.headers.get("Content-Type"))
        body = decoder(response.content_type, encodings, self.cap, self.digest)
        most = self.cap if body.coded else min(self.cap, response.content_length or self.cap)
        try:
            async for piece in response.content.iter_any():
                if self.take:
                    self.take.feed(piece)
                await self._feed(body, piece, most)
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            raise Refused(Status.TRUNCATED_BODY, f"the body ended early: {faults.text(error)}") from error
        except Refused as refused:
            if not self.part or refused.status is not Status.BODY_TOO_LARGE:
                raise
            response.close()
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
