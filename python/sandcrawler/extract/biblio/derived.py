"""Fields that take more than one source: the date, the pages, the type and the stage of a publication."""

import re
from collections.abc import Mapping
from typing import Any

from sandcrawler.extract.biblio.fields import sources
from sandcrawler.extract.biblio.sources import Found
from sandcrawler.extract.biblio.values import line, split_pages
from sandcrawler.extract.biblio.words import PREPRINT_SERVERS, STAGES, TYPES
from sandcrawler.extract.dates import PartialDate, parse_date

# The date: sources in order; a source that knows the day is preferred among those of one year.
DATES = sources(
    "citation_date citation_publication_date bepress_citation_date bepress_citation_publication_date eprints.date"
    " prism.publicationdate wkhealth_date citation_online_date bepress_citation_online_date citation_cover_date"
    " prism.coverdate dc.date.issued dcterms.issued dc.issued dc.date.published dcterms.date dc.date"
    " dc.date.created dcterms.created ld:datePublished article.published_time article.published citation_year"
    " itemprop.datepublished html:published"
    " bepress_citation_year prism.copyrightyear ld:copyrightYear"
    " coins:rft.date ld:dateCreated dc.date.available dcterms.available eprints.datestamp"
)

# Where a page says of what type it is; `words.TYPES` reads it.
TYPE_SOURCES = sources(
    "citation_article_type bepress_citation_article_type prism.contenttype eprints.type eprints.thesis_type dc.type"
    " dcterms.type dc.type.articletype citation_document_type ld:@type coins:rft.genre"
)
# Where no type is named: a source that stands only on pages of this type.
TYPE_SIGNS: Mapping[str, str] = {
    "citation_dissertation_institution": "thesis",
    "citation_dissertation_name": "thesis",
    "bepress_citation_dissertation_institution": "thesis",
    "bepress_citation_dissertation_name": "thesis",
    "citation_technical_report_institution": "report",
    "citation_technical_report_number": "report",
    "citation_conference_title": "paper-conference",
    "citation_conference": "paper-conference",
    "bepress_citation_conference_title": "paper-conference",
    "citation_inbook_title": "chapter",
    "citation_journal_title": "article-journal",
    "bepress_citation_journal_title": "article-journal",
    "prism.publicationname": "article-journal",
    "eprints.publication": "article-journal",
    "wkhealth_journal_title": "article-journal",
    "dc.source.issn": "article-journal",
    "ld:Periodical.name": "article-journal",
}

STAGE_SOURCES = sources(
    "eprints.ispublished dc.type dcterms.type dc.type.version dc.rights.version citation_article_type"
)


def add(found: Found, values: dict[str, Any], told: dict[str, str]) -> None:
    """Adds date, year, pages, type and stage to a bibliography's values, and to `told` where each is from."""
    _date(found, values, told)
    _pages(values, told)
    _type(found, values, told)
    _stage(found, values, told)


def _date(found: Found, values: dict[str, Any], told: dict[str, str]) -> None:
    """The date of the first source that has one. A later source may add the day, if it agrees on the year."""
    best: PartialDate | None = None
    for name in DATES:
        texts, named = found.get(name)
        date = next((date for text in texts if (date := parse_date(line(text) or ""))), None)
        if date is None:
            continue
        if best is None:
            best, told["release_year"] = date, named
        # 1 January of a later source is a year that a program has filled up.
        elif date.iso and date.year == best.year and (date.month, date.day) != (1, 1):
            best, told["release_date"] = date, named
        if best.iso:
            told.setdefault("release_date", named)
            break
    if best:
        values["release_year"] = best.year
        if best.iso:
            values["release_date"] = best.iso


def _pages(values: dict[str, Any], told: dict[str, str]) -> None:
    """First page, last page and range from each other."""
    if "pages" in values:
        first, last = split_pages(values["pages"])
        for field, value in (("first_page", first), ("last_page", last)):
            if value and values.setdefault(field, value) is value:
                told.setdefault(field, told["pages"])
    elif values.get("first_page") and values.get("last_page"):
        values["pages"] = f"{values['first_page']}-{values['last_page']}"
        told["pages"] = f"{told['first_page']}, {told['last_page']}"
    # bioRxiv's citation_firstpage is the second half of its DOI.
    if values.get("first_page") and values.get("doi", "").partition("/")[2] == values["first_page"].lower():
        for field in ("first_page", "last_page", "pages"):
            values.pop(field, None)
            told.pop(field, None)


def _type(found: Found, values: dict[str, Any], told: dict[str, str]) -> None:
    """The type that the page names, else the one whose pages alone have such a source."""
    for source in TYPE_SOURCES:
        texts, named = found.get(source)
        for text in texts:
            if kind := TYPES.get((line(text) or "").lower().rpartition("/")[2]):
                values["release_type"], told["release_type"] = kind, named
                return
    for source, kind in TYPE_SIGNS.items():
        texts, named = found.get(source)
        if any(map(line, texts)):
            values["release_type"], told["release_type"] = kind, named
            return


def _stage(found: Found, values: dict[str, Any], told: dict[str, str]) -> None:
    """published, submitted, …: as the page says, else by where it appeared."""
    for source in STAGE_SOURCES:
        for text in found.get(source)[0]:
            if stage := STAGES.get((line(text) or "").lower().rpartition("/")[2]):
                values["release_stage"], told["release_stage"] = stage, source
                return
    container = re.sub(r"\W", "", values.get("container_name", "").lower())
    if container in PREPRINT_SERVERS or (not container and "arxiv_id" in values):
        values["release_stage"], told["release_stage"] = "submitted", "container_name" if container else "arxiv_id"
    elif container and any(field in values for field in ("volume", "issue", "container_issn", "first_page")):
        values["release_stage"], told["release_stage"] = "published", "container_name"
