"""Dates as sources write them, as far as they are known: YYYY, YYYY-MM or YYYY-MM-DD.

The rules are tried in order, anywhere in the text; one that finds no real date passes on to the next. Never raises.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal, overload

MONTHS: Mapping[str, int] = {
    name[:length]: number
    for number, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
         "november", "december"), 1)
    for length in {3, 4 if name == "september" else 3, len(name)}
}  # fmt: skip

RULES = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"\b(?P<day>\d{1,2})\s(?P<month>[A-Za-z]+)\s(?P<year>\d{4})",  # 11 February 2012
        r"(?P<month>[A-Za-z]+)\s(?P<year>\d{4})",  # February 2012
        r"(?P<month>[A-Za-z]+)\s(?P<day>\d{1,2}),\s(?P<year>\d{4})",  # February 11, 2012
        r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
        r"(?P<year>\d{4})-(?P<month>\d{1,2})",
        r"(?P<year>\d{4})",
    )
)


@overload
def parse_date(value: object, as_text: Literal[True] = True) -> str | date | None: ...
@overload
def parse_date(value: object, as_text: Literal[False]) -> date | None: ...
def parse_date(value: object, as_text: bool = True) -> str | date | None:
    """The date in a text, as text or as a date whose unknown parts are 1; None where there is none. A date stays."""
    if isinstance(value, date):
        return value
    for rule in RULES:
        for found in rule.finditer(str(value or "")):
            parts = found.groupdict()
            day = _date(parts)
            if day is not None:
                known = 10 if "day" in parts else 7 if "month" in parts else 4
                return day.isoformat()[:known] if as_text else day
    return None


def _date(parts: Mapping[str, str]) -> date | None:
    month = parts.get("month", "1")
    number = int(month) if month.isdigit() else MONTHS.get(month.lower(), 0)
    try:
        return date(int(parts["year"]), number, int(parts.get("day", "1")))
    except ValueError:
        return None
