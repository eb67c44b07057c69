from typing import Any

import pytest

from sandcrawler.sources.w3c import parse
from sandcrawler.sources.w3c.parse import EVERY_RECORD, EVERY_VERSION, lacking

PLACE = "https://www.w3.org/TR"
SPECIFICATION = {"title": "Tide", "shortlink": f"{PLACE}/tide/"}
VERSION = {
    "title": "Tide",
    "uri": f"{PLACE}/2024/REC-tide-20241008/",
    "shortlink": f"{PLACE}/tide/",
    "status": "Recommendation",
    "date": "2024-10-08",
}
OLDER = VERSION | {"uri": f"{PLACE}/2023/CR-tide-20230101/"}


def version(resource: Any = VERSION, **lists: Any) -> Any:
    return parse.version(resource, SPECIFICATION, lists.pop("editors", []), lists.pop("groups", []), **lists)


def test_a_version() -> None:
    record = version(
        editors=[{"given": "Ada", "family": "Fernhill"}],
        groups=["Tidal Data Group"],
        predecessors=[OLDER],
        successors=[VERSION],
    )
    assert list(record) == [
        "id", "schema_version", "type", "formattedref", "title", "source", "docidentifier", "docnumber", "date",
        "contributor", "language", "script", "status", "relation", "series", "ext",
    ]  # fmt: skip
    assert record["id"] == "W3CRECtide20241008"
    assert record["docnumber"] == "REC-tide-20241008"
    assert record["formattedref"] == {"content": "W3C REC-tide-20241008"}
    assert record["status"] == {"stage": {"content": "Recommendation"}}
    assert record["series"][0]["title"][0]["content"] == "W3C Recommendation"
    assert record["date"] == [{"type": "published", "at": "2024-10-08"}]
    publisher, editor, group = record["contributor"]
    assert publisher["organization"]["abbreviation"] == {"content": "W3C"}
    assert editor["person"]["name"]["surname"]["content"] == "Fernhill"
    assert group["role"] == [{"type": "author", "description": [{"content": "committee"}]}]
    assert group["organization"]["subdivision"][0]["name"] == [{"content": "Tidal Data Group"}]
    relations = [
        (each["type"], each.get("description"), each["bibitem"]["docidentifier"][0]["content"])
        for each in record["relation"]
    ]
    assert relations == [
        ("editionOf", None, "W3C tide"),
        ("obsoletes", None, "W3C CR-tide-20230101"),
        ("updatedBy", {"content": "errata"}, "W3C REC-tide-20241008"),
    ]


def test_a_specification() -> None:
    record = parse.specification(SPECIFICATION, [VERSION, OLDER])
    assert {"status", "date", "formattedref"}.isdisjoint(record)
    assert [each["type"] for each in record["relation"]] == ["hasEdition"] * 2
    assert len(record["contributor"]) == 1
    assert record["series"] == [
        {"title": [{"language": "en", "script": "Latn", "content": "W3C technicalReport"}], "number": "tide"}
    ]


@pytest.mark.parametrize(
    ("change", "doctype"),
    [
        ({}, "technicalReport"),
        ({"status": "TR", "shortlink": "https://example.org/"}, "technicalReport"),
        ({"status": "NOTE"}, "groupNote"),
        ({"shortlink": "https://example.org/"}, None),
        ({"shortlink": None}, None),
    ],
)
def test_the_type_of_document(change: dict[str, Any], doctype: str | None) -> None:
    ext = version(VERSION | change)["ext"]
    assert ext.get("doctype") == ({"content": doctype} if doctype else None)
    assert ext["flavor"] == "w3c"


@pytest.mark.parametrize("name", ["title", "status", "date"])
def test_what_is_absent_is_left_out(name: str) -> None:
    record = version({key: value for key, value in VERSION.items() if key != name})
    assert name not in record
    assert "series" not in record if name == "status" else "series" in record


def test_an_editor_without_parts_of_a_name_has_a_whole_one() -> None:
    record = version(editors=[{"name": "The Editors"}])
    assert record["contributor"][1]["person"]["name"] == {
        "completename": {"language": "en", "script": "Latn", "content": "The Editors"}
    }


def test_without_a_url_there_is_no_record() -> None:
    with pytest.raises(ValueError, match="neither uri nor shortlink"):
        version({"title": "x"})


def test_what_a_record_lacks() -> None:
    record = parse.specification({"shortlink": "https://example.org/x"}, [])
    assert lacking(record, EVERY_RECORD | EVERY_VERSION) == {
        "title": True, "doc_uri": False, "series": False, "relation": True, "contributor": False, "doctype": True,
        "status": True, "formattedref": True, "date": True,
    }  # fmt: skip
