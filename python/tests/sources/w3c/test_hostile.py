"""Look-ups and records by whatever text there is: a miss is a miss, a bad index is said, a file is in its folder."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandcrawler.cli import main
from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.base import BadReference
from sandcrawler.sources.http import Answer
from sandcrawler.sources.output import Output
from sandcrawler.sources.w3c.index import Index, Row, parse_rows
from sandcrawler.sources.w3c.lookup import find
from sandcrawler.sources.w3c.pubid import parse
from sandcrawler.sources.w3c.reference import read

ROW = Row(parse("W3C REC-xml-19980210"), "data/rec-xml-19980210.yaml")
INDEX = Index.of([ROW])
ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=60)  # lone surrogates, too
LIKELY = st.from_regex(r"(W3C |TR/|https://www.w3.org/TR/)?(20[0-9]{2}/)?(REC-|WD-)?[\w\udc80-\udcff-]{0,9}-[0-9]{0,9}")


@given(ANYTHING | LIKELY)
@example("REC-xml\udcff")
@example("W3C REC-xml-\x00")
def test_any_text_is_found_or_missed(reference: str) -> None:
    try:
        wanted = read(reference)
    except BadReference:
        return
    assert find(INDEX, wanted) in (None, ROW)


def test_a_reference_that_is_no_text_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a shell hands on bytes that are no UTF-8."""
    index = tmp_path / "index.jsonl"
    index.write_text(row_text(date="19980210"))
    monkeypatch.setenv("SANDCRAWLER_DIR", str(tmp_path))
    command = ["sandcrawler", "source", "w3c", "get", "REC-xml\udcff", "--index", str(index), "--id-only"]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1


def row_text(number: object = "xml", date: object = None, file: object = "a.yaml") -> str:
    identifier = {"_type": "pubid:w3c:recommendation", "number": number} | ({} if date is None else {"date": date})
    return json.dumps({":id": identifier, ":file": file}) + "\n"


@given(ANYTHING | st.sampled_from(["xml", 1, [], ""]), st.none() | ANYTHING | st.integers(), ANYTHING | st.none())
@example("xml", "latest", "a.yaml")
@example("xml", "²", "a.yaml")
@example("\ud800", None, "a.yaml")
@example("xml", None, "\ud800")
@example("xml", None, "a\x00b")
def test_an_index_is_read_or_refused(number: object, date: object, file: object) -> None:
    try:
        index = Index.of(parse_rows(row_text(number, date, file).encode(), "index.jsonl"))
    except ConfigurationError:
        return
    find(index, read("REC-xml"))


@pytest.mark.parametrize("left", [b"", b"garbage" * 1000, b"SQLite format 3\x00" + b"x" * 5000])
def test_a_built_index_that_a_power_cut_left_is_built_again(left: bytes, tmp_path: Path) -> None:
    index, cache = tmp_path / "index.jsonl", tmp_path / "cache"
    index.write_text(row_text(date="19980210"))
    Index.open(index, cache).close()
    (built,) = cache.glob("*.sqlite")
    whole = built.read_bytes()
    built.write_bytes(left)
    assert find(Index.open(index, cache), read("REC-xml-19980210")) is not None
    assert len(built.read_bytes()) == len(whole)


@given(st.text(st.characters(exclude_categories=[]), max_size=300))
@example("")
@example("../../etc/passwd")
@example("a\x00b")
@example("\ud800")
@example(".")
def test_a_record_stays_in_its_folder_and_is_seen(docid: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        output = Output(Path(folder) / "data", "yaml")
        path = output.write_unique(docid, "x")
        assert path.parent == output.folder
        assert path.read_text() == "x"
        assert not path.name.startswith("."), "a hidden file is never pruned"


def test_answers_hold_texts_that_can_be_written() -> None:
    """JSON may spell what no file can hold; one title must not end a harvest."""
    answer = Answer("https://api.example.org/", 200, {}, b'{"title": "a\\ud800b\\u0000c", "n\\udfff": ["\\ud800"]}')
    assert answer.json() == {"title": "a\ufffdb\ufffdc", "n\ufffd": ["\ufffd"]}
