"""DOAJ: articles of its dump (JSON lines, a JSON list, or the tar.gz of lists) and of its API → requests.

    {"id": "0000…", "bibjson": {"identifier": [{"type": "doi", "id": "10.…"}],
                                "link": [{"type": "fulltext", "content_type": "text/html", "url": "https://…"}]}}

Every link of type `fulltext` gets the types of request of its content type (content.py). The articles are published,
and the links lead to their publishers.
"""

from collections.abc import Iterator
from typing import Any

from sandcrawler.sources.content import kinds
from sandcrawler.sources.fields import mapping, mappings, text
from sandcrawler.sources.requests import BadRow, Request, ext_ids, request

NAME = "doaj"


def drafts(record: dict[str, Any]) -> Iterator[Request]:
    """The requests of one article."""
    record = mapping(record.get("_source")) or record  # as its search index writes them
    identifier = text(record.get("id"))
    if identifier is None:
        raise BadRow("an article without id")
    identifier = identifier.lower()
    bibjson = mapping(record.get("bibjson"))
    written: dict[str, object] = {"doaj": identifier}
    for one in mappings(bibjson.get("identifier")):
        kind = text(one.get("type"))
        if kind is not None and kind.lower() == "doi" and "doi" not in written:
            written["doi"] = one.get("id")
    ids = ext_ids(written)
    for link in mappings(bibjson.get("link")):
        if (text(link.get("type")) or "fulltext").lower() != "fulltext":
            continue
        for kind in kinds(text(link.get("content_type"))):
            yield request(
                kind, link.get("url", ""), NAME, identifier, by=NAME, stage="published", rel="publisher", ids=ids
            )
