"""The WARCs in pywb, a real web archive: indexed by its own tools, served by its own server, the same bytes back."""

import gzip
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ingest.archives import ARTICLE, HTML, LINK, MISSING, PARTS, Made, made

pytest.importorskip("pywb", reason="replay needs the extra `test`")
TOOLS = Path(sys.executable).parent
START_SECONDS = 60


class Replay:
    """A running pywb over one collection, `web`."""

    def __init__(self, folder: Path, warcs: list[Path]) -> None:
        self.folder = folder
        self.port = _free_port()
        for command in (["init", "web"], ["add", "web", *map(str, warcs)]):
            subprocess.run([TOOLS / "wb-manager", *command], cwd=folder, check=True, capture_output=True, timeout=60)
        self.process = subprocess.Popen(
            [TOOLS / "pywb", "-p", str(self.port), "-b", "127.0.0.1", "-d", str(folder)],
            stdout=subprocess.DEVNULL,
            stderr=(folder / "pywb.log").open("wb"),
        )

    def wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError((self.folder / "pywb.log").read_text())

    def raw(self, url: str, moment: str) -> tuple[int, bytes]:
        """The status and the original bytes of a capture, content coding undone; redirects are not followed."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/web/{moment}id_/{url}")
        opener = urllib.request.build_opener(_Unmoved)
        try:
            answer = opener.open(request, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            body = answer.read()
            undo = {"gzip": gzip.decompress, "deflate": zlib.decompress}.get(answer.headers.get("Content-Encoding", ""))
            return answer.status, undo(body) if undo else body


class _Unmoved(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("warcs"))


@pytest.fixture(scope="module")
def replay(site: Made, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    replay = Replay(tmp_path_factory.mktemp("pywb"), [site.path])
    try:
        replay.wait()
        yield replay
    finally:
        replay.process.terminate()
        replay.process.wait(20)


def test_the_page_comes_back_byte_for_byte(site: Made, replay: Replay) -> None:
    assert site.result.cdx is not None
    assert replay.raw(ARTICLE, site.result.cdx.datetime) == (200, HTML)


@pytest.mark.parametrize("url", [url for url in PARTS if not url.endswith("logo.png")])
def test_its_parts_come_back_byte_for_byte(site: Made, replay: Replay, url: str) -> None:
    """Chunked, deflated, and one that is a revisit of another host's."""
    part = next(part for part in site.result.html_resources or () if part.url == url)
    moment = "".join(c for c in part.timestamp if c.isdigit())  # type: ignore[union-attr]
    assert replay.raw(url, moment) == (200, PARTS[url])


def test_redirects_and_errors_come_back_as_such(site: Made, replay: Replay) -> None:
    assert site.result.cdx is not None
    moment = site.result.cdx.datetime
    assert replay.raw(LINK, moment)[0] == 302
    assert replay.raw("http://cdn.example.net/logo2.png", moment) == (200, PARTS["http://cdn.example.net/logo.png"])
    assert replay.raw(MISSING, moment) == (404, b"not here")


def test_pywb_s_index_has_the_place_that_the_row_has(site: Made, replay: Replay) -> None:
    assert site.result.cdx is not None
    index = (replay.folder / "collections" / "web" / "indexes" / "index.cdxj").read_text()
    row = next(line for line in index.splitlines() if "/article/1 " in line)
    offset, csize = site.place
    assert f'"offset": "{offset}"' in row
    assert f'"length": "{csize}"' in row
    assert row.split(" ")[:2] == [site.result.cdx.surt, site.result.cdx.datetime]
