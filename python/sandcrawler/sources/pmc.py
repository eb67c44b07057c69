"""PubMed Central: the file lists of its open-access subset (CSV, or the older tab-separated text) → requests.

    File,Article Citation,Accession ID,Last Updated (YYYY-MM-DD HH:MM:SS),PMID,License
    oa_package/08/e0/PMC13900.tar.gz,Breast Cancer Res. 2001,PMC13900,2019-11-05 11:56:12,11250746,NO-CC CODE

The lists name packages on an FTP server, which no pipeline for web documents asks for; the article's PMCID leads to
public forms of the same:

    xml   Europe PMC's REST service: one JATS article and nothing round it (PMC's OAI and efetch have an envelope)
    html  the article's page at PMC
    pdf   Europe PMC's rendering: PMC's own asks a browser for a proof of work

XML alone is asked for unless `--type` says otherwise. Retracted articles are asked for too; edit_extra says so.
"""

import io
import re
from collections.abc import Iterator, Mapping

from sandcrawler.sources.requests import BadRow, Numbered, Request, ext_ids, request
from sandcrawler.sources.tables import table_rows

NAME = "pmc"
FORMS: Mapping[str, str] = {
    "xml": "https://www.ebi.ac.uk/europepmc/webservices/rest/{}/fullTextXML",
    "html": "https://pmc.ncbi.nlm.nih.gov/articles/{}/",
    "pdf": "https://europepmc.org/backend/ptpmcrender.fcgi?accid={}&blobtype=pdf",
}

# A column's name, letters only -> the field.
COLUMNS: Mapping[str, str] = {
    "accessionid": "pmcid",
    "pmcid": "pmcid",
    "pmid": "pmid",
    "license": "license",
    "retracted": "retracted",
    "articlecitation": "citation",
}
# The text list has no header: path, citation, PMCID, PMID, licence.
TEXT_PLACES: Mapping[str, int] = {"citation": 1, "pmcid": 2, "pmid": 3, "license": 4}
_LETTERS = re.compile(r"[^a-z]")


def rows(stream: io.BufferedReader) -> Iterator[Numbered]:
    """Rows by field. The text list begins with a line that is its date and names no article."""
    head = stream.peek(4096)
    delimiter = "\t" if head.count(b"\t") > head.count(b",") else ","
    for number, row in table_rows(stream, delimiter, _header):
        if row or number != 1:
            yield number, row


def _header(cells: list[str]) -> tuple[Mapping[str, int], bool]:
    places = {COLUMNS.get(_LETTERS.sub("", cell.lower().partition("(")[0]), ""): i for i, cell in enumerate(cells)}
    if "pmcid" not in places:
        return TEXT_PLACES, True
    return {field: place for field, place in places.items() if field}, False


def drafts(row: Mapping[str, str]) -> Iterator[Request]:
    """The requests of one article, in every form."""
    ids = ext_ids({"pmcid": row.get("pmcid"), "pmid": row.get("pmid")})
    if "pmcid" not in ids:
        raise BadRow("a row without a PMCID")
    extra = {name: row[name] for name in ("license",) if row.get(name)}
    if (row.get("retracted") or "").lower() in ("yes", "true", "1"):
        extra["retracted"] = "yes"
    for kind, form in FORMS.items():
        yield request(
            kind, form.format(ids["pmcid"]), NAME, ids["pmcid"], by=NAME, stage="published", ids=ids, extra=extra
        )
