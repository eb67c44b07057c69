"""OpenAlex: works (snapshot lines, answers of its API) → requests for their locations.

    {"id": "https://openalex.org/W1", "ids": {"doi": "https://doi.org/10.…", "pmid": "https://pubmed…", "pmcid": "…"},
     "locations": [{"pdf_url": "https://…", "landing_page_url": "https://…", "version": "acceptedVersion",
                    "license": "cc-by", "is_oa": true}]}

`pdf_url` is asked for as PDF, `landing_page_url` as HTML; `version` is the release stage. Where a location names
none, none is claimed. Licence and openness go to edit_extra.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandcrawler.sources.fields import mapping, mappings, text
from sandcrawler.sources.requests import BadRow, Request, ext_ids, request
from sandcrawler.sources.stages import NISO

NAME = "openalex"
# A location's field -> the type of request it gets.
LINKS: Mapping[str, str] = {"pdf_url": "pdf", "landing_page_url": "html"}
PLACES = ("primary_location", "best_oa_location")

_ID = re.compile(r"(?:https?://(?:api\.)?openalex\.org/(?:works/)?)?(W[0-9]{1,19})", re.IGNORECASE)
_BARE_PMCID = re.compile(r"https?://www\.ncbi\.nlm\.nih\.gov/pmc/articles/([0-9]+)/?")


def drafts(record: dict[str, Any]) -> Iterator[Request]:
    """The requests of one work, its locations in their order; a link that stands in two places is asked for once."""
    written = mapping(record.get("ids"))
    found = _ID.fullmatch(text(record.get("id")) or text(written.get("openalex")) or "")
    if found is None:
        raise BadRow("a work without an OpenAlex id")
    identifier = found[1].upper()
    pmcid = text(written.get("pmcid"))
    if pmcid and (bare := _BARE_PMCID.fullmatch(pmcid)):
        pmcid = f"PMC{bare[1]}"
    ids = ext_ids(
        {
            "openalex": identifier,
            "doi": record.get("doi") or written.get("doi"),
            "pmid": written.get("pmid"),
            "pmcid": pmcid,
            "mag": written.get("mag"),
        }
    )
    places = list(mappings(record.get("locations"))) or [mapping(record.get(name)) for name in PLACES]
    for place in places:
        extra = {
            name: place[name]
            for name in ("license", "is_oa")
            if isinstance(place.get(name), (str, bool)) and place[name]
        }
        for field, kind in LINKS.items():
            if (url := text(place.get(field))) is not None:
                yield request(
                    kind,
                    url,
                    NAME,
                    identifier,
                    by=NAME,
                    stage=NISO.get(text(place.get("version")) or ""),
                    ids=ids,
                    extra=extra,
                )
