"""PubMed Central: what it says of its open-access articles → requests. All forms in which it says so are read:

    {"pmcid": "PMC13900", "version": 1, "pmid": 11250746, "doi": "10.…", "license_code": "CC0", …}
        the metadata files of its bucket (pmc-oa-opendata/metadata/), one object a file or a line
    "pmc-oa-opendata","metadata/PMC13900.1.json","2026-01-08T11:47:59.000Z","f25d9c5f5b85338f62156faeedfc1e95"
        the inventory of the bucket, which has no header
    File,Article Citation,Accession ID,Last Updated (YYYY-MM-DD HH:MM:SS),PMID,License
    oa_package/08/e0/PMC13900.tar.gz,Breast Cancer Res. 2001,PMC13900,2019-11-05 11:56:12,11250746,NO-CC CODE
        the file lists of its FTP server, which ended in 2026 (CSV, or the older tab-separated text)

They name files in a bucket and packages on an FTP server; the article's PMCID leads to public forms of the same:

    xml   Europe PMC's REST service: one JATS article and nothing round it (PMC's OAI and efetch have an envelope)
    html  the article's page at PMC
    pdf   Europe PMC's rendering: PMC's own asks a browser for a proof of work

XML alone is asked for unless `--type` says otherwise. Retracted articles are asked for too; edit_extra says so.
Authors' manuscripts are accepted versions, all else is published.
"""

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandcrawler.sources.fields import text
from sandcrawler.sources.requests import BadRow, Numbered, Request, ext_ids, request
from sandcrawler.sources.rows import BOM, json_rows
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
    "key": "key",
}
# The text list has no header: path, citation, PMCID, PMID, licence.
TEXT_PLACES: Mapping[str, int] = {"citation": 1, "pmcid": 2, "pmid": 3, "license": 4}
# The inventory has none either: bucket, key, moment, checksum.
INVENTORY_PLACES: Mapping[str, int] = {"key": 1}
# The metadata of one version of an article. Other objects in the bucket are parts of one.
_METADATA = re.compile(r"(?:.*/)?(PMC[0-9]+)\.[0-9]+\.json")
_LETTERS = re.compile(r"[^a-z]")


def rows(stream: io.BufferedReader) -> Iterator[Numbered]:
    """Rows by field. The text list begins with a line that is its date and names no article."""
    head = stream.peek(4096)
    if head.removeprefix(BOM).lstrip().startswith((b"{", b"[")):
        yield from json_rows(stream)
        return
    delimiter = "\t" if head.count(b"\t") > head.count(b",") else ","
    for number, row in table_rows(stream, delimiter, _header):
        if row or number != 1:
            yield number, row


def _header(cells: list[str]) -> tuple[Mapping[str, int], bool]:
    places = {COLUMNS.get(_LETTERS.sub("", cell.lower().partition("(")[0]), ""): i for i, cell in enumerate(cells)}
    if not {"pmcid", "key"} & places.keys():
        is_inventory = len(cells) > 1 and "/" in cells[1] and "/" not in cells[0]
        return (INVENTORY_PLACES if is_inventory else TEXT_PLACES), True
    return {field: place for field, place in places.items() if field}, False


def drafts(row: Mapping[str, Any]) -> Iterator[Request]:
    """The requests of one article, in every form; none for an object of the bucket that is no article's metadata."""
    if (key := row.get("key")) is not None:
        found = _METADATA.fullmatch(key) if isinstance(key, str) else None
        if found is None:
            return
        row = {"pmcid": found[1]}
    ids = ext_ids({name: row.get(name) for name in ("pmcid", "pmid", "doi")})
    if "pmcid" not in ids:
        raise BadRow("a row without a PMCID")
    extra = {"license": said} if (said := text(row.get("license_code")) or text(row.get("license"))) else {}
    if row.get("is_retracted") is True or (text(row.get("retracted")) or "").lower() in ("yes", "true", "1"):
        extra["retracted"] = "yes"
    stage = "accepted" if row.get("is_manuscript") is True else "published"
    for kind, form in FORMS.items():
        yield request(kind, form.format(ids["pmcid"]), NAME, ids["pmcid"], by=NAME, stage=stage, ids=ids, extra=extra)
