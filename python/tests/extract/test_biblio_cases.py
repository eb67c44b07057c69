"""Pages of many platforms, and the bibliography that a reader of each would write down.

A case is a folder: input.html, url, and expected.json with `biblio`: field → value; null means that it must be absent,
fields that are not named are free.
"""

import json
from pathlib import Path

import pytest

from sandcrawler.extract import biblio, document
from sandcrawler.model import Page

CASES = sorted(
    folder
    for folder in (Path(__file__).parent / "cases" / "html").iterdir()
    if "biblio" in json.loads((folder / "expected.json").read_text())
)


@pytest.mark.parametrize("folder", CASES, ids=[folder.name for folder in CASES])
def test_bibliography(folder: Path) -> None:
    page = Page((folder / "input.html").read_bytes(), (folder / "url").read_text().strip(), "text/html")
    found, sources = biblio.extract_biblio(document.parse(page))
    got = found.model_dump(mode="json")
    expected = json.loads((folder / "expected.json").read_text())["biblio"]
    assert {field: got[field] for field in expected} == expected
    assert set(sources) == {field for field, value in got.items() if value is not None}


def test_there_are_cases_of_many_platforms() -> None:
    assert len(CASES) >= 25
