"""Dates: every form in the table, and nothing that the page did not say."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler.extract.dates import MONTHS, PartialDate, parse_date

DAYS = {
    "2010-05-06": """
        2010-05-06|2010/5/6|2010.05.06|20100506|20100506T101112|2010-05-06T23:59:59-08:00
        |2010-05-06T00:00:00.000Z|2010-05-06 10:11:12|2010-05-06Z|2010-05-06+02:00|6.5.2010|06. 05. 2010|6 May 2010
        |May 6, 2010|6th of May, 2010|May 6th 2010|2010 May 6
        |2010-May-06|06-May-2010|Thu May 06 2010|Thu, 06 May 2010 07:00:00 GMT
        |Thu May 06 00:00:00 EDT 2010|Thu May 06 2010 02:00:00 GMT+0200 (CEST)
        |6 de mayo de 2010|6 mai 2010|6. Mai 2010|6 мая 2010|6 maja 2010|2010年5月6日|2010년 5월 6일
        |Published: 6 May 2010|Available online 6 May 2010|٦ مايو ٢٠١٠
        |6 Μαΐου 2010|６ May ２０１０""",
    "2015-01-01": "01/01/2015|1 janvier 2015|1er janvier 2015",
    "2019-12-31": "31/12/2019|12/31/2019|31-12-2019",
}
YEARS = """
    2010|c2010|[2010]|May 2010|2010-05|2010/05|05/2010|2010//|2010-00-00|2010-02-30|04/05/2010|4-5-2010|Spring 2010
    |Fall 2010|May/June 2010|Jan-Mar 2010|2010 May-Jun|January 1-5, 2010
    |2010年5月|Vol. 3, 2010|201005|31 June 2010|1 listopada 2010"""
NOTHING = """
    |yesterday|n.d.|Vol. 12|1585699200|0000-00-00|12/31/19|2009-2010|2009/2010|now|9999|1399/05/12|2563|last May|12
    |123456|in press|http://example.org/x"""


@pytest.mark.parametrize(
    ("iso", "text"), [(iso, text.strip()) for iso, texts in DAYS.items() for text in texts.split("|")]
)
def test_a_day_is_read(iso: str, text: str) -> None:
    found = parse_date(text)
    assert found is not None
    assert found.iso == iso


@pytest.mark.parametrize("text", list(map(str.strip, YEARS.split("|"))))
def test_no_day_is_invented(text: str) -> None:
    found = parse_date(text)
    assert found is not None
    assert (found.year, found.iso) == (2010, None)


@pytest.mark.parametrize("text", [*map(str.strip, NOTHING.split("|")), "x" * 500])
def test_no_date_is_invented(text: str) -> None:
    assert parse_date(text) is None


def test_months_are_known_where_they_are_stated() -> None:
    assert parse_date("Mar 2020") == PartialDate(2020, 3)
    assert parse_date("2020-00-00") == PartialDate(2020)


def test_a_months_name_means_one_month() -> None:
    names = [name for names in MONTHS.values() for name in set(names.split())]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@given(
    st.dates(date(1500, 1, 1), date(datetime.now(UTC).year, 12, 31)),
    st.sampled_from(["%Y-%m-%d", "%Y/%m/%d", "%d %B %Y"]),
)
def test_whatever_is_written_is_read_back(day: date, form: str) -> None:
    text = day.strftime(form).replace(day.strftime("%Y"), f"{day.year:04}")
    found = parse_date(text)
    assert found is not None
    assert found.iso == day.isoformat()


@given(st.text(max_size=60) | st.from_regex(r"[0-9./ -]{0,14}", fullmatch=True))
@settings(deadline=None)  # the first foreign month loads a library
def test_any_text_gives_a_date_of_its_own_year_or_none(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.iso is None or date.fromisoformat(found.iso).year == found.year
