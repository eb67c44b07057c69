"""Tables as people have them: quotes that are never closed, cells without end, files that are cut."""

import gzip
import io
import random

import pytest

from sandcrawler.sources.requests import BadRow
from sandcrawler.sources.rows import whole
from sandcrawler.sources.streams import decoded
from sandcrawler.sources.tables import csv_rows


def table(data: bytes) -> list[tuple[int, list[str] | str]]:
    found = csv_rows(decoded(io.BytesIO(data)), ",")
    return [(number, "bad" if isinstance(cells, BadRow) else cells) for number, cells in found]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_an_open_quote_costs_its_line_only(end: bytes) -> None:
    assert table(b'a,b\n1,"x\n2,y\n3,z' + end) == [(1, ["a", "b"]), (2, "bad"), (3, ["2", "y"]), (4, ["3", "z"])]
    assert table(b'1,x\n2,"' + end) == [(1, ["1", "x"]), (2, "bad")]
    assert table(b'1,"x\n2,"y\n3,""' + end)[-1][0] == 3


def test_an_open_quote_is_found_before_the_end() -> None:
    """The rows behind it are there although one far below closes it, and the numbers go on as they were."""
    lines = [b"%d,x" % number for number in range(1, 5_001)]
    lines[9], lines[3_999], lines[4_499] = b'10,"x', b'4000,"a\nb"', b'4500,"x'
    found = table(b"\n".join(lines))
    assert [number for number, cells in found if cells == "bad"] == [10, 4501]
    assert [cells[0] for _, cells in found if cells != "bad"] == [
        str(number) for number in range(1, 5_001) if number not in {10, 4500}
    ]
    assert found[-1] == (5_001, ["5000", "x"])


def test_an_open_quote_does_not_reach_to_the_next_quoted_cell() -> None:
    """Far below, a cell in quotes seems to close it; what follows there shows that it opens one."""
    assert table(b'1,"x\n2,y\n3,z\n"4","w"\n5,v\n') == [
        (1, "bad"),
        (2, ["2", "y"]),
        (3, ["3", "z"]),
        (4, ["4", "w"]),
        (5, ["5", "v"]),
    ]
    assert table(b'1,"two\nlines, and a ""quote"""\n"2\n",y\n') == [
        (2, ["1", 'two\nlines, and a "quote"']),
        (4, ["2", "y"]),
    ]


def test_long_cells_are_cells() -> None:
    assert table(b'1,"' + b"x" * 500_000 + b'"\n2,y\n') == [(1, ["1", "x" * 500_000]), (2, ["2", "y"])]


def test_rows_of_a_cut_table() -> None:
    noise = random.Random(7)
    lines = [b"%d,%x" % (number, noise.getrandbits(100)) for number in range(1, 1_001)]
    lines[4] = b'5,"x'
    found = list(
        whole(lambda stream: csv_rows(stream, ","), decoded(io.BytesIO(gzip.compress(b"\n".join(lines))[:-200])))
    )
    assert isinstance(found[4][1], BadRow)
    assert isinstance(found[-1][1], BadRow)
    assert [value[0] for _, value in found[5:-1]] == [str(number) for number in range(6, len(found))]
    assert len(found) > 950
