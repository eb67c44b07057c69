"""fatcat: release entities (its export's JSON lines, messages of its release-update topic) → requests.

    {"ident": "aaaa…", "work_id": "bbbb…", "state": "active", "release_type": "article-journal",
     "release_stage": "published", "ext_ids": {"doi": "10.…", "pmcid": "PMC1", "arxiv": "2101.00001v1"}, "files": […]}

`SOURCES` says which identifier leads where, for each type of request: the first whose identifier the release has is
asked for. `WANTED` says which types a kind of release may be had in. What the release already has (a webcapture, a
PDF or XML file with a URL) is not asked for again, nor is what is no document (stubs, data sets, software).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from sandcrawler.errors import InvalidMessage
from sandcrawler.sources.fields import mapping, mappings, text
from sandcrawler.sources.requests import BadRow, Request, checked, ext_ids, request

NAME = "fatcat"
BY = "fatcat-ingest"
# Who asks when the release came by its update topic; fatcat's importer lets both words through.
BY_UPDATE = "fatcat-changelog"

# type of request -> (identifier, form of the URL); the first that the release has.
SOURCES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "html": (
        ("doi", "https://doi.org/{}"),
        ("arxiv", "https://arxiv.org/html/{}"),
        ("pmcid", "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
        ("doaj", "https://doaj.org/article/{}"),
        ("hdl", "https://hdl.handle.net/{}"),
    ),
    "xml": (("pmcid", "https://www.ebi.ac.uk/europepmc/webservices/rest/{}/fullTextXML"),),
    "pdf": (
        ("arxiv", "https://arxiv.org/pdf/{}"),
        ("pmcid", "https://europepmc.org/backend/ptpmcrender.fcgi?accid={}&blobtype=pdf"),
        ("doi", "https://doi.org/{}"),
        ("doaj", "https://doaj.org/article/{}"),
        ("hdl", "https://hdl.handle.net/{}"),
    ),
}
# fatcat's identifiers -> the link_source that its importer knows.
LINK_SOURCES: Mapping[str, str] = {"pmcid": "pmc"}

ARTICLE = ("html", "xml", "pdf")
# release_type -> types that it may be had in; what is not named is asked for as an article.
WANTED: Mapping[str | None, tuple[str, ...]] = {
    "post-weblog": ("html",),
    "post": ("html",),
    "entry-encyclopedia": ("html",),
    "stub": (),
    "component": (),
    "figure": (),
    "graphic": (),
    "dataset": (),
    "software": (),
}
HELD: Mapping[str, frozenset[str]] = {
    "pdf": frozenset({"application/pdf"}),
    "xml": frozenset({"application/xml", "text/xml", "application/jats+xml", "application/tei+xml"}),
}


def releases(by: str) -> Callable[[dict[str, Any]], Iterator[Request]]:
    """The maker of requests in the name of `by`."""

    def drafts(release: dict[str, Any]) -> Iterator[Request]:
        """The requests of one release entity."""
        ident = text(release.get("ident"))
        if ident is None:
            raise BadRow("a release without ident")
        if release.get("state", "active") != "active":
            return
        ids = ext_ids(mapping(release.get("ext_ids")))
        fatcat = {"release_ident": ident} | ({"work_ident": work} if (work := text(release.get("work_id"))) else {})
        for kind in WANTED.get(text(release.get("release_type")), ARTICLE):
            if _held(release, kind):
                continue
            name, form = next(((name, form) for name, form in SOURCES[kind] if name in ids), ("", ""))
            if name:
                yield request(
                    kind,
                    form.format(ids[name]),
                    LINK_SOURCES.get(name, name),
                    ids[name],
                    by=by,
                    stage=text(release.get("release_stage")),
                    ids=ids,
                    fatcat=fatcat,
                )

    return drafts


def _held(release: dict[str, Any], kind: str) -> bool:
    """Whether the entity, where it is expanded, has such a document."""
    if kind == "html":
        return any(True for _ in mappings(release.get("webcaptures")))
    return any(
        text(file.get("mimetype")) in HELD[kind] and any(True for _ in mappings(file.get("urls")))
        for file in mappings(release.get("files"))
    )


def updated(release: dict[str, Any]) -> list[Request]:
    """The requests of a release that came by the update topic. InvalidMessage where it is no release."""
    try:
        made = list(releases(BY_UPDATE)(release))
    except BadRow as error:
        raise InvalidMessage(str(error)) from error
    good = []
    for draft in made:
        with suppress(BadRow):  # an identifier that makes no URL: the other links of the release stand
            good.append(checked(draft))
    return good


drafts = releases(BY)
