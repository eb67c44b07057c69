"""A great batch goes out in parts, so that no message's clock runs while others are under way."""

import pytest

from sandcrawler.kafka import producer
from sandcrawler.runtime import Message


def message(size: int) -> Message:
    return Message("t", b"k", b"x" * size if size else None)


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ([], []),
        ([5], [[5]]),
        ([4, 6, 1], [[4, 6], [1]]),
        ([11, 1, 10, 10], [[11], [1], [10], [10]]),
        ([0] * 50, [[0] * 50]),
        ([9, 3, 3, 3, 30, 2], [[9], [3, 3, 3], [30], [2]]),
    ],
)
def test_parts_keep_the_order_and_are_bounded(
    sizes: list[int], wanted: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producer, "TOGETHER_BYTES", 10)
    got = [[len(one.value or b"") for one in part] for part in producer.parts([message(size) for size in sizes])]
    assert got == wanted
