"""Identifiers: every form that pages use, and nothing that only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.extract import identifiers


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.5555/AbC.1", "10.5555/abc.1"),
        ("doi:10.5555/abc", "10.5555/abc"),
        ("DOI: 10.5555/abc.", "10.5555/abc"),
        ("doi 10.5555/abc", "10.5555/abc"),
        ("https://doi.org/10.5555/abc", "10.5555/abc"),
        ("http://dx.doi.org/10.5555%2Fabc", "10.5555/abc"),
        ("//doi.org/10.5555/abc", "10.5555/abc"),
        ("doi.org/10.5555/abc", "10.5555/abc"),
        ("info:doi/10.5555/abc", "10.5555/abc"),
        ("urn:doi:10.5555/abc", "10.5555/abc"),
        ("(https://doi.org/10.5555/abc)", None),
        ("10.5555/S0140-6736(05)67889-0", "10.5555/s0140-6736(05)67889-0"),
        ("10.5555/abc)", "10.5555/abc"),
        (
            "10.5555/(SICI)1097(199806)49:8<693::AID-A4>3.0.CO;2-O",
            "10.5555/(sici)1097(199806)49:8<693::aid-a4>3.0.co;2-o",
        ),
        ("10.5555/a&amp;b", "10.5555/a&b"),
        ("10.5555/", None),
        ("10.5555", None),
        ("10.55/abc", None),
        ("11.5555/abc", None),
        ("see 10.5555/abc", None),
        ("10.5555/a\ufffdb", None),
        ("https://example.org/10.5555/abc", None),
    ],
)
def test_doi(text: str, doi: str | None) -> None:
    assert identifiers.doi(text) == doi


def test_issn_needs_its_check_digit() -> None:
    assert identifiers.issn("ISSN 2050-084x (online)") == "2050-084X"
    assert identifiers.issn("1234-5678, 03785955") == "0378-5955"
    assert identifiers.issn("1234-5678") is None
    assert identifiers.issn_shaped("1234-5678") == "1234-5678"
    assert identifiers.issn_shaped("0000-0000") is None
    assert identifiers.issn_shaped("10.5555/1234-56789") is None


def test_isbn_is_thirteen_digits() -> None:
    assert identifiers.isbn("ISBN 978-0-306-40615-7 (hbk)") == "9780306406157"
    assert identifiers.isbn("0-306-40615-2") == "9780306406157"
    assert identifiers.isbn("0-8044-2957-X") == "9780804429573"
    assert identifiers.isbn("0-306-40615-3") is None
    assert identifiers.isbn("12345") is None


def test_orcid() -> None:
    assert identifiers.orcid("https://orcid.org/0000-0002-1825-0097") == "0000-0002-1825-0097"
    assert identifiers.orcid("000000021694233X") == "0000-0002-1694-233X"
    assert identifiers.orcid("0000-0002-1825-0098") is None


def test_pubmed() -> None:
    assert identifiers.pmid("PMID: 0123") == "123"
    assert identifiers.pmid("info:pmid/25540987") == "25540987"
    assert identifiers.pmid("https://pubmed.ncbi.nlm.nih.gov/25540987/") == "25540987"
    assert identifiers.pmid("https://example.org/25540987/") is None
    assert identifiers.pmid("10.5555/1") is None
    assert identifiers.pmcid("PMC 3531190") == "PMC3531190"
    assert identifiers.pmcid("https://pmc.ncbi.nlm.nih.gov/articles/PMC3531190/") == "PMC3531190"
    assert identifiers.pmcid("3531190") is None


def test_arxiv() -> None:
    assert identifiers.arxiv("arXiv:2101.01234v2") == "2101.01234v2"
    assert identifiers.arxiv("https://arxiv.org/abs/hep-th/9901001") == "hep-th/9901001"
    assert identifiers.arxiv("2199.01234") is None
    assert identifiers.arxiv("https://example.org/abs/2101.01234") is None


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    for read in (identifiers.doi, identifiers.issn_shaped, identifiers.isbn, identifiers.orcid, identifiers.pmid):
        value = read(text)
        assert value is None or (value.isprintable() and read(value) == value)
