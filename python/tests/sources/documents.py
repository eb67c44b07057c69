"""One small record of each source, in its own shape."""

from typing import Any

DOAJ: dict[str, Any] = {
    "id": "00AA11BB22CC33DD",
    "created_date": "2020-01-01T00:00:00Z",
    "bibjson": {
        "title": "On terns",
        "identifier": [{"type": "eissn", "id": "1234-5679"}, {"type": "DOI", "id": "https://doi.org/10.1234/TERNS.1"}],
        "link": [
            {"type": "fulltext", "content_type": "text/html", "url": "https://terns.example.org/article/1"},
            {"type": "fulltext", "content_type": "PDF", "url": "https://terns.example.org/article/1/pdf"},
            {"type": "fulltext", "content_type": "application/epub+zip", "url": "https://terns.example.org/1.epub"},
            {"type": "homepage", "url": "https://terns.example.org/"},
        ],
    },
}
CROSSREF: dict[str, Any] = {
    "DOI": "10.1234/TERNS.1",
    "type": "journal-article",
    "issued": {"date-parts": [[2020]]},
    "published-online": {"date-parts": [[2020, 2, 30]]},
    "published": {"date-parts": [[2020, 2, 3]]},
    "license": [
        {"URL": "https://tdm.example.org/", "content-version": "tdm", "start": {"date-parts": [[2020, 1, 1]]}},
        {
            "URL": "https://creativecommons.org/licenses/by/4.0/",
            "content-version": "vor",
            "start": {"date-parts": [[2020, 2]]},
        },
    ],
    "link": [
        {
            "URL": "https://terns.example.org/1.pdf",
            "content-type": "application/pdf",
            "content-version": "vor",
            "intended-application": "text-mining",
        },
        {"URL": "https://terns.example.org/1.xml", "content-type": "text/xml", "content-version": "am"},
        {"URL": "https://terns.example.org/1", "content-type": "unspecified", "intended-application": "syndication"},
        {
            "URL": "https://terns.example.org/1.pdf",
            "content-type": "application/pdf",
            "content-version": "vor",
            "intended-application": "similarity-checking",
        },
        {"URL": "https://terns.example.org/1.txt", "content-type": "text/plain"},
    ],
}
OPENALEX: dict[str, Any] = {
    "id": "https://openalex.org/W123",
    "doi": "https://doi.org/10.1234/terns.1",
    "ids": {
        "openalex": "https://openalex.org/W123",
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/987",
        "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/654",
        "mag": 321,
    },
    "locations": [
        {
            "landing_page_url": "https://doi.org/10.1234/terns.1",
            "pdf_url": None,
            "version": "publishedVersion",
            "is_oa": False,
        },
        {
            "landing_page_url": "https://repository.example.edu/1",
            "pdf_url": "https://repository.example.edu/1.pdf",
            "version": "acceptedVersion",
            "license": "cc-by",
            "is_oa": True,
        },
    ],
}
ARXIV: dict[str, Any] = {
    "id": "2101.01234",
    "doi": "10.1234/Terns.1",
    "license": "http://creativecommons.org/licenses/by/4.0/",
    "versions": [{"version": "v1", "created": "x"}, {"version": "v2", "created": "y"}],
}
FATCAT: dict[str, Any] = {
    "ident": "aaaaaaaaaaaaarceaaaaaaaaam",
    "work_id": "bbbbbbbbbbbbbrceaaaaaaaaam",
    "state": "active",
    "release_type": "article-journal",
    "release_stage": "published",
    "ext_ids": {"doi": "10.1234/Terns.1", "pmcid": "PMC654", "arxiv": None},
}
PMC = (
    "File,Article Citation,Accession ID,Last Updated (YYYY-MM-DD HH:MM:SS),PMID,License\n"
    'oa/1.tar.gz,"Terns. 2020; 1(1):1-9",PMC654,2020-01-01 00:00:00,987,CC BY\n'
    "oa/2.tar.gz,Terns. 2021,nothing,2021-01-01 00:00:00,,CC0\n"
)
PMC_TEXT = (
    "2020-01-01 00:00:00\noa/1.tar.gz\tTerns. 2020\tPMC654\tPMID:987\tCC BY\noa/3.tar.gz\tTerns, 2021\tPMC655\t\tCC0\n"
)
RECORDS: dict[str, dict[str, Any]] = {
    "doaj": DOAJ,
    "crossref": CROSSREF,
    "openalex": OPENALEX,
    "arxiv": ARXIV,
    "fatcat": FATCAT,
}
