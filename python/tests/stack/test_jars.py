"""Kafka's jars: only the pinned bytes come in, whole, whatever the server sends."""

import hashlib
import re
import tarfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sandcrawler.errors import Unavailable
from sandcrawler.stack import jars
from sandcrawler.stack.jars import Jar

pytest.importorskip("jgo", reason="needs: pip install 'sandcrawler[stack]'")

BODIES = {f"part{n}": f"the bytes of part {n}".encode() * 1000 for n in range(12)}
JARS = [Jar(f"org.example:{name}:1.0", hashlib.sha256(body).hexdigest()) for name, body in BODIES.items()]


class Central(BaseHTTPRequestHandler):
    """A small Maven Central. `spoilt` says what is wrong with part7."""

    spoilt = ""
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        match = re.fullmatch(r"/org/example/(part\d+)/1\.0/\1-1\.0\.jar", self.path)
        spoilt = self.spoilt if match and match[1] == "part7" else ""
        if match is None or spoilt == "missing":
            self.send_error(404)
            return
        body = BODIES[match[1]]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write({"forged": b"x" * len(body), "short": body[:100]}.get(spoilt, body))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def central(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Central]]:
    monkeypatch.setattr(Central, "spoilt", "")
    monkeypatch.setattr(Central, "asked", [], raising=False)
    monkeypatch.setattr(jars, "pinned", lambda: JARS)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JGO_CONFIG_FILE", str(tmp_path / "jgo.conf"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Central)
    (tmp_path / "jgo.conf").write_text(f"[repositories]\ncentral = http://127.0.0.1:{server.server_port}\n")
    Thread(target=server.serve_forever, daemon=True).start()
    yield Central
    server.shutdown()
    server.server_close()


def quiet(_text: str) -> None:
    """Say nothing."""


def test_every_jar_comes_once(central: type[Central]) -> None:
    said: list[str] = []
    paths = jars.fetch(said.append)
    assert [path.read_bytes() for path in paths] == list(BODIES.values())
    assert "12 files" in said[0]
    central.asked.clear()
    assert jars.fetch(said.append) == paths
    assert not central.asked
    assert len(said) == 1


def test_a_damaged_jar_is_fetched_again(central: type[Central]) -> None:
    path = jars.fetch(quiet)[3]
    path.write_bytes(b"half")
    archive = path.with_name("java" + jars.ARCHIVE)
    archive.write_bytes(b"classes of other jars")
    jars.fetch(quiet)
    assert not archive.exists()
    assert path.read_bytes() == BODIES["part3"]


@pytest.mark.parametrize(
    ("spoilt", "text"),
    [
        ("forged", "not the one that is pinned"),
        ("short", r"download of org\.example:part7:1\.0 .* failed"),
        ("missing", r"download of org\.example:part7:1\.0 .* failed"),
    ],
)
def test_a_spoilt_download_never_reaches_the_cache(central: type[Central], spoilt: str, text: str) -> None:
    central.spoilt = spoilt
    with pytest.raises(Unavailable, match=text):
        jars.fetch(quiet)
    assert not (jars.folder() / "part7-1.0.jar").exists()
    assert [path.name for path in jars.folder().parent.iterdir()] == [jars.folder().name], "nothing half is left"
    central.spoilt = ""
    assert len(jars.fetch(quiet)) == 12


def test_a_broken_download_leaves_whole_jars_only(central: type[Central], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "STEP", 1000)

    def interrupt(text: str) -> None:
        if "MB" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jars.fetch(interrupt)
    digests = {jar.file: jar.sha256 for jar in JARS}
    assert all(jars.digest(path) == digests[path.name] for path in jars.folder().iterdir())


def test_no_network_is_said(central: type[Central], tmp_path: Path) -> None:
    (tmp_path / "jgo.conf").write_text("[repositories]\ncentral = http://127.0.0.1:9\n")
    with pytest.raises(Unavailable, match="from Maven Central failed"):
        jars.fetch(quiet)


def test_the_pinned_jars_are_kafka() -> None:
    pinned = jars.pinned()
    assert f"org.apache.kafka:kafka_2.13:{jars.KAFKA_VERSION}" in {jar.coordinate for jar in pinned}
    assert {jars.LOGGING, jars.TOOLS} <= {jar.coordinate for jar in pinned}
    assert {jar.coordinate.rpartition(":")[2] for jar in pinned if jar.coordinate.startswith("org.apache.kafka:")} == {
        jars.KAFKA_VERSION
    }
    assert all(re.fullmatch(r"[0-9a-f]{64}", jar.sha256) for jar in pinned)
    assert len({jar.file for jar in pinned}) == len(pinned)


def test_one_archive_has_every_jar_and_is_always_the_same(central: type[Central], tmp_path: Path) -> None:
    file = tmp_path / "new" / "kafka.tar"
    assert jars.main(["archive", str(file)]) == 0
    first = file.read_bytes()
    with tarfile.open(file) as archive:
        entries = {entry.name: entry for entry in archive}
        assert list(entries) == sorted(jar.file for jar in JARS)
        assert {(entry.mode, entry.uid, entry.gid, entry.mtime) for entry in entries.values()} == {(0o644, 0, 0, 0)}
        for jar, body in zip(JARS, BODIES.values(), strict=True):
            content = archive.extractfile(jar.file)
            assert content is not None
            assert content.read() == body
    central.asked.clear()
    assert jars.main(["archive", str(file)]) == 0
    assert file.read_bytes() == first
    assert not central.asked
    assert [path.name for path in file.parent.iterdir()] == [file.name], "nothing half is left"


def test_an_archive_that_cannot_be_whole_is_not_written(
    central: type[Central], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    central.spoilt = "forged"
    assert jars.main(["archive", str(tmp_path / "kafka.tar")]) == 3
    assert "not the one that is pinned" in capsys.readouterr().err
    assert not (tmp_path / "kafka.tar").exists()


@pytest.mark.parametrize("arguments", [["archive"], ["archive", "a", "b"], ["resolve"]])
def test_other_words_are_a_usage_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert jars.main(arguments) == 2
    assert "usage" in capsys.readouterr().err
