"""Dates as pages write them → year, month, day, each only where the page says it.

Lenient parsers fill what is missing from today, read "yesterday", and guess 01/02/2020. Here a form is either in the
table below, or it gives the year alone (where one plausible year stands there), or nothing. Where day and month could
be either, neither is known. Month names beyond the table are looked up by dateparser, and believed only for parts
that stand in the text. A zone offset never moves a date: the page's own day counts.
"""

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime

FIRST_YEAR = 1500
MAX_CHARACTERS = 200

# Names that mean the same month in every language that has them (so no "listopad": November in Polish, October in
# Croatian).
MONTHS = {
    1: "january jan enero ene janeiro janvier janv januar jän jänner januari gennaio gen styczeń stycznia января янв "
    "січня ocak ianuarie leden ledna január január januára tammikuuta",
    2: "february feb febr febrero fevereiro fev février févr fevrier fevr februar februari febbraio luty lutego "
    "февраля фев лютого şubat subat februarie únor února február februára helmikuuta pebruari",
    3: "march mar marzo março marco mars märz maerz mär mrt maart marts marzec marca марта мар березня mart martie "
    "březen března március marec maaliskuuta maret",
    4: "april apr abril abr avril avr aprile kwiecień kwietnia апреля апр квітня nisan aprilie duben dubna április "
    "apríl apríla huhtikuuta",
    5: "may mayo maio mai maggio mag mei maj maja мая травня mayıs mayis květen května május mája toukokuuta",
    6: "june jun junio junho jun juin juni giugno giu czerwiec czerwca июня июн червня haziran iunie června június "
    "jún júna kesäkuuta",
    7: "july jul julio julho juillet juil juli luglio lug lipiec lipca июля июл липня temmuz iulie července július "
    "júl júla heinäkuuta",
    8: "august aug agosto ago août aout augustus augusti sierpień sierpnia августа авг серпня ağustos agustos "
    "srpen srpna augusztus augusta elokuuta agt",
    9: "september sep sept septiembre setiembre setembro set septembre settembre wrzesień września сентября сен сент "
    "вересня eylül eylul septembrie září szeptember septembra syyskuuta",
    10: "october oct octubre outubro out octobre oktober okt ottobre ott październik października октября окт жовтня "
    "ekim octombrie říjen října október októbra lokakuuta",
    11: "november nov noviembre novembro novembre ноября ноя листопада kasım kasim noiembrie novembra marraskuuta nop",
    12: "december dec diciembre dic dezembro dez décembre decembre déc dezember dicembre grudzień grudnia декабря дек "
    "грудня aralık aralik decembrie prosinec prosince decembra joulukuuta desember des",
}
_MONTH = {unicodedata.normalize("NFKC", name): number for number, names in MONTHS.items() for name in names.split()}

