"""Files as people have them, whole and broken."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler import wire
from sandcrawler.errors import ConfigurationError
from sandcrawler.sources import rows as reading
from sandcrawler.sources import streams
from sandcrawler.sources import values as splitting
from sandcrawler.sources.requests import BadRow
from sandcrawler.sources.rows import json_rows, text_rows, whole
from sandcrawler.sources.streams import decoded, opened
from sandcrawler.sources.tables import csv_rows

LINES = b'{"a": 1}\n\n{"a": 2}\n'


def rows(data: bytes) -> list[tuple[int | str, Any]]:
    found = whole(json_rows, decoded(io.BytesIO(data)))
    return [(where, "bad" if isinstance(value, BadRow) else value) for where, value in found]


@pytest.mark.parametrize(
    "packed",
    [lambda data: data, gzip.compress, bz2.compress, lzma.compress, streams.zstd.compress],
    ids=["plain", "gzip", "bzip2", "xz", "zstd"],
)
def test_compressed_files_are_told_by_their_bytes(packed: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_bytes(packed(LINES))
    with opened(str(file)) as stream:
        assert list(whole(json_rows, stream)) == [(1, {"a": 1}), (3, {"a": 2})]


def test_several_gzip_members_are_one_file() -> None:
    assert rows(gzip.compress(b'{"a": 1}\n') + gzip.compress(b'{"a": 2}\n')) == [(1, {"a": 1}), (2, {"a": 2})]


def tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_an_archive_of_lists() -> None:
    """As DOAJ's dump is; other members are passed over, compressed ones opened."""
    dump = tar(
        {
            "dump/article_batch_1.json": b'[{"a": 1},\n{"a": 2}]',
            "dump/README.md": b"no records",
            "dump/article_batch_2.json.gz": gzip.compress(b'[\n {"a": 3}\n]'),
        }
    )
    assert rows(dump) == [
        ("dump/article_batch_1.json:1", {"a": 1}),
        ("dump/article_batch_1.json:2", {"a": 2}),
        ("dump/article_batch_2.json.gz:2", {"a": 3}),
    ]


