import errno
import os
import subprocess
import sys
import threading
import time
from itertools import permutations
from pathlib import Path

import pytest

from sandcrawler.sources.output import Output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_the_folder_is_made(folder: Path) -> None:
    Output(folder, "yaml")
    assert folder.is_dir()


def test_one_identifier_has_one_path(folder: Path) -> None:
    output = Output(folder, "yaml")
    assert output.unique_path("RFC 1") == output.unique_path("RFC 1") == folder / "rfc-1.yaml"


def test_two_identifiers_that_look_alike_have_two_paths(folder: Path) -> None:
    output = Output(folder, "yaml")
    first, second = output.unique_path("rpki/signed-objects"), output.unique_path("rpki-signed-objects")
    assert first == folder / "rpki-signed-objects.yaml"
    assert second.name.startswith("rpki-signed-objects-")
    assert second == output.unique_path("rpki-signed-objects")


def test_the_suffix_depends_on_the_identifier_alone(folder: Path) -> None:
    suffixed: dict[str, set[Path]] = {"x/y": set(), "x-y": set(), "x.y": set()}
    for order in permutations(suffixed):
        output = Output(folder, "yaml")
        paths = {docid: output.unique_path(docid) for docid in order}
        assert len(set(paths.values())) == 3
        for docid in order[1:]:
            suffixed[docid].add(paths[docid])
    assert all(len(paths) == 1 for paths in suffixed.values())


def test_write_unique_writes_over_its_own_and_over_leftovers(folder: Path) -> None:
    folder.mkdir()
    (folder / "a.yaml").write_text("left over")
    output = Output(folder, "yaml")
    assert output.write_unique("A", "one").read_text() == "one"
    assert output.write_unique("A", "two").read_text() == "two"
    assert output.written == {folder / "a.yaml"}


def test_in_a_shared_folder_others_files_are_left_alone(folder: Path) -> None:
    ours, theirs = Output(folder, "yaml", shared=True), Output(folder, "yaml", shared=True)
    assert theirs.write_unique("x/y", "theirs") == folder / "x-y.yaml"
    path = ours.write_unique("x-y", "ours")
    assert path != folder / "x-y.yaml"
    assert path.read_text() == "ours"
    assert (folder / "x-y.yaml").read_text() == "theirs"


WRITER = """
import sys
from pathlib import Path
from sandcrawler.sources.output import Output
output = Output(Path(sys.argv[1]), "yaml", shared=True)
for number in range(200):
    output.write_unique(f"doc{sys.argv[3]}{number}", sys.argv[2] * 5000)
"""


def test_two_processes_lose_nothing(folder: Path) -> None:
    # "doc/7" and "doc.7" want the same file.
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(folder), letter, mark])
        for letter, mark in (("a", "/"), ("b", "."))
    ]
    assert [writer.wait(240) for writer in writers] == [0, 0]
    written = sorted(path.read_text() for path in folder.iterdir())
    assert written == ["a" * 5000] * 200 + ["b" * 5000] * 200


def test_force_write_leaves_identical_content_untouched(folder: Path) -> None:
    output = Output(folder, "yaml")
    path = output.force_write(folder / "a.yaml", "same")
    os.utime(path, (1, 1))
    assert output.force_write(path, "same") == path
    assert path.stat().st_mtime == 1
    output.force_write(path, "other")
    assert path.read_text() == "other"
    assert path.stat().st_mtime > 1
    assert output.written == {path}


def test_a_full_disk_leaves_the_old_file_and_no_draft(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = Output(folder, "yaml")
    path = output.force_write(folder / "a.yaml", "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(OSError, match="No space left"):
        output.force_write(path, "new")
    with pytest.raises(OSError, match="No space left"):
        output.write_unique("b", "new")
    assert {each.name: each.read_text() for each in folder.iterdir()} == {"a.yaml": "old"}


def test_a_reader_never_sees_half_a_file(folder: Path) -> None:
    output, path = Output(folder, "yaml"), folder / "a.yaml"
    output.force_write(path, "x" * 100_000)
    seen: set[str] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for letter in "abcdefgh":
        output.force_write(path, letter * 100_000)
    done.set()
    reader.join()
    assert all(len(text) == 100_000 and len(set(text)) == 1 for text in seen)


def wrote(folder: Path, existing: int, rewritten: int) -> Output:
    before = Output(folder, "yaml")
    for number in range(existing):
        before.write_unique(f"d{number}", "x")
    output = Output(folder, "yaml")
    for number in range(rewritten):
        output.write_unique(f"d{number}", "x")
    return output


def test_prune_deletes_what_was_not_written(folder: Path) -> None:
    output = wrote(folder, 10, 9)
    (folder / ".digests.yaml").write_text("")
    (folder / "note.txt").write_text("")
    assert output.prune() == [folder / "d9.yaml"]
    assert {path.name for path in folder.iterdir()} == {f"d{n}.yaml" for n in range(9)} | {".digests.yaml", "note.txt"}


def test_prune_below_the_ratio_deletes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = wrote(folder, 10, 8)
    assert output.prune() == []
    assert len(list(folder.iterdir())) == 10
    assert "prune skipped" in "".join(capsys.readouterr())


def test_prune_of_an_empty_folder(folder: Path) -> None:
    assert Output(folder, "yaml").prune() == []


def test_prune_looks_below_and_spares_what_it_is_told(folder: Path) -> None:
    output = wrote(folder, 19, 19)
    (folder / "sub").mkdir()
    (folder / "sub" / "old.yaml").write_text("")
    index = folder / "index-v2.yaml"
    index.write_text("")
    assert output.prune(keep=frozenset({index})) == [folder / "sub" / "old.yaml"]
    assert index.exists()


def test_drafts_of_the_dead_are_swept_and_those_of_the_living_are_not(folder: Path) -> None:
    folder.mkdir()
    for name, age in ((".draft-old", 4000), (".draft-new", 60)):
        (folder / name).write_text("half")
        os.utime(folder / name, (time.time() - age,) * 2)
    Output(folder, "yaml")
    assert [path.name for path in folder.iterdir()] == [".draft-new"]


def test_a_file_system_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", link)
    output = Output(folder, "yaml", shared=True)
    assert output.write_unique("a", "one").read_text() == "one"
    assert Output(folder, "yaml", shared=True).write_unique("a", "two") != folder / "a.yaml"
    assert (folder / "a.yaml").read_text() == "one"
