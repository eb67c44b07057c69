"""The given documents, where they are: `../shared/real/xml` beside the checkout."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from sandcrawler.extract.xml import extract_xml
from sandcrawler.model import Page

GIVEN = Path(__file__).resolve().parents[4] / "shared" / "real" / "xml"
pytestmark = pytest.mark.skipif(not GIVEN.exists(), reason="the given documents are not beside this checkout")
FACTS = json.loads((GIVEN / "facts.json").read_text()) if GIVEN.exists() else []


def words(value: Any) -> list[str]:
    return str(value).casefold().split()


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: Path(fact["file"]).stem)
def test_facts(fact: dict[str, Any]) -> None:
    data = (GIVEN / Path(fact["file"]).name).read_bytes()
    got = extract_xml(Page(data, "https://birds.example.org/x.xml"))
    assert got.xml_meta is not None
    assert (got.body is not None) == fact["well_formed"]
    if got.body is None:
        return
    assert got.xml_meta.schema_ == fact["schema"].replace("scielo-", "")
    assert got.xml_meta.root == fact["root"]
    etree.fromstring(got.body)
    if not fact.get("named_entities_outside_cdata"):
        assert canonical(got.body) == canonical(data)
    if got.xml_meta.schema_ != "other":
        assert got.xml_meta.biblio is not None
        assert words(got.xml_meta.biblio.title) == words(fact["title"])
        assert (got.xml_meta.biblio.doi or "") == (fact["doi"] or "").lower()
        assert got.xml_meta.biblio.container_name == fact.get("journal_title")


def canonical(data: bytes) -> bytes:
    parser = etree.XMLParser(no_network=True, huge_tree=True)
    return bytes(etree.tostring(etree.ElementTree(etree.fromstring(data, parser)), method="c14n", with_comments=True))
