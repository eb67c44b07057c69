"""Identifiers as pages write them → one form each, or None where the text is no such identifier.

DOI      lower case, as fatcat stores them ("10.1000/abc"; DOIs are case-insensitive)
ISSN     "1234-567X", check digit right
ISBN     13 digits, check digit right (10-digit ones are converted)
ORCID    "0000-0002-1825-0097", check digit right
PMID     digits;  PMCID "PMC123";  arXiv "2101.01234v1", "hep-th/9901001"
"""

import re
from html import unescape
from urllib.parse import unquote

_DOI = re.compile(r"10\.[0-9]{3,9}(?:\.[0-9]+)*/\S+")
_DOI_LEAD = re.compile(
    r"^(?:(?:https?:)?//)?(?:(?:dx\.|www\.)?doi\.org/|doi\.acm\.org/)?"
    r"(?:info:doi/|urn:doi:|urn:|doi\s*[:=]\s*|doi\s+|doi/)?\s*(?=10\.)",
    re.IGNORECASE,
)
_DOI_TAIL = re.compile(r"[.,;:'\"”’»>}\]\s]+$")
_ISSN = re.compile(r"(?<![0-9X-])([0-9]{4})\s*[-‐‑–—]?\s*([0-9]{3}[0-9X])(?![0-9X-])", re.IGNORECASE)
_ISBN = re.compile(r"(?<![0-9])(97[89](?:[- ]?[0-9]){10}|[0-9](?:[- ]?[0-9]){8}[- ]?[0-9Xx])(?![0-9Xx])")
_ORCID = re.compile(
    r"(?<![0-9])([0-9]{4})[-‐–]?([0-9]{4})[-‐–]?([0-9]{4})[-‐–]?([0-9]{3}[0-9X])(?![0-9])", re.IGNORECASE
)
_PUBMED = r"https?://(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/"
_PMID = re.compile(rf"(?:(?:pmid|pubmed|medline|info:pmid/)\s*[:/=]?\s*|{_PUBMED})?([0-9]{{1,8}})/?", re.IGNORECASE)
_PMCID = re.compile(r"(?:pmcid\s*[:=]?\s*|https?://\S*?/)?(PMC\s?[0-9]{1,9})(?:\.[0-9]+)?/?", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:(?:oai:)?arxiv(?:\.org)?\s*[:/]\s*|https?://(?:\w+\.)?arxiv\.org/(?:abs|pdf|html)/)?"
    r"([0-9]{2}(?:0[1-9]|1[0-2])\.[0-9]{4,5}(?:v[0-9]+)?|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}(?:v[0-9]+)?)(?:\.pdf)?",
    re.IGNORECASE,
)


def doi(text: str) -> str | None:
    """The DOI that a text is: "https://doi.org/10.1000%2FABC.", "doi:10.1000/abc", "info:doi/…" → "10.1000/abc"."""
    plain = unescape(text).strip().strip("<>\"'")
    if "%" in plain:
        plain = unquote(plain)
    plain = _DOI_LEAD.sub("", plain, count=1)
    found = _DOI.fullmatch(plain) or _DOI.match(plain)
    if not found or found.start() or not found.group().isprintable():
        return None
    value = _DOI_TAIL.sub("", found.group())
    # A closing bracket belongs to the DOI only where it was opened in it: 10.1016/S0140-6736(05)67889-0.
    while value.endswith(")") and value.count(")") > value.count("("):
        value = _DOI_TAIL.sub("", value[:-1])
    return value.lower() if len(value) > value.index("/") + 1 and "\ufffd" not in value else None


def issn(text: str) -> str | None:
    """The first ISSN in a text whose check digit is right: "ISSN 0000-0019 (print)" → "0000-0019"."""
    for shaped in _issns(text):
        digits = shaped.replace("-", "")
        total = sum(weight * int(digit) for weight, digit in zip(range(8, 1, -1), digits[:7], strict=True))
        if digits[7] == "0123456789X"[-total % 11] and digits != "00000000":
            return shaped
    return None


def issn_shaped(text: str) -> str | None:
    """The first ISSN in a text, though its check digit may be wrong: publishers use misprinted ones all the same."""
    return next((shaped for shaped in _issns(text) if shaped != "0000-0000"), None)


def _issns(text: str) -> list[str]:
    return [f"{left}-{right}".upper() for left, right in _ISSN.findall(text)]


def isbn(text: str) -> str | None:
    """The first ISBN in a text whose check digit is right, as 13 digits."""
    for found in _ISBN.findall(text):
        digits = re.sub(r"[- ]", "", found).upper()
        if len(digits) == 13 and digits[12] == _ean(digits):
            return digits
        if (
            len(digits) == 10
            and not sum((10 - i) * ("0123456789X".index(digit)) for i, digit in enumerate(digits)) % 11
        ):
            return f"978{digits[:9]}{_ean('978' + digits[:9])}"
    return None


def _ean(digits: str) -> str:
    total = sum((3 if i % 2 else 1) * int(digit) for i, digit in enumerate(digits[:12]))
    return str(-total % 10)


def orcid(text: str) -> str | None:
    """The ORCID iD in a text whose check digit is right."""
    for groups in _ORCID.findall(text):
        digits = "".join(groups).upper()
        total = 0
        for digit in digits[:15]:
            total = (total + int(digit)) * 2
        if digits[15] == "0123456789X"[(12 - total % 11) % 11]:
            return "-".join(digits[i : i + 4] for i in range(0, 16, 4))
    return None


def pmid(text: str) -> str | None:
    """A PubMed number: "PMID: 123" → "123"."""
    found = _PMID.fullmatch(text.strip())
    return found[1].lstrip("0") or None if found else None


def pmcid(text: str) -> str | None:
    """A PubMed Central number with its letters: "pmc 123" → "PMC123"."""
    found = _PMCID.fullmatch(text.strip())
    return found[1].upper().replace(" ", "") if found else None


def arxiv(text: str) -> str | None:
    """An arXiv identifier, with its version where one is given: "arXiv:2101.01234v1" → "2101.01234v1"."""
    found = _ARXIV.fullmatch(text.strip())
    return found[1] if found else None
