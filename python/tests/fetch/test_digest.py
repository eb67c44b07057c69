"""Sub-resources hashed as they come: what is said of them, and how little of them is held."""

import asyncio
import gzip
import hashlib
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sandcrawler import model
from sandcrawler.errors import Unavailable
from sandcrawler.extract.sniff import SNIFFED_BYTES, file_meta
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.digest import SHEET_BYTES, Digest, Digesting, digested
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.model import Capture, WantedResource

from .web import Web, fetched, reply, run

SITE = "http://journal.example.org"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<g/>" * 100_000 + b"</svg>"
BODIES = {
    "a.png": (b"\x89PNG\r\n\x1a\n" + b"\0" * 300_000, "image/png"),
    "a.svg": (SVG, "image/svg+xml"),
    "a.js": (b"let a;" * 50_000, "text/javascript"),
    "a.css": (b"p { color: red }\n" * 10_000, "text/css; charset=utf-8"),
    "large.css": (b"p { color: red }\n" * 130_000, "text/css"),
    "short": (b"x", "text/html"),
}


@pytest.mark.parametrize("backend", ["live", "live-then-wayback"])
@pytest.mark.parametrize("name", BODIES)
def test_what_is_said_is_what_the_whole_body_would_say(name: str, backend: str) -> None:
    body, content_type = BODIES[name]
    wanted = [WantedResource(url=f"{SITE}/{name}", resource_type="image")]
    page = reply(gzip.compress(body), content_type=content_type, content_encoding="gzip")

    async def work() -> None:
        async with (
            Web({f"{SITE}/{name}": page}) as web,
            open_fetcher(web.config(), backend) as fetcher,
            fetcher.session() as session,
        ):
            assert isinstance(session, Digesting)
            found, missing = await capture_resources(session, wanted, time.monotonic() + 10, Bounds(4))
        whole = file_meta(body, content_type, wanted[0].url)
        assert not missing
        assert (found[0].sha1hex, found[0].sha256hex) == (whole.sha1hex, whole.sha256hex)
        assert (found[0].size, found[0].mimetype) == (whole.size_bytes, whole.mimetype)

    run(work())


def test_what_is_kept() -> None:
    for name, kept in [("a.png", SNIFFED_BYTES), ("a.css", 170_000), ("large.css", SHEET_BYTES), ("short", 1)]:
        body, content_type = BODIES[name]
        digest = Digest(content_type)
        for start in range(0, len(body), 5000):
            digest.write(body[start : start + 5000])
        assert digest.getvalue() == body[:kept]
        assert digest.tell() == len(body)
        assert digest.sheet == (body if name == "a.css" else None)
        digest.forget()
        assert digest.getvalue() == b""
        assert digest.sha1hex == hashlib.sha1(body).hexdigest()


def test_a_session_that_collects_is_hashed_all_the_same() -> None:
    async def work() -> None:
        for name, (body, content_type) in BODIES.items():
            async with Web({f"{SITE}/{name}": reply(body, content_type=content_type)}) as web:
                capture = await fetched(web, f"{SITE}/{name}")
            digest = await digested(capture)
            assert (digest.size, digest.sha256hex) == (len(body), hashlib.sha256(body).hexdigest())
        assert (await digested(replace(capture, body=None))).size == 0

    run(work())


def test_a_fault_of_ours_is_told_as_it_is() -> None:
    """No group of exceptions: who pauses for a server that is not there would not know it."""

    class Collecting:
        async def get(self, url: str, deadline: float | None = None) -> Capture:
            async with Web({url: reply(b"p{}", content_type="text/css")}) as web:
                return await fetched(web, url)

    async def linked(_: model.Page) -> Sequence[WantedResource]:
        raise Unavailable("the extraction children are gone")

    wanted = [WantedResource(url=f"{SITE}/{n}.css", resource_type="stylesheet") for n in range(3)]
    with pytest.raises(Unavailable):
        asyncio.run(capture_resources(Collecting(), wanted, None, Bounds(4), linked))


BOMBS = """
import asyncio, resource, time, zlib
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.model import WantedResource
from tests.fetch.web import Web, reply

HOSTS = tuple(f"h{n}.example.net" for n in range(8))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def main():
    packer, zeros = zlib.compressobj(9, wbits=31), bytes(1 << 20)
    bomb = b"".join([*(packer.compress(zeros) for _ in range(100)), packer.flush()])
    page = reply(bomb, content_type="image/png", content_encoding="gzip")
    wanted = [WantedResource(url=f"http://{host}/a.png", resource_type="image") for host in HOSTS]
    async with Web({each.url: page for each in wanted}, HOSTS) as web, Fetcher(web.config()) as fetcher:
        async with fetcher.session() as session:
            before = peak()
            found, missing = await capture_resources(session, wanted, time.monotonic() + 60, Bounds(16))
    assert [each.size for each in found] == [100 << 20] * len(HOSTS), missing
    assert peak() - before < 48 << 10, f"{peak() - before} KiB more"

asyncio.run(main())
"""


def test_images_that_are_bombs_take_little_memory() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", BOMBS], check=False, capture_output=True, text=True, timeout=90, cwd=root
    )
    assert (done.returncode, done.stderr) == (0, "")
