"""pywb, a real web archive, run as a server of its own over the WARCs that a test gives it."""

import gzip
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOOLS = Path(sys.executable).parent
START_SECONDS = 120


class Replay:
    """A running pywb over one collection, `web`, which is made of these WARCs, or is there already."""

    def __init__(self, folder: Path, warcs: list[Path] | None = None) -> None:
        self.folder = folder
        self.port = _free_port()
        for command in (["init", "web"], ["add", "web", *map(str, warcs)]) if warcs else ():
            subprocess.run([TOOLS / "wb-manager", *command], cwd=folder, check=True, capture_output=True, timeout=120)
        self.process = subprocess.Popen(
            [TOOLS / "pywb", "-p", str(self.port), "-b", "127.0.0.1", "-d", str(folder)],
            stdout=subprocess.DEVNULL,
            stderr=(folder / "pywb.log").open("wb"),
        )

    def wait(self) -> None:
        """Until it answers."""
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
            answer = opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            body = answer.read()
            undo = {"gzip": gzip.decompress, "deflate": zlib.decompress}.get(answer.headers.get("Content-Encoding", ""))
            return answer.status, undo(body) if undo else body


@contextmanager
def replaying(folder: Path, warcs: list[Path] | None = None) -> Iterator[Replay]:
    """A pywb that answers, until the block's end."""
    replay = Replay(folder, warcs)
    try:
        replay.wait()
        yield replay
    finally:
        replay.process.terminate()
        replay.process.wait(20)


class _Unmoved(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
