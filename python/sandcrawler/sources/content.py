"""What a link is said to lead to → which types of request it gets. One table for all sources that say so.

The map is the incumbent's: a page may be the full text itself or lead to its PDF; links that say nothing are asked for
as PDF, since the flow follows a landing page to it.
"""

from collections.abc import Mapping

PAGE = ("html", "pdf")
XML = ("xml",)
PDF = ("pdf",)

TYPES: Mapping[str, tuple[str, ...]] = {
    "html": PAGE,
    "text/html": PAGE,
    "application/xhtml+xml": PAGE,
    "xml": XML,
    "text/xml": XML,
    "application/xml": XML,
    "application/jats+xml": XML,
    "application/tei+xml": XML,
    "application/vnd.jats+xml": XML,
    "": PDF,
    "pdf": PDF,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    "url": PDF,
    "doi": PDF,
    "fulltext": PDF,
    "unspecified": PDF,
    "anysimpletype": PDF,
}


def kinds(content_type: str | None) -> tuple[str, ...]:
    """Types of request for a content type as sources write it; none for what we do not ingest (epub, abstract, …)."""
    if content_type is None:
        return PDF
    found = TYPES.get(content_type)
    return found if found is not None else TYPES.get(content_type.partition(";")[0].strip().lower(), ())
