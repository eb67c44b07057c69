"""Which form a list has, by its name or by how it begins, and what its columns are called."""

import re
from collections.abc import Mapping

ENDINGS: Mapping[str, str] = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
}
_NAMED = re.compile(rf"\.({'|'.join(ENDINGS)})(?:\.\w+)?$")
FORMATS = ("lines", "csv", "tsv", "jsonl")
IDS = ("doi", "pmid", "pmcid", "arxiv", "doaj", "isbn13", "oai", "hdl", "jstor", "dblp", "wikidata_qid", "core", "ark")
FIELDS = (
    "base_url",
    "ingest_type",
    "link_source",
    "link_source_id",
    "ingest_request_source",
    "release_stage",
    "rel",
    *IDS,
)

# A column's name in lower case -> the field; the fields' own names work too.
COLUMNS: Mapping[str, str] = {name: name for name in FIELDS} | {
    "url": "base_url",
    "link": "base_url",
    "uri": "base_url",
    "href": "base_url",
    "source": "link_source",
    "id": "link_source_id",
    "identifier": "link_source_id",
    "stage": "release_stage",
    "isbn": "isbn13",
}


def by_name(file: str) -> str | None:
    """The form of a list that its name tells, whatever it is compressed with."""
    found = _NAMED.search(file.lower())
    return ENDINGS[found[1]] if found else None


def guess(head: bytes) -> str:
    """The form of a list by its first line. A line that begins as a URL is one: URLs may have commas.

    JSON lines are known by their second one too: the first may be broken.
    """
    first, rest = _first_line(head)
    if first.startswith((b"{", b"[")):
        return "jsonl"
    if first.startswith((b"http:", b"https:", b"#")):
        return "tsv" if b"\t" in first else "lines"
    if rest.lstrip().startswith(b'{"'):
        return "jsonl"
    if b"\t" in first:
        return "tsv"
    return (
        "csv"
        if b"," in first or delimiter(head) == ";" or first.decode("utf-8", "replace").strip('"') in COLUMNS
        else "lines"
    )


def delimiter(head: bytes) -> str:
    """What parts the cells of CSV: a comma, or the semicolon that spreadsheets write where commas are in numbers.

    A header tells. URLs have semicolons too, so a first line with one in it does not.
    """
    first, _ = _first_line(head)
    names = [name.strip().strip('"') for name in first.decode("utf-8", "replace").split(";")]
    is_parted = first.count(b";") > first.count(b",") and b"://" not in first
    return ";" if is_parted and not COLUMNS.keys().isdisjoint(names) else ","


def _first_line(head: bytes) -> tuple[bytes, bytes]:
    first, _, rest = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    return first.strip().lower(), rest
