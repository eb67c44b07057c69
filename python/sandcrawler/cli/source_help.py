"""What `sandcrawler source NAME requests --help` says of each source: the file it takes, where that is from, examples.

The first example of each works as it stands, where the network lets it: it asks for a few records, or needs none.
"""

from collections.abc import Mapping


def _about(takes: str, *examples: str, whence: str = "") -> str:
    # \b keeps the library from wrapping what is to be copied.
    place = f"\b\nIt is from:\n  {whence}\n\n" if whence else ""
    return f"{takes}\n\n{place}\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)


ABOUT: Mapping[str, str] = {
    "list": _about(
        "Make requests from lists: a URL a line, CSV, TSV, or JSON lines (also whole requests). Columns are known by "
        "their names (url, doi, id, source, stage, …) or named by --column; a file's form by its ending, or by how it "
        "begins.",
        "echo https://journal.example.org/1.pdf | sandcrawler source list requests - --type pdf",
        "sandcrawler source list requests links.csv --column base_url='Full text' --column doi=DOI",
    ),
    "doaj": _about(
        "Make requests from articles of DOAJ: its dump (tar.gz, or the folder that is in it), JSON lines, or answers "
        "of its API. HTML links are asked for as html and pdf, XML as xml, PDF and links that say nothing as pdf.",
        "curl -s 'https://doaj.org/api/search/articles/tides?pageSize=5' | sandcrawler source doaj requests -",
        "sandcrawler source doaj requests doaj_article_data.tar.gz --publish",
        whence="https://doaj.org/docs/public-data-dump/ (on request)",
    ),
    "crossref": _about(
        "Make requests from works of Crossref: the folder of its public data file, a snapshot's tar, JSON lines, or "
        "answers of its API. A work's deposited links are asked for, by their content type.",
        "curl -s 'https://api.crossref.org/works?query=tides&filter=has-full-text:1&rows=5' |",
        "    sandcrawler source crossref requests -",
        "sandcrawler source crossref requests public-data-file/ --type pdf --publish",
        whence="https://www.crossref.org/documentation/retrieve-metadata/ (public data file)",
    ),
    "openalex": _about(
        "Make requests from works of OpenAlex: its snapshot (the folder data/works), JSON lines, or answers of its "
        "API. A location's pdf_url is asked for as pdf, its landing_page_url as html.",
        "curl -s https://api.openalex.org/works/W2741809807 | sandcrawler source openalex requests -",
        "sandcrawler source openalex requests works/ --type pdf --publish",
        whence="aws s3 sync --no-sign-request s3://openalex/data/works works",
    ),
    "pmc": _about(
        "Make requests from articles of PubMed Central: the metadata files of its bucket (JSON, as a folder or as "
        "lines), the bucket's inventory (CSV), or the older lists of open-access files (CSV, text). XML is asked for "
        "unless --type says otherwise.",
        "curl -s https://pmc-oa-opendata.s3.amazonaws.com/metadata/PMC10009416.1.json |",
        "    sandcrawler source pmc requests -",
        "sandcrawler source pmc requests inventory.csv.gz --publish",
        whence="s3://pmc-oa-opendata/ (metadata/ and inventory-reports/; its README.txt says how)",
    ),
    "arxiv": _about(
        "Make requests from articles of arXiv: its metadata snapshot (JSON lines), or identifiers, one a line. PDF and "
        "HTML of the last version are asked for.",
        "echo 2101.01234 | sandcrawler source arxiv requests - --type pdf",
        "sandcrawler source arxiv requests arxiv-metadata-oai-snapshot.json --publish",
        whence="https://www.kaggle.com/datasets/Cornell-University/arxiv",
    ),
    "fatcat": _about(
        "Make requests from release entities of fatcat: its export (JSON lines), or answers of its API. What a release "
        "has already is not asked for; the expanded export says so.",
        "curl -s 'https://api.fatcat.wiki/v0/release/lookup?doi=10.1371/journal.pone.0118494' |",
        "    sandcrawler source fatcat requests -",
        "sandcrawler source fatcat requests release_export_expanded.json.gz --publish",
        whence="https://archive.org/details/fatcat_snapshots_and_exports",
    ),
    "oai": _about(
        "Harvest a live OAI-PMH endpoint (oai_dc, JATS, arXiv's formats), and make requests from its records. With "
        "--state, the same command goes on where it was interrupted.",
        "sandcrawler source oai requests https://zenodo.org/oai2d --from 2026-01-01 | head -5",
        "sandcrawler source oai requests https://journal.example.org/oai --state harvest.json --publish",
        whence="https://www.openarchives.org/Register/BrowseSites (or the repository's own pages)",
    ),
}
