"""Every source of requests that reads files: how its input is cut into rows, and what one row asks for.

Lists have options of their own (plain.py), live endpoints too (oai.py): their callers make a `Maker` for themselves.
"""

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandcrawler.sources import arxiv, crossref, doaj, fatcat, openalex, pmc
from sandcrawler.sources.requests import Report, Request, make
from sandcrawler.sources.rows import Read, json_rows, whole
from sandcrawler.sources.seen import Seen


@dataclass(frozen=True)
class Maker:
    """A source of requests. `kinds`: the types that are asked for unless the caller says otherwise; None means all."""

    name: str
    read: Read
    draft: Callable[[Any], Iterable[Request]]
    about: str
    kinds: tuple[str, ...] | None = None


MAKERS: Mapping[str, Maker] = {
    maker.name: maker
    for maker in (
        Maker(doaj.NAME, json_rows, doaj.drafts, "DOAJ's article dump (tar.gz, JSON, JSON lines)"),
        Maker(crossref.NAME, json_rows, crossref.drafts, "Crossref works (snapshot, JSON lines, API answers)"),
        Maker(openalex.NAME, json_rows, openalex.drafts, "OpenAlex works (snapshot, API answers)"),
        Maker(pmc.NAME, pmc.rows, pmc.drafts, "PMC's articles (metadata, inventory, file lists)", ("xml",)),
        Maker(arxiv.NAME, arxiv.rows, arxiv.drafts, "arXiv's metadata snapshot (JSON lines), or identifiers"),
        Maker(fatcat.NAME, json_rows, fatcat.drafts, "fatcat's release entities (JSON lines)"),
    )
}


def requests(maker: Maker, stream: io.BufferedReader, report: Report, seen: Seen | None = None) -> Iterator[Request]:
    """A stream's requests, as they come. Give `seen` on from file to file."""
    return make(whole(maker.read, stream), maker.draft, seen or Seen(), report)


def chosen(maker: Maker, kinds: Collection[str] | None = None, by: str | None = None) -> Maker:
    """The maker narrowed to types of request, and with another name for who asks."""
    wanted = kinds or maker.kinds
    if wanted is None and by is None:
        return maker

    def draft(value: Any) -> Iterator[Request]:
        for one in maker.draft(value):
            if wanted is None or one["ingest_type"] in wanted:
                yield one if by is None else one | {"ingest_request_source": by}

    return replace(maker, draft=draft)
