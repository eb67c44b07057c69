"""W3C publication identifiers: "W3C" + [maturity level "-"] + number + ["-" date].

"W3C REC-xml-names-19990114" is a Recommendation, number (the short name) xml-names, date 19990114. Everything that can
be read is read: whatever has no level is a standard, whatever has no date at its end has none. So "W3C css-2010" has
number css and date 2010, and "W3C RET-x-20200101" is a standard whose number is RET-x. Reading and writing again gives
the same text.
"""

import re
from dataclasses import dataclass

from sandcrawler.sources.base import BadReference

LIMIT_CHARS = 1000

# Maturity level → kind, in the order in which they are tried (CRD before CR). Case counts.
LEVELS = {
    "DNOTE": "draft-note",
    "NOTE": "note",
    "WD": "working-draft",
    "CRD": "candidate-recommendation-draft",
    "CR": "candidate-recommendation",
    "REC": "recommendation",
    "PER": "proposed-edited-recommendation",
    "PR": "proposed-recommendation",
    "SPSD": "superseded-recommendation",
    "OBSL": "obsolete-recommendation",
}
STANDARD = "standard"
TYPE_PREFIX = "pubid:w3c:"
TOKENS = {kind: level for level, kind in LEVELS.items()}
KINDS = frozenset(TOKENS) | {STANDARD}

WHOLE = re.compile(rf"W3C (?:({'|'.join(LEVELS)})-)?+(.+)", re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")
DATE = re.compile(r"[0-9]{1,20}")
DATED = re.compile(r"(.+)-([0-9]{8}|[0-9]{6}|[0-9]{4})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pubid:
    """One identifier. `date` is text as it stands (8, 6 or 4 digits), never checked."""

    kind: str
    number: str
    date: str | None = None

    @property
    def type(self) -> str:
        """The name of its kind in an index, such as pubid:w3c:recommendation."""
        return TYPE_PREFIX + self.kind

    @property
    def year(self) -> str | None:
        """The first four of an eight-digit date."""
        return self.date[:4] if self.date and len(self.date) == 8 else None

    @property
    def urn(self) -> str:
        """urn:w3c:[level:]number[:date], such as urn:w3c:rec:xml-names:19990114."""
        level = TOKENS.get(self.kind, "").lower()
        return ":".join(part for part in ("urn:w3c", level, self.number, self.date) if part)

    def __str__(self) -> str:
        return "W3C " + "-".join(part for part in (TOKENS.get(self.kind), self.number, self.date) if part)


def parse(text: str) -> Pubid:
    """The identifier that a text is, whole. BadReference where it is none."""
    if len(text) > LIMIT_CHARS:
        raise BadReference(f"longer than {LIMIT_CHARS} characters")
    if SURROGATE.search(text):  # bytes of a command line that are no UTF-8
        raise BadReference(f"{text!r} is no text")
    whole = WHOLE.fullmatch(text)
    if whole is None:
        raise BadReference(f"{text!r} is no W3C identifier")
    level, rest = whole.groups()
    kind = LEVELS[level] if level else STANDARD
    dated = DATED.fullmatch(rest)
    return Pubid(kind, *dated.groups()) if dated else Pubid(kind, rest)


def of_index(row: dict[str, str]) -> Pubid:
    """The identifier in an index row: {_type, number, [date]}. ValueError where the row is malformed."""
    kind = str(row.get("_type", "")).removeprefix(TYPE_PREFIX)
    number, date = row.get("number"), row.get("date")
    if kind not in KINDS or not isinstance(number, str) or not number or not isinstance(date, str | None):
        raise ValueError(f"not an identifier of W3C: {row!r}")
    if SURROGATE.search(number) or (date and not DATE.fullmatch(date)):
        raise ValueError(f"not an identifier of W3C: {row!r}")
    return Pubid(kind, number, date)
