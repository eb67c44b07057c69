"""Where each field of a bibliography comes from: the one page to change for a new meta tag.

A row is: field → how its values are read (a function of `values`) and its sources, best first. The first source
with a usable value wins; lists (contrib_names, keywords, …) are taken whole from one source.

A source is the name of a <meta>, in lower case and with points for colons (`DC:Title` is `dc.title`), or one of

    ld:PATH           JSON-LD, else microdata, of the node that is the article; nested nodes by property or by type
    coins:KEY         the page's one COinS span
    link:REL[+TYPE]   href of <link rel=… type=…>, absolute
    html:WHAT         what the page itself shows, see `shown.SHOWN`

Families: Highwire (citation_…), Digital Commons (bepress_citation_…), EPrints (eprints.…), PRISM (prism.…), Dublin
Core (dc.…, dcterms.…), Ovid (wkhealth_…), OpenGraph (og:…, article:…).
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sandcrawler.extract import identifiers
from sandcrawler.extract.biblio import values as read
from sandcrawler.extract.biblio.languages import language

Reader = Callable[[str], str | tuple[str, ...] | None]


class Row(NamedTuple):
    """How a field is read. `many`: all values of a source count, not the first that can be used. `second`: how it is
    read where no source has a value that `read` takes."""

    read: Reader
    sources: tuple[str, ...]
    many: bool = False
    second: Reader | None = None


def sources(text: str) -> tuple[str, ...]:
    """The sources of a row. A plus joins what has a blank: link:alternate+application/pdf."""
    return tuple(re.sub(r"^(link:[\w-]+)\+", r"\1 ", name) for name in text.split())


def _row(reader: Reader, text: str, *, many: bool = False, second: Reader | None = None) -> Row:
    return Row(reader, sources(text), many, second)


FIELDS: Mapping[str, Row] = {
    "title": _row(
        read.line,
        "citation_title bepress_citation_title eprints.title prism.title wkhealth_title dc.title dcterms.title"
        " html:og-title ld:title coins:rft.atitle html:title html:heading",
    ),
    "subtitle": _row(read.line, "citation_subtitle prism.subtitle ld:alternativeHeadline"),
    "contrib_names": _row(
        read.names,
        "citation_author citation_authors bepress_citation_author bepress_citation_authors eprints.creators_name"
        " wkhealth_authors dc.creator.personalname dc.creator dc.creator.author dc.contributor.author dcterms.creator"
        " ld:author ld:creator dc.contributor coins:rft.au parsely-author sailthru.author article.author author"
        " dc.creator.corporatename html:byline html:rel-author html:written-byline",
        many=True,
    ),
    "doi": _row(
        identifiers.doi,
        "citation_doi bepress_citation_doi prism.doi eprints.doi wkhealth_doi dc.identifier.doi publication_doi doi"
        " dc.identifier dcterms.identifier eprints.id_number evt-doipage rft_id link:cite-as ld:doi ld:identifier"
        " ld:sameAs ld:@id ld:url coins:rft_id og.url link:canonical html:doi",
    ),
    "pmid": _row(
        identifiers.pmid, "citation_pmid bepress_citation_pmid eprints.pmid html:pmid link:canonical coins:rft_id"
    ),
    "pmcid": _row(identifiers.pmcid, "citation_pmcid dc.identifier.pmcid html:pmcid link:canonical"),
    "isbn": _row(
        identifiers.isbn,
        "citation_isbn bepress_citation_isbn prism.isbn prism.eisbn eprints.isbn dc.identifier.isbn dc.source.isbn"
        " html:isbn ld:isbn ld:Book.isbn coins:rft.isbn",
    ),
    "arxiv_id": _row(identifiers.arxiv, "citation_arxiv_id eprints.arxiv html:arxiv link:canonical"),
    "container_name": _row(
        read.container,
        "citation_journal_title bepress_citation_journal_title wkhealth_journal_title citation_conference_title"
        " bepress_citation_conference_title citation_inbook_title citation_book_title eprints.publication"
        " eprints.book_title eprints.event_title prism.publicationname dc.relation.ispartof dcterms.ispartof dc.source"
        " citation_conference ld:Periodical.name ld:Book.name ld:isPartOf.name coins:rft.jtitle coins:rft.btitle"
        " html:site-name",
    ),
    "container_abbrev": _row(
        read.lettered,
        "citation_journal_abbrev bepress_citation_journal_abbrev dc.source.abbreviation ld:Periodical.alternateName"
        " coins:rft.stitle",
    ),
    "container_issn": _row(
        identifiers.issn,
        "citation_issn bepress_citation_issn prism.issn prism.eissn eprints.issn wkhealth_issn citation_eissn"
        " dc.source.issn dc.identifier.issn dc.relation.issn ld:Periodical.issn ld:isPartOf.issn ld:issn"
        " coins:rft.issn coins:rft.eissn",
        second=identifiers.issn_shaped,
    ),
    "publisher": _row(
        read.organisation,
        "citation_publisher bepress_citation_publisher eprints.publisher prism.publisher"
        " citation_dissertation_institution bepress_citation_dissertation_institution"
        " citation_technical_report_institution bepress_citation_technical_report_institution"
        " dc.publisher dcterms.publisher ld:publisher.name ld:Periodical.publisher.name coins:rft.pub"
        " eprints.institution",
    ),
    "volume": _row(
        read.number,
        "citation_volume bepress_citation_volume prism.volume eprints.volume wkhealth_volume dc.source.volume"
        " dc.citation.volume ld:PublicationVolume.volumeNumber ld:volumeNumber ld:PublicationIssue.volumeNumber"
        " coins:rft.volume html:cited-volume html:masthead-volume",
    ),
    "issue": _row(
        read.number,
        "citation_issue bepress_citation_issue prism.issueidentifier prism.number eprints.number wkhealth_issue"
        " dc.source.issue dc.citation.issue ld:PublicationIssue.issueNumber ld:issueNumber coins:rft.issue"
        " html:cited-issue html:masthead-issue",
    ),
    "number": _row(
        read.number,
        "citation_technical_report_number bepress_citation_technical_report_number citation_patent_number"
        " eprints.patent_number ld:reportNumber",
    ),
    "first_page": _row(
        read.page,
        "citation_firstpage bepress_citation_firstpage prism.startingpage wkhealth_fpage dc.citation.spage"
        " ld:pageStart coins:rft.spage coins:rft.artnum html:cited-page",
    ),
    "last_page": _row(
        read.page,
        "citation_lastpage bepress_citation_lastpage prism.endingpage wkhealth_lpage dc.citation.epage ld:pageEnd"
        " coins:rft.epage",
    ),
    "pages": _row(
        read.pages,
        "citation_pages prism.pagerange eprints.pagerange dc.identifier.pagenumber ld:pagination coins:rft.pages"
        " citation_firstpage bepress_citation_firstpage html:cited-pages",
    ),
    "lang": _row(
        language,
        "citation_language bepress_citation_language dc.language dc.language.iso dcterms.language eprints.language"
        " ld:inLanguage og.locale html:lang content-language language",
    ),
    "abstract": _row(
        read.prose,
        "citation_abstract bepress_citation_abstract eprints.abstract dcterms.abstract dc.description.abstract"
        " prism.teaser wkhealth_abstract dc.description dcterms.description ld:abstract html:abstract ld:description"
        " html:description",
    ),
    "keywords": _row(
        read.keywords,
        "citation_keywords citation_keyword bepress_citation_keywords eprints.keywords prism.keyword dc.subject"
        " dcterms.subject ld:keywords article.tag keywords",
        many=True,
    ),
    "license": _row(
        read.licence,
        "citation_license citation_licence dcterms.license dc.rights.license dc.rights.uri dc.rights dcterms.rights"
        " eprints.license link:license ld:license ld:Periodical.license html:rel-license",
    ),
    "references": _row(read.line, "citation_reference citation_references", many=True),
    "pdf_fulltext_url": _row(
        read.url,
        "citation_pdf_url bepress_citation_pdf_url wkhealth_pdf_url fulltext_pdf html:listed-pdf"
        " link:alternate+application/pdf link:item+application/pdf ld:pdf",
    ),
    "html_fulltext_url": _row(
        read.url,
        "citation_fulltext_html_url citation_full_html_url bepress_citation_fulltext_html_url"
        " wkhealth_fulltext_html_url citation_html_url fulltext_html html:alternate-html",
    ),
    "xml_fulltext_url": _row(
        read.url,
        "citation_xml_url citation_fulltext_xml_url citation_full_xml_url fulltext_xml html:alternate-xml ld:xml",
    ),
    "component_urls": _row(
        read.url, "citation_supplementary_url eprints.document_url dcterms.haspart ld:hasPart.contentUrl", many=True
    ),
}
