"""Every folder of cases/xml: `input.xml` and what must be said of it (`expected.json`).

Keys: content_type; status, schema, root, encoding, platform, word_count; biblio (each key named must be equal);
body_starts, body_contains, body_not_contains; c14n (the body's canonical XML is the input's).
A document that is published must be readable without any DTD, and say the same again.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from sandcrawler.extract.xml import extract_xml
from sandcrawler.model import Extracted, Page
from sandcrawler.wire import jsonable

CASES = sorted((Path(__file__).parent / "cases" / "xml").iterdir())


@pytest.fixture(params=CASES, ids=lambda path: path.name)
def case(request: pytest.FixtureRequest) -> tuple[bytes, dict[str, Any], Extracted]:
    data = (request.param / "input.xml").read_bytes()
    expected = json.loads((request.param / "expected.json").read_text())
    return data, expected, extract_xml(Page(data, "https://birds.example.org/7.xml", expected.get("content_type")))


def test_verdict(case: tuple[bytes, dict[str, Any], Extracted]) -> None:
    _, expected, got = case
    assert got.xml_meta is not None
    said = {"status": got.status, "platform": got.platform, **jsonable(got.xml_meta)}
    for key in ("status", "schema", "root", "encoding", "platform", "word_count"):
        if key in expected:
            assert said.get(key) == expected[key], key
    assert said["status"] == got.xml_meta.status
    if "biblio" in expected:
        biblio = said.get("biblio") or {}
        assert {key: biblio.get(key) for key in expected["biblio"] or {}} == (expected["biblio"] or {})
        assert bool(biblio) == bool(expected["biblio"])


def test_body(case: tuple[bytes, dict[str, Any], Extracted]) -> None:
    data, expected, got = case
    if expected["status"] == "xml-parse-error":
        assert got.body is None
        assert got.error_message
        return
    assert got.error_message is None
    assert got.body is not None
    body = got.body.decode("utf-8")
    assert body.startswith(expected.get("body_starts", '<?xml version="1.0" encoding="UTF-8"'))
    for piece in expected.get("body_contains", []):
        assert piece in body
    for piece in expected.get("body_not_contains", []):
        assert piece not in body
    if expected.get("c14n"):
        assert canonical(got.body) == canonical(data)


def test_again(case: tuple[bytes, dict[str, Any], Extracted]) -> None:
    """The published document says what the original says, and is published as it is."""
    _, _, got = case
    if got.body is not None and got.xml_meta is not None:
        etree.fromstring(got.body)
        again = extract_xml(Page(got.body, "https://birds.example.org/7.xml"))
        assert again.xml_meta == got.xml_meta.model_copy(update={"encoding": "utf-8"})
        assert again.body == got.body


def canonical(data: bytes) -> bytes:
    tree = etree.ElementTree(etree.fromstring(data, etree.XMLParser(resolve_entities=True, no_network=True)))
    return bytes(etree.tostring(tree, method="c14n", with_comments=True))
