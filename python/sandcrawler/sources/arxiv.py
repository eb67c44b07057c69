"""arXiv: its metadata snapshot (JSON lines), or plain identifiers one a line → the PDF and the HTML of each.

    {"id": "2101.01234", "versions": [{"version": "v1", "created": "…"}], "doi": "10.…", "license": "http://…"}

The last version is asked for, by name, so that a request means the same document for ever; an identifier without one
means the newest. Everything is `submitted`: the DOI is that of the published article, another release, and goes to
edit_extra as published_doi. HTML exists for most articles since December 2023; where it does not, the answer says so.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from sandcrawler import wire
from sandcrawler.extract import identifiers
from sandcrawler.sources.fields import mappings, text
from sandcrawler.sources.requests import BadRow, Numbered, Request, request
from sandcrawler.sources.rows import json_rows, lines, loaded
from sandcrawler.sources.values import looks_like_values

NAME = "arxiv"
FORMS: Mapping[str, str] = {"pdf": "https://arxiv.org/pdf/{}", "html": "https://arxiv.org/html/{}"}


def rows(stream: io.BufferedReader) -> Iterator[Numbered]:
    """Records, or identifiers: each line by how it begins, so that one that is broken says nothing of the others."""
    if looks_like_values(stream.peek(4096)):
        yield from json_rows(stream)
        return
    for number, line in lines(stream):
        if isinstance(line, BadRow):
            yield number, line
        elif line.lstrip().startswith(b"{"):
            yield number, loaded(line)
        elif not line.startswith(b"#"):
            yield number, wire.clean_text(line.decode("utf-8", "replace").strip())


def drafts(record: dict[str, Any] | str) -> Iterator[Request]:
    """The requests of one article."""
    if isinstance(record, str):
        record = {"id": record}
    identifier = identifiers.arxiv(text(record.get("id")) or "")
    if identifier is None:
        raise BadRow(f"not an arXiv identifier: {str(record.get('id'))[:100]!r}")
    versions = [version for one in mappings(record.get("versions")) if (version := text(one.get("version")))]
    if versions and (whole := identifiers.arxiv(identifier.rpartition("v")[0] or identifier)):
        identifier = identifiers.arxiv(f"{whole}{versions[-1]}") or identifier
    extra = {
        name: value
        for name, value in (
            ("published_doi", identifiers.doi(text(record.get("doi")) or "")),
            ("license_url", text(record.get("license"))),
        )
        if value
    }
    for kind, form in FORMS.items():
        yield request(
            kind,
            form.format(identifier),
            NAME,
            identifier,
            by=NAME,
            stage="submitted",
            ids={"arxiv": identifier},
            extra=extra,
        )
