"""Sub-resources hashed as they come: what is said of them, and how little of them is held."""

import asyncio
import gzip
import hashlib
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from sandcrawler import model
from sandcrawler.errors import Unavailable
from sandcrawler.extract.sniff import SNIFFED_BYTES, file_meta
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.base import Opening
from sandcrawler.fetch.budget import Holding
from sandcrawler.fetch.digest import SHEET_BYTES, Digest
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.fetch.spn import SpnFetcher
from sandcrawler.model import Capture, WantedResource, WebResource

from .savepage import Archive, Saved, now
from .test_spn import at_once, public
from .test_warc import written
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


BACKENDS = ["live", "live-then-wayback", "wayback", "wayback-then-live", "spn", "warc"]


async def hashed(backend: str, url: str, page: bytes, folder: Path) -> Sequence[WebResource]:
    """One sub-resource from each back end, which has this page."""
    head, _, body = page.partition(b"\r\n\r\n")
    fields = {name.title(): value for name, value in (line.split(": ") for line in head.decode().split("\r\n")[1:])}
    del fields["Content-Length"]
    archive = Archive({url: [Saved(now(), body, headers=fields)]})
    async with Web({url: page} if backend.startswith("live") else {}) as web, archive:
        config = archive.config(fetch_connect_to=web.config().fetch_connect_to)
        fetcher: Opening = open_fetcher(config, backend if backend != "warc" else f"warc:{kept(url, page, folder)}")
        if isinstance(fetcher, SpnFetcher):
            fetcher = SpnFetcher(config, sleeper=at_once, addresses=public)
        async with fetcher, fetcher.session() as session:
            wanted = [WantedResource(url=url, resource_type="image")]
            found, missing = await capture_resources(session, wanted, time.monotonic() + 20, Bounds(4))
    assert not missing, missing
    return found


def kept(url: str, page: bytes, folder: Path) -> Path:
    head, _, body = page.partition(b"\r\n\r\n")
    _, *lines = head.decode().split("\r\n")
    return written(folder / "a.warc.gz", ("response", url, "\n".join(["200 OK", *lines]), body, {}))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", BODIES)
def test_what_is_said_is_what_the_whole_body_would_say(name: str, backend: str, tmp_path: Path) -> None:
    """Of every back end, and nothing is collected for it: the worker's budget of a byte is never asked."""
    body, content_type = BODIES[name]
    url = f"{SITE}/{name}"
    page = reply(gzip.compress(body), content_type=content_type, content_encoding="gzip")

    async def work() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Holding, "grow", None)
            found = await hashed(backend, url, page, tmp_path)
        whole = file_meta(body, content_type, url)
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


def test_a_fault_of_ours_is_told_as_it_is() -> None:
    """No group of exceptions: who pauses for a server that is not there would not know it."""

    class Scripted:
        async def get(self, url: str, deadline: float | None = None) -> Capture:
            async with Web({url: reply(b"p{}", content_type="text/css")}) as web:
                return await fetched(web, url)

        async def digest(self, url: str, deadline: float | None = None) -> tuple[Capture, Digest]:
            capture, digest = await self.get(url, deadline), Digest("text/css")
            digest.write(capture.body or b"")
            return capture, digest

        def release(self) -> None:
            """Nothing is held."""

    async def linked(_: model.Page) -> Sequence[WantedResource]:
        raise Unavailable("the extraction children are gone")

    wanted = [WantedResource(url=f"{SITE}/{n}.css", resource_type="stylesheet") for n in range(3)]
    with pytest.raises(Unavailable):
        asyncio.run(capture_resources(Scripted(), wanted, None, Bounds(4), linked))


BOMBS = """
import asyncio, resource, sys, time, zlib
from sandcrawler.fetch.backends import open_fetcher
from sandcrawler.fetch.resources import Bounds, capture_resources
from sandcrawler.model import WantedResource
from tests.fetch.savepage import Archive, Saved
from tests.fetch.web import Web, reply

HOSTS = tuple(f"h{n}.example.net" for n in range(4))
GZIP = {"Content-Type": "image/png", "Content-Encoding": "gzip"}

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def main(backend, bomb):
    page = reply(bomb, content_type="image/png", content_encoding="gzip")
    wanted = [WantedResource(url=f"http://{host}/a.png", resource_type="image") for host in HOSTS]
    held = {each.url: [Saved("20200101000000", bomb, headers=GZIP)] for each in wanted}
    async with Web({each.url: page for each in wanted}, HOSTS) as web, Archive(held) as archive:
        config = archive.config(fetch_connect_to=web.config().fetch_connect_to, fetch_wayback_parallel=8)
        async with open_fetcher(config, backend) as fetcher, fetcher.session() as session:
            before = peak()
            found, missing = await capture_resources(session, wanted, time.monotonic() + 60, Bounds(16))
    assert [each.size for each in found] == [100 << 20] * len(HOSTS), missing
    assert peak() - before < 48 << 10, f"{peak() - before} KiB more"

asyncio.run(main(sys.argv[1], open(sys.argv[2], "rb").read()))
"""


@pytest.mark.parametrize("backend", ["live", "wayback", "warc:coded", "warc:plain"])
def test_images_that_are_bombs_take_little_memory(backend: str, tmp_path: Path) -> None:
    """Four images of 100 MiB, which came coded, or were packed into their record."""
    packer, zeros = zlib.compressobj(9, wbits=31), bytes(1 << 20)
    bomb = b"".join([*(packer.compress(zeros) for _ in range(100)), packer.flush()])
    (tmp_path / "bomb").write_bytes(bomb)
    if backend.startswith("warc"):
        head, body = "200 OK\nContent-Type: image/png", bytes(100 << 20)
        if backend == "warc:coded":
            head, body = f"{head}\nContent-Encoding: gzip", bomb
        pages = (("response", f"http://h{n}.example.net/a.png", head, body, {}) for n in range(4))
        backend = f"warc:{written(tmp_path / 'a.warc.gz', *pages)}"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", BOMBS, backend, str(tmp_path / "bomb")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=90, cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
