"""WARCs come to rest without ever taking the place of another."""

import io
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.model import CdxRow
from sandcrawler.persist.warcs import BucketStore, FolderStore, open_store

SHA1 = "ab" * 20


def row(url: str = "https://example.org/a", moment: str = "20260102030405") -> CdxRow:
    return CdxRow(
        surt="org,example)/a",
        datetime=moment,
        url=url,
        mimetype="text/html",
        status_code=200,
        sha1hex=SHA1,
        sha1b32="A" * 32,
    )


def test_a_file_is_named_by_its_document(tmp_path: Path) -> None:
    path = FolderStore(tmp_path).put(row(), io.BytesIO(b"one"))
    assert path == str(tmp_path / "ab" / "ab" / f"{SHA1}.warc.gz")
    assert Path(path).read_bytes() == b"one"


def test_a_path_holds_wherever_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = FolderStore(Path("warcs")).put(row(), io.BytesIO(b"one"))
    assert path.startswith(str(tmp_path / "warcs"))


def test_the_same_bytes_captured_again_get_a_file_of_their_own(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    captures = [row(), row("https://example.org/b"), row(moment="20270102030405")]
    paths = [store.put(cdx, io.BytesIO(f"{number}".encode())) for number, cdx in enumerate(captures)]
    assert [Path(path).read_text() for path in paths] == ["0", "1", "2"]
    assert all(Path(path).name.startswith(SHA1) and path.endswith(".warc.gz") for path in paths)
    assert "20270102030405" in paths[2]
    assert sorted(str(path) for path in tmp_path.rglob("*") if path.is_file()) == sorted(paths), "nothing half-written"


def test_a_capture_kept_twice_is_one_file(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.put(row(), io.BytesIO(b"first"))
    paths = {store.put(row("https://example.org/b"), io.BytesIO(body)) for body in (b"stopped", b"again")}
    assert [Path(path).read_bytes() for path in paths] == [b"again"]


def test_a_file_is_no_folder_and_that_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "first.warc.gz").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"first\.warc\.gz is a file"):
        open_store(Config(warc=str(tmp_path / "first.warc.gz")))


def test_a_folder_that_cannot_be_written_is_the_world_s_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable, match="file"):
        FolderStore(tmp_path / "file").put(row(), io.BytesIO(b"x"))


WRITER = """
import io, resource, signal, sys, time
from pathlib import Path
from sandcrawler.persist.warcs import FolderStore
from tests.persist.test_warcs import row

class Slow(io.BytesIO):
    def read(self, size=-1):
        print("reading", flush=True)
        time.sleep(0.1)
        return bytes(1 << 20)  # there is no end

if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
FolderStore(Path(sys.argv[1])).put(row(), Slow())
"""


def writer(folder: Path, how: str) -> subprocess.Popen[str]:
    """A process that keeps an endless WARC, until its disk is full or it is killed."""
    command = [sys.executable, "-c", WRITER, str(folder), how]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root)


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    _, complained = writer(tmp_path, "full").communicate(timeout=60)
    assert "Unavailable: the WARC cannot be kept" in complained
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_writer_that_is_killed_leaves_nothing_that_is_taken_for_a_warc(tmp_path: Path) -> None:
    process = writer(tmp_path, "killed")
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline() == "reading\n"
    process.kill()
    process.communicate(timeout=60)
    assert list(tmp_path.rglob("*.warc.gz")) == []
    kept = FolderStore(tmp_path).put(row(), io.BytesIO(b"again"))
    assert (Path(kept).name, Path(kept).read_bytes()) == (f"{SHA1}.warc.gz", b"again")


def test_the_setting_names_the_store(tmp_path: Path) -> None:
    assert open_store(Config()) is None
    assert isinstance(open_store(Config(warc=str(tmp_path))), FolderStore)
    assert isinstance(open_store(Config(warc="bucket", s3_url="http://127.0.0.1:1")), BucketStore)
    with pytest.raises(ConfigurationError, match="S3_URL"):
        open_store(Config(warc="bucket"))


def test_the_bucket_keeps_every_capture(stack_config: Callable[..., Config], s3, fresh_bucket: str) -> None:  # type: ignore[no-untyped-def]
    store = BucketStore(stack_config())
    first, second = (store.put(row(url), io.BytesIO(url.encode())) for url in ("https://a.org/", "https://b.org/"))
    assert first == f"warc/ab/ab/{SHA1}.warc.gz"
    for key, body in ((first, b"https://a.org/"), (second, b"https://b.org/")):
        found = s3.get_object(Bucket=fresh_bucket, Key=key)
        assert (found["Body"].read(), found["ContentType"]) == (body, "application/warc")


def test_of_two_workers_at_once_neither_overwrites_the_other(
    stack_config: Callable[..., Config],
    s3,  # type: ignore[no-untyped-def]
    fresh_bucket: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both have looked and found nothing: the bucket itself says who was first."""
    together = threading.Barrier(2)
    config, paths = stack_config(), dict[str, str]()
    monkeypatch.setattr(BucketStore, "_exists", lambda *_: bool(together.wait()) and False)

    def put(url: str) -> None:
        paths[url] = BucketStore(config).put(row(url), io.BytesIO(url.encode()))

    workers = [threading.Thread(target=put, args=(f"https://{name}.org/",)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(paths.values())) == 2
    for url, key in paths.items():
        assert s3.get_object(Bucket=fresh_bucket, Key=key)["Body"].read() == url.encode()