_M = r"(?P<name>[^\W\d_]{3,})\.?"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|ª|º|\.|a|o)?"
_OF = r"(?:\s*[-/,.]\s*|\s+(?:of\s+|de\s+|del\s+|di\s+)?)"
_Y = r"(?P<y>\d{4})(?!\d)"
# Tried in this order; each must match all of the text.
_FORMS = [
    re.compile(form)
    for form in (
        r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?:z|[+-]\d\d:\d\d)?",
        r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})",
        r"(?P<m>0?\d|1[0-2])[-/.](?P<y>\d{4})",
        r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?:t?\d{6}|t\d{4})?",
        r"(?P<y>\d{4})(?P<m>\d\d)",
        r"(?P<y>\d{4})",
        r"(?P<d>\d{1,2})\.\s*(?P<m>\d{1,2})\.\s*(?P<y>\d{4})",  # points: day first, wherever they are used
        r"(?P<a>\d{1,2})([-/ ])(?P<b>\d{1,2})\2(?P<y>\d{4})",  # either may be the month
        r"(?P<y>\d{4})\s*[年년]\s*(?P<m>\d{1,2})\s*[月월]\s*(?P<d>\d{1,2})\s*[日일号]?",
        r"(?P<y>\d{4})\s*[年년]\s*(?:(?P<m>\d{1,2})\s*[月월])?",
        rf"{_D}{_OF}{_M}{_OF}{_Y}",
        rf"{_M}{_OF}{_D}(?:\s*,\s*|\s+|-){_Y}",
        rf"{_Y}{_OF}{_M}{_OF}{_D}",
        rf"{_M}{_OF}{_Y}",
        rf"{_Y}{_OF}{_M}",
    )
]
_CLOCK = re.compile(r"(?:(?<=\d)t|(?<!\d))\s*\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?:[ap]\.?m\b\.?)?")
_ZONE = re.compile(
    r"(?:\b(?:gmt|utc|z|[a-z]{1,4}t)\b)?\s*(?<![\d/.-])[+-]\d\d:?\d\d\b|(?<=[\d\s])z$"
    r"|\b(?:gmt|utc|cet|cest|bst|[ecmp][sd]t)\b|\([^()]*\)"
)
_WEEKDAY = re.compile(r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[.,]?\s*")
_LEAD = re.compile(
    r"^(?:\(?c\)?|©|(?:first\s+)?(?:published|posted|available|issued|date)(?:\s+(?:online|on|date))*)\s*:?\s+(?=\S)"
)
_YEAR = re.compile(r"(?<![\d.,:/])\d{4}(?![\d:]|[./]\d)")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as exact as its source: never a day without a month."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def iso(self) -> str | None:
        """YYYY-MM-DD, None where the day is not known."""
        return f"{self.year:04}-{self.month:02}-{self.day:02}" if self.month and self.day else None


def parse_date(text: str) -> PartialDate | None:
    """The date that a text states, as exact as it states it; None where it states none or may mean two years."""
    if len(text) > MAX_CHARACTERS:
        return None
    plain = _bare(text)
    for form in _FORMS:
        if (found := form.fullmatch(plain)) and (parts := _parts(found.groupdict())):
            return _checked(*parts)
    if plain.isdigit():
        return None
    return _foreign(plain) or _year_alone(plain)


def _bare(text: str) -> str:
    """Lower case, ASCII digits and hyphens, single blanks; without clock, zone, weekday and "published:"."""
    plain = unicodedata.normalize("NFKC", text).lower()
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in plain)
    plain = " ".join(re.sub("[‐-―−]", "-", plain).split())
    plain = _WEEKDAY.sub("", _LEAD.sub("", plain))
    if ":" in plain:
        plain = _ZONE.sub(" ", _CLOCK.sub(" ", plain, count=1))
    return " ".join(plain.split()).strip(" ,;./+-")


def _parts(found: dict[str, str | None]) -> tuple[int, int | None, int | None] | None:
    """Year, month, day of a match as numbers; None where its word is no month."""
    number = {key: int(value) for key, value in found.items() if value is not None and key != "name"}
    year, month, day = number["y"], number.get("m"), number.get("d")
    if "name" in found:
        month = _MONTH.get(found["name"] or "")
        if month is None:
            return None
    if "a" in number:
        first, second = number["a"], number["b"]
        if first > 12 or first == second:
            month, day = second, first
        elif second > 12:
            month, day = first, second
    return year, month, day


def _checked(year: int, month: int | None, day: int | None) -> PartialDate | None:
    """The date with as much of it as exists in the calendar: 2020-02-30 and 2020-00-00 are known to the year."""
    if not _plausible(year):
        return None
    if not month or month > 12:
        return PartialDate(year)
    if not day:
        return PartialDate(year, month)
    try:
        date(year, month, day)
    except ValueError:
        return PartialDate(year)
    return PartialDate(year, month, day)


def _plausible(year: int) -> bool:
    return FIRST_YEAR <= year <= datetime.now(UTC).year + 1


def _year_alone(plain: str) -> PartialDate | None:
    """The one plausible year of a text such as "Fall 2021" or "May/June 2010"."""
    years = {int(year) for year in _YEAR.findall(plain)}
    return PartialDate(year) if len(years) == 1 and _plausible(year := years.pop()) else None


def _foreign(plain: str) -> PartialDate | None:
    """A day, a month's name that the table lacks, and a year: "5 Μαρτίου 2020"."""
    numbers = re.findall(r"\d+", plain)
    words = re.findall(r"[^\W\d_]{2,}", plain)
    if len(numbers) != 2 or len(words) != 1 or len(plain) > 40 or words[0].isascii():
        return None
    if not any(len(number) == 4 and _plausible(int(number)) for number in numbers):
        return None
    from dateparser.date import DateDataParser  # noqa: PLC0415  (0.2 s that few documents need)

    data = DateDataParser(settings={"REQUIRE_PARTS": ["day", "month", "year"]}).get_date_data(plain)
    if data.date_obj is None or data.period != "day":
        return None
    if sorted((data.date_obj.day, data.date_obj.year)) != sorted(map(int, numbers)):
        return None
    return _checked(data.date_obj.year, data.date_obj.month, data.date_obj.day)