def test_links_in_an_archive_are_passed_over() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (("a.json", tarfile.SYMTYPE), ("b.json", tarfile.LNKTYPE), ("c.json", tarfile.DIRTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "../elsewhere.json"
            archive.addfile(info)
        info = tarfile.TarInfo("d.json")
        info.size = 8
        archive.addfile(info, io.BytesIO(b'{"a": 1}'))
    assert rows(out.getvalue()) == [("d.json:1", {"a": 1})]


def test_a_broken_member_costs_itself_only() -> None:
    packed = gzip.compress(b'{"a": 1}\n{"a": 2}\n')
    dump = {"a.json.gz": packed[:-3], "b.json.gz": b"\x1f\x8bnothing", "c.json": b'{"a": 3}'}
    assert rows(tar(dump)) == [
        ("a.json.gz:1", {"a": 1}),
        ("a.json.gz:2", {"a": 2}),
        ("a.json.gz:2", "bad"),
        ("b.json.gz:0", "bad"),
        ("c.json:1", {"a": 3}),
    ]


@pytest.mark.parametrize("cut", [30, -5])
def test_a_cut_file_gives_what_it_has_and_says_so(cut: int) -> None:
    data = gzip.compress(b"".join(b'{"a": "%d"}\n' % number for number in range(100_000)))
    found = rows(data[:cut])
    assert found[-1][1] == "bad"
    assert all(value != "bad" for _, value in found[:-1])
    assert len(found) > 50_000 or cut > 0


PACKED = [gzip.compress, bz2.compress, lzma.compress, streams.zstd.compress]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("pack", PACKED, ids=["gzip", "bzip2", "xz", "zstd"])
def test_a_cut_costs_the_rows_behind_it_only(pack: Callable[[bytes], bytes], listed: bool) -> None:
    """All that the decoder itself can give is given: what stands behind the cut, and the row in it, is not."""
    noise = random.Random(7)
    lines = [b'{"a": "%x"}' % noise.getrandbits(400) for _ in range(20_000)]
    packed = pack(b"[" + b",\n".join(lines) + b"]" if listed else b"\n".join(lines))
    found = rows(packed[: len(packed) * 3 // 4])
    assert found[-1][1] == "bad"
    assert [value for _, value in found[:-1]] == [json.loads(line) for line in lines[: len(found) - 1]]
    assert len(found) > 8_000  # bzip2 has blocks of 900 kB


@pytest.mark.parametrize("listed", [False, True])
def test_a_short_gzip_that_is_cut(listed: bool) -> None:
    noise = random.Random(7)
    lines = [b'{"a": "%x"}' % noise.getrandbits(100) for _ in range(1_000)]
    packed = gzip.compress(b"[" + b",\n".join(lines) + b"]" if listed else b"\n".join(lines))
    found = rows(packed[:-200])
    assert found[-1][1] == "bad"
    assert len(found) > 970
    assert all(value != "bad" for _, value in found[:-1])


def test_damage_costs_what_is_behind_it() -> None:
    noise = random.Random(7)
    lines = [b'{"a": "%x"}' % noise.getrandbits(100) for _ in range(10_000)]
    packed = bytearray(gzip.compress(b"\n".join(lines)))
    middle = len(packed) // 2
    packed[middle : middle + 200] = b"\xff" * 200
    found = rows(bytes(packed))
    assert len(found) > 4_500
    assert found[-1][1] == "bad"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
@pytest.mark.parametrize("outer", [lambda data: data, gzip.compress], ids=["tar", "tar.gz"])
def test_a_cut_member_gives_its_objects(name: str, outer: Callable[[bytes], bytes]) -> None:
    noise = random.Random(7)
    lines = [b'{"a": "%x"}' % noise.getrandbits(100) for _ in range(1_000)]
    inner = b"\n".join(lines) if name.endswith("l") else b"[" + b",\n".join(lines) + b"]"
    held = gzip.compress(inner) if name.endswith("gz") else inner
    archive = outer(gzip.decompress(tar({"first.json": b'[{"a": 0}]', name: held})))
    body = archive[: len(archive) // 2]
    found = rows(body)
    assert found[0] == ("first.json:1", {"a": 0})
    assert found[-1][1] == "bad"
    assert len(found) > 200
    assert all(value != "bad" for _, value in found[:-1])


def test_a_broken_line_costs_itself_only() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\nnot json\n[1]\n{"a": NaN}\n{"a": "\\ud800"}\n{"a": 5}'
    assert rows(data) == [
        (1, {"a": 1}),
        (2, "bad"),
        (3, "bad"),
        (4, "bad"),
        (5, {"a": "\ufffd"}),
        (6, {"a": 5}),
    ]


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3), st.booleans())
def test_lines_are_read_as_messages_are(record: dict[str, str], ascii_only: bool) -> None:
    line = json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert rows(line) == [(1, wire.loads(line))]


def test_nul_is_replaced_in_lines_as_in_messages() -> None:
    assert rows(b'{"\\u0000": "a\\u0000\\ud800"}\n{"a": "\\u0000"}') == [
        (1, {"\ufffd": "a\ufffd\ufffd"}),
        (2, {"a": "\ufffd"}),
    ]


def test_a_line_without_end_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_BYTES", 100)
    assert rows(b'{"a": 1}\n{"b": "' + b"x" * 1000 + b'"}\n{"a": 3}\n') == [(1, {"a": 1}), (2, "bad"), (3, {"a": 3})]


@pytest.mark.parametrize(
    "data",
    [
        b'[{"a": 1}, {"a": [{}, "]}"]}]',
        b'[\n{"a": 1},\n{"a": [{}, "]}"]}\n]\n',
        b' [ {"a":1}\n,{"a":[{},"]}"]} ] ',
        b'{"items":[{"a": 1},{"a": [{}, "]}"]}]}',
        b'{\n "results": [\n {"a": 1}, {"a": [{}, "]}"]}]}\n',
        b'{\n"a": 1\n}\n{\n"a": [{}, "]}"]\n}\n',
        b'[[{"a": 1}], [{"a": [{}, "]}"]}]]',
    ],
)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_documents_with_lists(data: bytes, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "CHUNK", chunk)
    assert [value for _, value in rows(data)] == [{"a": 1}, {"a": [{}, "]}"]}]


def test_brackets_in_a_string_across_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "CHUNK", 1)
    monkeypatch.setattr(splitting, "LOOK", 1)
    assert [value for _, value in rows(b'[{"a": "b]}c"}, {"a": "}"}]')] == [{"a": "b]}c"}, {"a": "}"}]


def test_a_broken_value_in_a_list_costs_itself_only() -> None:
    data = b'[{"a": 1},\n{"a": nothing, "b": "}"},\n3,\n{"a": 4},\n{"a": "cut'
    assert rows(data) == [(1, {"a": 1}), (2, "bad"), (3, "bad"), (4, {"a": 4}), (5, "bad")]


def test_a_value_that_never_ends_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "VALUE_CHARACTERS", 5_000)
    monkeypatch.setattr(splitting, "CHUNK", 1_000)
    data = b'[{"a": 1},\n{"a": "' + b"x" * 50_000 + b'\n{"a": 3}]'
    found = rows(data)
    assert found[0] == (1, {"a": 1})
    assert (found[1][0], found[1][1]) == (2, "bad")


@pytest.mark.parametrize("rest", [b'"' + b"x" * 50_000, b'{"a":[1,"' * 9_000, b"\n\n,,]]}" * 9_000, b"[" * 60_000])
def test_a_value_that_never_ends_is_one_bad_row(rest: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its inside is no further rows, however long it is; a line that begins as a value ends it."""
    monkeypatch.setattr(splitting, "VALUE_CHARACTERS", 5_000)
    monkeypatch.setattr(splitting, "CHUNK", 1_000)
    found = rows(b'[{"a": 1},\n{"a": [' + rest + b'\n  {"a": 3},\n{"a": 4}]')
    assert [value for _, value in found] == [{"a": 1}, "bad", {"a": 3}, {"a": 4}]


@pytest.mark.parametrize(("levels", "good"), [(199, True), (201, False), (900, False)])
def test_values_are_as_deep_as_messages(levels: int, good: bool) -> None:
    deep = b'{"a":' + b"[" * levels + b"]" * levels + b"}"
    for data in (b"[" + deep + b',{"a": 2}]', deep + b'\n{"a": 2}'):
        found = rows(data)
        assert (found[0][1] != "bad", found[1][1]) == (good, {"a": 2})


def test_numbers_beyond_all_readers_are_bad_in_lists() -> None:
    assert rows(b'[{"a": 1e999}, {"a": [-1e999]}, {"a": 1e-999}]') == [
        (1, "bad"),
        ("1, value 2", "bad"),
        ("1, value 3", {"a": 0.0}),
    ]


def test_deep_nesting_is_a_bad_row() -> None:
    assert rows(b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b'},{"a": 2}]') == [(1, "bad"), ("1, value 2", {"a": 2})]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(), max_size=3), min_size=1),
    st.sampled_from([None, 1]),
    st.integers(1, 40),
)
def test_lists_of_anything_come_out_as_they_are(records: list[dict[str, Any]], indent: int | None, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "CHUNK", chunk)
        data = json.dumps(records, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
        expected = json.loads(data)
        found = [value for _, value in splitting.values(decoded(io.BytesIO(data)))]
    assert found == wire.clean(expected)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300) | st.text('{}[]",:\\ \n1a', max_size=200).map(str.encode))
def test_any_bytes_end_in_rows_or_bad_rows(data: bytes) -> None:
    for read in (json_rows, text_rows, lambda stream: csv_rows(stream, ",")):
        for _ in whole(read, decoded(io.BytesIO(data))):
            pass


def test_a_missing_file_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no file"), opened(str(tmp_path / "none")):
        pass


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("magic", streams.FOREIGN)
def test_what_has_no_rows_is_said_once(magic: bytes, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(pack(magic + b"\x00\n{}\n" * 100))
    with pytest.raises(ConfigurationError, match=r"file is (a|an|UTF-16) "), opened(str(file)):
        pass


def test_a_folder_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is a folder"), opened(str(tmp_path)):
        pass


@pytest.mark.parametrize("packed", [LINES, gzip.compress(LINES)], ids=["plain", "gzip"])
def test_named_pipes_are_read(packed: bytes, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(packed,), daemon=True)
    writer.start()
    with opened(str(pipe)) as stream:
        assert list(whole(json_rows, stream)) == [(1, {"a": 1}), (3, {"a": 2})]
    writer.join(10)


def places(text: str) -> list[int | str]:
    return [where for where, _ in json_rows(io.BufferedReader(io.BytesIO(text.encode())))]  # type: ignore[arg-type]


def test_records_of_one_line_are_told_apart() -> None:
    assert places('[{"a": 1}, {"a": broken}, {"a": 3}]') == [1, "1, value 2", "1, value 3"]
    assert places('[{"a": 1}, {"a": 2},\n{"a": 3}, {"a": 4}]') == [1, "1, value 2", 2, "2, value 2"]
    assert places('{"message": {"items": [{"a": 1}, 2, {"a": 3}]}}') == [1, "1, record 2", "1, record 3"]
    assert places('{"a": 1}\n{"a": 2}\n') == [1, 2]
