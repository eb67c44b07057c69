"""The example site as values: what each URL answers, which of them are asked for, and what should come of it.

`site/table.toml` is the one place to read or change the site. Its `[[document]]` entries are the links that the demo
sends through the pipeline; each lists the `answers` that its way needs: redirects, the page, its figures. Everything
is invented: the journals, the studies, the DOIs (prefix 10.5555) and the hosts (below example.org and example.net).

A link with `?copy=17` answers as the link without it, so that a few documents make as many distinct requests as a
test wants; where the server is told so, each copy also has bytes, and so a hash, of its own.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, model_validator

from sandcrawler.model import IngestType
from sandcrawler.status import Scope, Status

SITE = files("sandcrawler.demo") / "site"

# Content-Type of a file by its suffix, where the table gives none.
TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
}
COPY = "copy="


class Row(BaseModel):
    """A row of the table: frozen, and a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Answer(Row):
    """What one URL answers. `delay`: seconds before the head; `drip`: seconds over which the body trickles out."""

    url: str
    status: int = 200
    type: str | None = None
    location: str | None = None
    headers: dict[str, str] = {}
    file: str | None = None
    body: bytes = b""
    delay: float = 0.0
    drip: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _read(cls, row: dict[str, Any]) -> dict[str, Any]:
        """The file's bytes become the body, its suffix the type."""
        file = row.get("file")
        if file is None:
            return row
        suffix = PurePosixPath(file).suffix
        return {"type": TYPES[suffix], "body": SITE.joinpath(*file.split("/")).read_bytes(), **row}

    def marked(self, copy: str) -> "Answer":
        """The same answer with other bytes: a comment at its end names the copy. What is no markup stays as it is."""
        markup = self.body and "ml" in (self.type or "")
        return self.model_copy(update={"body": self.body + f"<!-- copy {copy} -->".encode()}) if markup else self

    def unless(self, sent: Mapping[str, str]) -> "Answer":
        """What a request with these headers gets: 304 where it has this version (its ETag, its Last-Modified)."""
        named = {"ETag": sent.get("If-None-Match"), "Last-Modified": sent.get("If-Modified-Since")}
        held = {name: value for name, value in self.headers.items() if value == named.get(name)}
        return Answer(url=self.url, status=304, headers=held) if held and self.status == 200 else self

    def sent_headers(self) -> dict[str, str]:
        """The response's headers, as the table gives them."""
        named = {"Content-Type": self.type, "Location": self.location}
        return {key: value for key, value in named.items() if value} | self.headers


class Expected(Row):
    """What should come of a document. `terminal`: the last hop; `missing`: sub-resources that cannot be had."""

    status: Status
    scope: Scope | None = None
    title: str | None = None
    terminal: str | None = None
    missing: int = 0


class Document(Row):
    """One link to ask for, what it shows, what should come of it, and all that its web consists of."""

    name: str
    shows: str
    url: str
    ingest_type: IngestType = "html"
    doi: str | None = None
    expected: Expected
    answers: tuple[Answer, ...]


class Table(Row):
    """The whole of `site/table.toml`."""

    document: tuple[Document, ...]
    answers: tuple[Answer, ...] = ()


@cache
def table() -> Table:
    """The example site."""
    return Table.model_validate(tomllib.loads(SITE.joinpath("table.toml").read_text("utf-8")))


def documents(*types: IngestType) -> tuple[Document, ...]:
    """The example site's documents, of these types (HTML where none is named)."""
    return tuple(document for document in table().document if document.ingest_type in (types or ("html",)))


def answers() -> tuple[Answer, ...]:
    """Every URL of the example site with its answer."""
    return tuple(answer for document in table().document for answer in document.answers) + table().answers


def requests(copies: int = 1, *types: IngestType) -> Iterator[dict[str, Any]]:
    """Ingest requests for the documents of these types (HTML where none is named), `copies` distinct ones for each."""
    for copy in range(copies):
        for document in documents(*types):
            yield {
                "ingest_type": document.ingest_type,
                "base_url": copied(document.url, copy),
                "link_source": "demo",
                "link_source_id": document.name,
                "ingest_request_source": "demo",
                **({"ext_ids": {"doi": document.doi}} if document.doi else {}),
            }


def copied(url: str, copy: int) -> str:
    """The URL of one copy; copy 0 is the URL itself."""
    return f"{url}{'&' if '?' in url else '?'}{COPY}{copy}" if copy else url


def original(url: str) -> tuple[str, str]:
    """The URL without its copy number, which is what the table knows it by; and the number ("" for the original)."""
    head, _, query = url.partition("?")
    parts = [part for part in query.split("&") if part]
    kept = [part for part in parts if not part.startswith(COPY)]
    number = next((part.removeprefix(COPY) for part in parts if part.startswith(COPY)), "")
    return (f"{head}?{'&'.join(kept)}" if kept else head), number


def hosts(site: Iterable[Answer]) -> list[str]:
    """The host names that these answers stand for, sorted."""
    return sorted({urlsplit(answer.url).hostname or "" for answer in site})
