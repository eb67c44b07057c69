"""When dead letters are a flood, and what a dead letter says."""

import pytest

from sandcrawler.errors import InvalidMessage
from sandcrawler.runtime import Record
from sandcrawler.runtime.deadletters import LONGEST_TEXT, STAGES, Flood, dead_letter
from sandcrawler.runtime.window import Slot
from tests.runtime.workers import batched, memory, worker


def counted(flood: Flood, pattern: str) -> bool:
    """x is dead, . is good."""
    for sign in pattern:
        flood.count(sign == "x")
    return flood.full


@pytest.mark.parametrize(
    ("pattern", "full"),
    [
        ("", False),
        ("x" * 19, False),
        ("x" * 20, True),
        ("x" * 20 + "." * 200, True),  # a flood does not end by good records
        ("x" * 19 + "." + "x" * 19, False),
        ("x." * 99, False),
        ("x." * 100, True),
        (".x" * 99 + ".." + "x", True),  # half of the last 200, wherever they fall
        ("xxx." * 33 + "." * 200 + "x" * 19, False),  # what is long ago does not count
        ("x.." * 1000, False),
    ],
)
def test_a_flood_is_twenty_in_a_row_or_half_of_the_last_200(pattern: str, full: bool) -> None:
    assert counted(Flood(20, 100), pattern) is full


@pytest.mark.parametrize("stage", sorted(set(STAGES) - {"work"}))
def test_every_stage_of_a_batch_names_its_culprit(stage: str) -> None:
    slot = Slot(Record("in", 3, 99, None, None), stage=stage)
    made = worker(memory(), batched(lambda _batch: None))
    letter = dead_letter(slot, InvalidMessage("x" * 9999 + "\ud800"), made)
    headers = dict(letter.headers)
    assert headers["__connect.errors.stage"] == STAGES[stage].encode()
    assert stage in headers["__connect.errors.class.name"].decode() or stage == "write"
    assert len(headers["__connect.errors.exception.message"]) == LONGEST_TEXT
    assert (letter.topic, letter.key, letter.value) == ("dead", None, None)


def test_an_error_text_that_is_no_utf8_is_kept_readable() -> None:
    letter = dead_letter(
        Slot(Record("in", 0, 0, b"k", b"v")), InvalidMessage("a\ud800b"), worker(memory(), batched(lambda _batch: None))
    )
    assert dict(letter.headers)["__connect.errors.exception.message"] == b"a?b"
