from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.sources.dates import parse_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("February 2012", "2012-02"),
        ("February 11, 2012", "2012-02-11"),
        ("2012-02-03", "2012-02-03"),
        ("2012-2-3", "2012-02-03"),
        ("2012-02", "2012-02"),
        ("2012-2", "2012-02"),
        ("2012", "2012"),
        ("Feb 2012", "2012-02"),
        ("Sept 2012", "2012-09"),
        # Beyond the asserted forms: the day is kept, and nothing raises.
        ("11 February 2012", "2012-02-11"),
        ("published on 3 May 1999.", "1999-05-03"),
        ("Version 2012", "2012"),
        ("2012 2013", "2012"),
        ("2012-13-45", "2012"),
        ("2012-02-30", "2012-02"),
        ("February 30, 2012", "2012"),
        ("20120203", "2012"),
        ("2012-02-03T10:00:00Z", "2012-02-03"),
        ("0000", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_as_far_as_they_are_known(text: str | None, expected: str | None) -> None:
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("February 2012", date(2012, 2, 1)), ("2012", date(2012, 1, 1)), ("2012-2-3", date(2012, 2, 3)), ("x", None)],
)
def test_as_a_date_the_unknown_parts_are_one(text: str, expected: date | None) -> None:
    assert parse_date(text, as_text=False) == expected


def test_a_date_stays_what_it_is() -> None:
    for as_text in (True, False):
        assert parse_date(date(2012, 2, 3), as_text) == date(2012, 2, 3)
    moment = datetime(2012, 2, 3, 4)  # noqa: DTZ001
    assert parse_date(moment) is moment


@given(st.text() | st.from_regex(r"[A-Za-z0-9 ,-]{0,12}[0-9]{4}[-0-9 ]{0,6}"))
def test_nothing_raises(text: str) -> None:
    parse_date(text)
    parse_date(text, as_text=False)
