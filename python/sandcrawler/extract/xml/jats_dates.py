"""When a JATS article came out: the first of its <pub-date>s by a table of kinds."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from sandcrawler.extract import dates
from sandcrawler.extract.dates import PartialDate
from sandcrawler.extract.xml.nodes import Fields, child, children, text

# Kinds in order (pub-type, or date-type and publication-format); others come before the last resorts.
ORDER = ("epub", "pub electronic", "pub online", "pub", "epub-ppub", "ppub", "pub print", "collection")
LAST_RESORTS = ("pmc-release", "nihms-submitted", "preprint", "hwp-received", "hwp-created", "retracted", "corrected")


def read(meta: Element | None) -> Fields:
    """release_date (only when the day is known) and release_year."""
    found = [date for _, date in sorted(_dates(meta), key=lambda pair: pair[0])]
    if not found:
        return {}
    # A later kind may know the day of the first, never another year: "epub 2018" is not its deposit of 2019-01-05.
    chosen = next((date for date in found if date.iso and date.year == found[0].year), found[0])
    return {"release_date": chosen.iso, "release_year": chosen.year}


def _dates(meta: Element | None) -> Iterator[tuple[int, PartialDate]]:
    """Each date with its rank; those of deposits and the like only where there is no other."""
    last: list[tuple[int, PartialDate]] = []
    others = False
    for one in children(meta, "pub-date"):
        date = _date(one)
        if date is not None:
            kind = " ".join(filter(None, map(one.get, ("pub-type", "date-type", "publication-format")))).lower()
            if any(word in kind for word in LAST_RESORTS):
                last.append((0, date))
            else:
                others = True
                yield (ORDER.index(kind) if kind in ORDER else len(ORDER)), date
    if not others:
        yield from last


def _date(one: Element) -> PartialDate | None:
    """A <pub-date> by its parts, its ISO attribute or its words."""
    year, month, day = (text(child(one, name)) for name in ("year", "month", "day"))
    if year:
        exact = dates.parse_date(f"{year}-{month}-{day}" if month and month.isdigit() and day else "")
        return (
            exact
            or dates.parse_date(" ".join(filter(None, (day if month else None, month, year))))
            or dates.parse_date(year)
        )
    said = one.get("iso-8601-date") or text(child(one, "string-date"))
    return dates.parse_date(said) if said else None
