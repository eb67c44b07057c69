"""Plain lists of links, as people have them: a URL a line, CSV, TSV, or JSON lines → requests.

Which of these a file is shows in its first line. Columns are known by their names (`COLUMNS`), or named by the caller
({"base_url": "Full text link"}); a table without a header is searched for the column with the URL, and columns can
be named by number there, from 1. JSON lines may be whole requests: what they say is kept, fields that we do not know
too. A link without an identifier of its own gets its URL for one, or the URL's SHA-1 where it is longer than 500 bytes.
"""

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from sandcrawler import wire
from sandcrawler.errors import ConfigurationError
from sandcrawler.model import IngestRequest
from sandcrawler.sources.fields import mapping, text
from sandcrawler.sources.forms import COLUMNS, FIELDS, FORMATS, IDS, delimiter, guess
from sandcrawler.sources.requests import ID_BYTES, BadRow, Numbered, Request, ext_ids, web_url
from sandcrawler.sources.rows import json_lines, text_rows
from sandcrawler.sources.tables import table_rows
from sandcrawler.sources.values import looks_like_values, values

NAME = "list"


@dataclass(frozen=True)
class Options:
    """What the caller says of a list. `columns`: field -> the column's name or number.

    `notice` hears of columns that nothing is made of: a request has a field for each thing that is known of it, and
    what else people keep beside their links may be long, or private.
    """

    kinds: Sequence[str] = ("html",)
    link_source: str = NAME
    by: str = NAME
    columns: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    notice: Callable[[str], object] = field(default=lambda _: None, compare=False)

    def __post_init__(self) -> None:
        for name in self.columns:
            if name not in FIELDS:
                raise ConfigurationError(f"--column: {name!r} is not one of {', '.join(FIELDS)}")
        if self.format is not None and self.format not in FORMATS:
            raise ConfigurationError(f"--format: {self.format!r} is not one of {', '.join(FORMATS)}")


def rows(options: Options) -> Callable[[io.BufferedReader], Iterator[Numbered]]:
    """The reader of a list."""

    def read(stream: io.BufferedReader) -> Iterator[Numbered]:
        form = options.format or guess(stream.peek(4096))
        if form == "jsonl":
            return values(stream) if looks_like_values(stream.peek(4096)) else json_lines(stream)
        if form == "lines":
            return text_rows(stream)
        return table_rows(stream, "\t" if form == "tsv" else delimiter(stream.peek(4096)), told)

    def told(cells: list[str]) -> tuple[Mapping[str, int], bool]:
        places, is_data = header(cells, options.columns)
        unused = [] if is_data else [cell for place, cell in enumerate(cells) if cell and place not in places.values()]
        if unused:
            options.notice(f"columns that nothing is made of: {_one_line(unused)} (see --column)")
        return places, is_data

    return read


def _one_line(names: Iterable[str]) -> str:
    return " ".join(", ".join(names).split())[:500]


def header(cells: list[str], columns: Mapping[str, str]) -> tuple[Mapping[str, int], bool]:
    """Where each field is, and whether this first row is data: it is where one of its cells is a URL."""
    is_data = any(cell.lower().startswith(("http://", "https://")) for cell in cells)
    named = {} if is_data else {cell.strip().lower(): place for place, cell in reversed(list(enumerate(cells)))}
    places: dict[str, int] = {}
    for name in sorted(named, key=_rank):
        if name in COLUMNS:
            places.setdefault(COLUMNS[name], named[name])
    if is_data:
        places["base_url"] = next(i for i, cell in enumerate(cells) if cell.lower().startswith("http"))
    for field_, column in columns.items():
        if column.strip().lower() in named:
            places[field_] = named[column.strip().lower()]
        elif column.isascii() and column.isdigit() and 1 <= int(column) <= len(cells):
            places[field_] = int(column) - 1
        else:
            raise ConfigurationError(f"--column: there is no column {column!r}; there are {', '.join(cells)[:500]}")
    if "base_url" not in places:
        raise ConfigurationError(
            f"no column is known to hold URLs: say --column base_url=NAME; there are {', '.join(cells)[:500]}"
        )
    return places, is_data


def drafts(row: Any, options: Options) -> Iterator[Request]:
    """The requests of one row (fields, or a URL): one for each type asked for, or the one of the row's own type."""
    if isinstance(row, str):
        row = {"base_url": row}
    if not isinstance(row, dict):
        raise BadRow(f"a JSON object or a URL is needed, this is {type(row).__name__}")
    if any(isinstance(value, (float, dict, list)) for value in row.values()):
        _check_numbers(row)
    known: dict[str, Any] = {}
    for name in sorted(row, key=_rank):
        if row[name] not in (None, ""):
            known.setdefault(COLUMNS.get(name.lower(), name), row[name])
    known |= {name: row[column] for name, column in options.columns.items() if column in row}
    url = web_url(known.get("base_url"))
    ids = ext_ids(mapping(known.pop("ext_ids", None)) | {name: known.pop(name) for name in IDS if name in known})
    fixed = {
        "base_url": url,
        "link_source": text(known.get("link_source")) or options.link_source,
        "link_source_id": text(known.get("link_source_id")) or own_id(url),
        "ingest_request_source": text(known.get("ingest_request_source")) or options.by,
    } | ({"ext_ids": ids} if ids else {})
    kind = text(known.get("ingest_type"))
    for one in (kind.lower(),) if kind else options.kinds:
        draft = {"ingest_type": one} | known | fixed | {"ingest_type": one}
        try:
            IngestRequest.model_validate(draft)
        except ValidationError as error:
            raise BadRow(f"not a valid ingest request: {wire.reasons(error)}") from error
        yield draft


def _rank(name: str) -> int:
    """A field's own name goes before others for it, whatever their order; among those the first."""
    return 0 if name in FIELDS else 1 if name.lower() in FIELDS else 2


def _check_numbers(row: dict[str, Any]) -> None:
    try:
        json.dumps(row, allow_nan=False)
    except ValueError as error:
        raise BadRow("a number is larger than JSON's readers agree on (1e308)") from error


def own_id(url: str) -> str:
    """An identifier for a link that has none."""
    written = url.encode("utf-8", "replace")
    return url if len(written) <= ID_BYTES else hashlib.sha1(written, usedforsecurity=False).hexdigest()
