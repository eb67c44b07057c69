from typing import Any

import pytest
from lxml import etree

from sandcrawler.sources.w3c import parse
from sandcrawler.sources.w3c.record import from_xml, from_yaml, problems, to_xml, to_yaml
from sandcrawler.sources.w3c.shape import BIBDATA, BIBITEM, Part
from tests.sources.w3c.shared import SHARED, needs_recordings
from tests.sources.w3c.test_parse import OLDER, SPECIFICATION, VERSION

EXPECTED = SHARED / "expected"
RECORD = parse.version(
    VERSION, SPECIFICATION, [{"given": "Ada", "family": "Fernhill"}], ["Tidal & Data"], predecessors=[OLDER]
)


def test_bibdata_has_ext_and_no_id() -> None:
    root = etree.fromstring(to_xml(RECORD))
    assert root.tag == "bibdata"
    assert root.get("id") is None
    assert root.findtext("ext/doctype") == "technicalReport"


def test_bibitem_has_an_id_and_no_ext() -> None:
    root = etree.fromstring(to_xml(RECORD, "bibitem"))
    assert root.tag == "bibitem"
    assert root.get("id") == "W3CRECtide20241008"
    assert root.find("ext") is None


def test_there_and_back() -> None:
    assert from_yaml(to_yaml(RECORD)) == RECORD
    assert {**from_xml(to_xml(RECORD)), "id": RECORD["id"]} == RECORD
    assert {**from_xml(to_xml(RECORD, "bibitem")), "ext": RECORD["ext"]} == RECORD


def test_both_forms_are_valid() -> None:
    assert problems(to_xml(RECORD)) == []
    assert problems(to_xml(RECORD, "bibitem")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<docnumber>", "<docnumbers>"),
        ('type="editionOf"', 'type="unlike"'),
        ("<on>2024-10-08</on>", "<on>someday</on>"),
        ("<language>en</language>", "<language>two words</language>"),
        ("<stage>Recommendation</stage>", ""),
        ('<docidentifier type="W3C"', "<docidentifier"),
        ("<flavor>w3c</flavor>", "<flavor>ietf</flavor>"),
        ("technicalReport</doctype>", "article</doctype>"),
    ],
)
def test_the_grammar_refuses(old: str, new: str) -> None:
    text = to_xml(RECORD)
    assert old in text
    changed = text.replace(old, new, 1)
    if old == "<docnumber>":
        changed = changed.replace("</docnumber>", "</docnumbers>", 1)
    assert problems(changed)


def keys(part: Part) -> set[str]:
    return {part.tag}.union(*(keys(child) for child in part.children))


def test_the_grammar_and_the_table_know_the_same_elements() -> None:
    from sandcrawler.sources.w3c.record import grammar  # noqa: PLC0415

    space = "{http://relaxng.org/ns/structure/1.0}element"
    known = {element.get("name") for element in etree.fromstring(grammar()).iter(space)}
    assert known == keys(BIBDATA) | keys(BIBITEM)


def test_characters_that_xml_cannot_hold_are_left_out() -> None:
    record = {**RECORD, "title": [{"content": "Tide\x00\x0b &<>\ud800 flats"}]}
    assert etree.fromstring(to_xml(record)).findtext("title") == "Tide &<> flats"


@pytest.mark.parametrize(
    "text", ["", "<", "<article/>", "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>"]
)
def test_what_is_no_record(text: str) -> None:
    with pytest.raises(ValueError, match=r"not XML|neither"):
        from_xml(text)


def test_entities_are_not_resolved() -> None:
    text = "<!DOCTYPE bibdata [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><bibdata><docnumber>&x;</docnumber></bibdata>"
    assert "root" not in str(from_xml(text))


@pytest.mark.parametrize("text", ["- 1", "words", "", "a: ["])
def test_yaml_that_is_no_record(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        from_yaml(text)


def test_an_identifier_that_cannot_be_read_is_kept() -> None:
    text = "docidentifier:\n- content: not a W3C ref at all\n"
    assert from_yaml(text)["docidentifier"][0]["content"] == "not a W3C ref at all"


def same(one: Any, other: Any) -> bool:
    return etree.tostring(etree.fromstring(one), method="c14n") == etree.tostring(
        etree.fromstring(other), method="c14n"
    )


@needs_recordings
@pytest.mark.parametrize("name", ["bibdata", "bibitem", "cr_json_ld11", "rec_xml_names"])
def test_known_xml_comes_back(name: str) -> None:
    text = (EXPECTED / "fixtures_xml" / f"{name}.xml").read_text()
    assert same(to_xml(from_xml(text), "bibitem" if name == "bibitem" else "bibdata"), text)
    assert problems(text) == []


@needs_recordings
def test_known_yaml_comes_back() -> None:
    value = from_yaml((EXPECTED / "fixtures_yaml" / "item.yaml").read_text())
    assert from_yaml(to_yaml(value)) == value
    assert problems(to_xml(value)) == []


@needs_recordings
def test_published_records_come_back_byte_by_byte_and_are_valid() -> None:
    paths = [*(EXPECTED / "published_yaml").iterdir(), *(EXPECTED / "lookup_documents").glob("*.yaml")]
    assert len(paths) == 68
    for path in paths:
        text = path.read_text()
        record = from_yaml(text)
        assert to_yaml(record) == text
        assert problems(to_xml(record)) == []
        assert problems(to_xml(record, "bibitem")) == []
        assert {**from_xml(to_xml(record)), "id": record["id"]} == record
