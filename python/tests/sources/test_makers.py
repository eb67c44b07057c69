"""Each source's own shape → its requests; and hostile records, which never do worse than being a bad row."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandcrawler import wire
from sandcrawler.model import IngestRequest
from sandcrawler.persist import rows as tables
from sandcrawler.sources import fatcat
from sandcrawler.sources.makers import MAKERS, chosen, requests
from sandcrawler.sources.requests import BASE_URL_BYTES, ID_BYTES, SOURCE_BYTES, Report, Request
from tests.sources.documents import ARXIV, CROSSREF, DOAJ, FATCAT, OPENALEX, PMC, PMC_TEXT, RECORDS


def run(name: str, data: bytes) -> tuple[list[Request], list[tuple[int | str, str]]]:
    bad: list[tuple[int | str, str]] = []
    report = Report(lambda _, where, reason: bad.append((where, reason)))
    stream = io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]
    return list(requests(MAKERS[name], stream, report)), bad


def made(name: str, record: dict[str, Any]) -> list[Request]:
    found, bad = run(name, json.dumps(record).encode())
    assert not bad
    return found


def links(found: list[Request]) -> list[tuple[str, str]]:
    return [(one["ingest_type"], one["base_url"]) for one in found]


def test_limits_are_those_of_the_tables() -> None:
    held = (tables.BASE_URL_BYTES, tables.ID_BYTES, tables.SOURCE_BYTES)
    assert held == (BASE_URL_BYTES, ID_BYTES, SOURCE_BYTES)


def test_doaj() -> None:
    found = made("doaj", DOAJ)
    assert links(found) == [
        ("html", "https://terns.example.org/article/1"),
        ("pdf", "https://terns.example.org/article/1"),
        ("pdf", "https://terns.example.org/article/1/pdf"),
    ]
    assert found[0] == {
        "ingest_type": "html",
        "base_url": "https://terns.example.org/article/1",
        "link_source": "doaj",
        "link_source_id": "00aa11bb22cc33dd",
        "ingest_request_source": "doaj",
        "release_stage": "published",
        "rel": "publisher",
        "ext_ids": {"doaj": "00aa11bb22cc33dd", "doi": "10.1234/terns.1"},
    }


def test_a_bad_link_is_said_once_and_the_others_stand() -> None:
    links = [
        {"type": "fulltext", "content_type": "html", "url": url} for url in ("ftp://x", " ", "https://x.example.org/")
    ]
    found, bad = run("doaj", json.dumps({"id": "1", "bibjson": {"link": links}}).encode())
    assert (len(found), [where for where, _ in bad]) == (2, [1, 1])


@pytest.mark.parametrize(
    ("content_type", "kinds"),
    [
        ("html", ["html", "pdf"]),
        ("text/html", ["html", "pdf"]),
        ("HTML", ["html", "pdf"]),
        ("text/html; charset=utf-8", ["html", "pdf"]),
        ("xml", ["xml"]),
        ("application/xml", ["xml"]),
        ("pdf", ["pdf"]),
        ("application/pdf", ["pdf"]),
        ("fulltext", ["pdf"]),
        ("url", ["pdf"]),
        ("", ["pdf"]),
        (None, ["pdf"]),
        ("abstract", []),
        ("epub", []),
    ],
)
def test_doaj_content_types(content_type: str | None, kinds: list[str]) -> None:
    link = {"type": "fulltext", "content_type": content_type, "url": "https://terns.example.org/1"}
    assert [one["ingest_type"] for one in made("doaj", {"id": "1", "bibjson": {"link": [link]}})] == kinds


def test_crossref() -> None:
    found = made("crossref", CROSSREF)
    assert links(found) == [
        ("pdf", "https://terns.example.org/1.pdf"),
        ("xml", "https://terns.example.org/1.xml"),
        ("pdf", "https://terns.example.org/1"),
    ]
    assert [one["release_stage"] for one in found] == ["published", "accepted", "published"]
    assert {(one["link_source"], one["link_source_id"]) for one in found} == {("doi", "10.1234/terns.1")}
    assert found[0]["edit_extra"] == {
        "license_url": "https://creativecommons.org/licenses/by/4.0/",
        "license_start": "2020-02",
        "content_version": "vor",
        "intended_application": "text-mining",
        "release_date": "2020-02-03",
    }


@pytest.mark.parametrize(
    ("parts", "date"),
    [
        ([2020, 1, 31], "2020-01-31"), ([2020, 1], "2020-01"), ([2020], "2020"), ([2020, 1, 2, 3], "2020-01-02"),
        ([2020, True, 3], "2020"), ([2020, [1]], "2020"), ([2020, 1, {}], "2020-01"), ([2020, 13], "2020"),
        (["2020"], None), ([2020.0, 1], None), ([10**30], None), ([0], None), ([], None), (None, None), ([None], None),
    ],
)  # fmt: skip
def test_crossref_dates_as_far_as_they_are_known(parts: Any, date: str | None) -> None:
    found = made("crossref", CROSSREF | {"published": {"date-parts": [parts]}, "published-online": {}, "issued": {}})
    assert found[0]["edit_extra"].get("release_date") == date


def test_crossref_preprints_are_submitted() -> None:
    link = {"URL": "https://p.example.org/1", "content-type": "text/html"}
    found = made("crossref", {"DOI": "10.1234/p", "type": "posted-content", "link": [link]})
    assert [(one["ingest_type"], one["release_stage"]) for one in found] == [
        ("html", "submitted"),
        ("pdf", "submitted"),
    ]


@pytest.mark.parametrize(
    "form",
    [
        lambda works: {"items": works},
        lambda works: {"status": "ok", "message-type": "work-list", "message": {"total-results": 2, "items": works}},
        lambda works: works,
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_crossref_answers_and_snapshot_files(form: Any, indent: int | None) -> None:
    works = [CROSSREF, CROSSREF | {"DOI": "10.1234/terns.2"}]
    found, bad = run("crossref", json.dumps(form(works), indent=indent).encode())
    assert (len(found), bad) == (6, [])


def test_a_single_work_as_the_api_answers() -> None:
    assert len(made("crossref", {"status": "ok", "message-type": "work", "message": CROSSREF})) == 3


def test_openalex() -> None:
    found = made("openalex", OPENALEX)
    assert links(found) == [
        ("html", "https://doi.org/10.1234/terns.1"),
        ("pdf", "https://repository.example.edu/1.pdf"),
        ("html", "https://repository.example.edu/1"),
    ]
    assert [one["release_stage"] for one in found] == ["published", "accepted", "accepted"]
    assert found[1]["ext_ids"] == {
        "openalex": "W123",
        "doi": "10.1234/terns.1",
        "pmid": "987",
        "pmcid": "PMC654",
        "mag": "321",
    }
    assert found[1]["edit_extra"] == {"license": "cc-by", "is_oa": True}
    assert found[1]["link_source_id"] == "W123"


def test_arxiv_asks_for_the_last_version_by_name() -> None:
    found = made("arxiv", ARXIV)
    assert links(found) == [
        ("pdf", "https://arxiv.org/pdf/2101.01234v2"),
        ("html", "https://arxiv.org/html/2101.01234v2"),
    ]
    assert found[0]["ext_ids"] == {"arxiv": "2101.01234v2"}
    assert found[0]["release_stage"] == "submitted"
    assert found[0]["edit_extra"]["published_doi"] == "10.1234/terns.1"


def test_arxiv_identifiers_one_a_line() -> None:
    found, bad = run("arxiv", b"2101.01234v1\n\nhep-th/9901001\nnothing\n")
    assert [one["link_source_id"] for one in found] == ["2101.01234v1"] * 2 + ["hep-th/9901001"] * 2
    assert [where for where, _ in bad] == [4]


def test_a_broken_line_of_arxivs_dump_says_nothing_of_the_others() -> None:
    for first in ('"0704.0001", "versions": []}', "\x1f\x8b", '{"id": "0704', "<html>"):
        found, bad = run("arxiv", f'{first}\n{{"id": "2101.01234"}}\n2101.01235\n'.encode())
        assert [one["link_source_id"] for one in found] == ["2101.01234"] * 2 + ["2101.01235"] * 2
        assert [where for where, _ in bad] == [1]


@pytest.mark.parametrize(("data", "ids", "line"), [(PMC, ["PMC654"], [3]), (PMC_TEXT, ["PMC654", "PMC655"], [])])
def test_pmc_lists(data: str, ids: list[str], line: list[int]) -> None:
    found, bad = run("pmc", data.encode())
    assert [one["link_source_id"] for one in found if one["ingest_type"] == "xml"] == ids
    assert found[0]["base_url"] == "https://www.ebi.ac.uk/europepmc/webservices/rest/PMC654/fullTextXML"
    assert found[0]["ext_ids"] == {"pmcid": "PMC654", "pmid": "987"}
    assert found[0]["edit_extra"] == {"license": "CC BY"}
    assert [where for where, _ in bad] == line


PMC_METADATA = {
    "pmcid": "PMC654", "version": 1, "pmid": 987, "doi": "10.1234/Terns.1", "license_code": "CC BY",
    "is_pmc_openaccess": True, "is_manuscript": False, "is_retracted": False,
    "xml_url": "s3://pmc-oa-opendata/PMC654.1/PMC654.1.xml?md5=0", "media_urls": [],
}  # fmt: skip
PMC_INVENTORY = """\
"pmc-oa-opendata","metadata/PMC654.1.json","2026-01-08T11:47:59.000Z","f25d9c5f5b85338f62156faeedfc1e95"
"pmc-oa-opendata","metadata/PMC654.2.json","2026-01-08T11:55:14.000Z","a47959089c1fd488b91004eeb06adfa9"
"pmc-oa-opendata","PMC654.1/PMC654.1.pdf","2026-01-08T11:55:14.000Z","a47959089c1fd488b91004eeb06adfa9"
"pmc-oa-opendata","metadata/PMC655.1.json","2026-01-08T12:10:34.000Z","22ed20dfdd305479a4ade2d573514b3d"
"""


@pytest.mark.parametrize("layout", ["line", "list", "indented"])
def test_pmc_metadata_of_its_bucket(layout: str) -> None:
    value = {"line": PMC_METADATA, "list": [PMC_METADATA], "indented": PMC_METADATA}[layout]
    found, bad = run("pmc", json.dumps(value, indent=2 if layout == "indented" else None).encode())
    assert not bad
    (xml,) = (one for one in found if one["ingest_type"] == "xml")
    assert xml["ext_ids"] == {"pmcid": "PMC654", "pmid": "987", "doi": "10.1234/terns.1"}
    assert (xml["release_stage"], xml["edit_extra"]) == ("published", {"license": "CC BY"})


@pytest.mark.parametrize(
    ("change", "stage", "extra"),
    [
        ({"is_manuscript": True, "license_code": None}, "accepted", None),
        ({"is_retracted": True, "pmid": None, "doi": None}, "published", {"license": "CC BY", "retracted": "yes"}),
    ],
)
def test_pmc_manuscripts_and_retractions(change: dict[str, Any], stage: str, extra: dict[str, Any] | None) -> None:
    first = next(iter(MAKERS["pmc"].draft(PMC_METADATA | change)))
    assert (first["release_stage"], first.get("edit_extra")) == (stage, extra)


def test_pmc_inventory() -> None:
    """Versions of one article are one; other objects are passed over."""
    found, bad = run("pmc", PMC_INVENTORY.encode())
    assert not bad
    assert [one["link_source_id"] for one in found if one["ingest_type"] == "xml"] == ["PMC654", "PMC655"]


def test_pmc_asks_for_xml_alone_unless_told() -> None:
    for kinds, expected in ((None, {"xml"}), (["pdf", "html"], {"pdf", "html"})):
        maker = chosen(MAKERS["pmc"], kinds)
        assert {one["ingest_type"] for one in maker.draft({"pmcid": "PMC1"})} == expected


def test_who_asks_can_be_said() -> None:
    maker = chosen(MAKERS["doaj"], by="me")
    assert {one["ingest_request_source"] for one in maker.draft(DOAJ)} == {"me"}
    assert {one["ingest_request_source"] for one in MAKERS["doaj"].draft(DOAJ)} == {"doaj"}


def test_fatcat() -> None:
    found = made("fatcat", FATCAT)
    assert [(one["ingest_type"], one["base_url"], one["link_source"]) for one in found] == [
        ("html", "https://doi.org/10.1234/terns.1", "doi"),
        ("xml", "https://www.ebi.ac.uk/europepmc/webservices/rest/PMC654/fullTextXML", "pmc"),
        ("pdf", "https://europepmc.org/backend/ptpmcrender.fcgi?accid=PMC654&blobtype=pdf", "pmc"),
    ]
    assert found[0]["fatcat"] == {"release_ident": FATCAT["ident"], "work_ident": FATCAT["work_id"]}
    assert found[0]["ingest_request_source"] == "fatcat-ingest"


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"state": "deleted"}, []),
        ({"release_type": "stub"}, []),
        ({"release_type": "dataset"}, []),
        ({"release_type": "post-weblog"}, ["html"]),
        ({"webcaptures": [{"ident": "x"}]}, ["xml", "pdf"]),
        ({"files": [{"mimetype": "application/pdf", "urls": [{"url": "https://x.example.org/"}]}]}, ["html", "xml"]),
        ({"files": [{"mimetype": "application/pdf", "urls": []}]}, ["html", "xml", "pdf"]),
        ({"ext_ids": {"doi": "10.1234/x"}}, ["html", "pdf"]),
        ({"ext_ids": {}}, []),
    ],
)
def test_fatcat_asks_for_what_is_missing(change: dict[str, Any], kinds: list[str]) -> None:
    assert [one["ingest_type"] for one in made("fatcat", FATCAT | change)] == kinds


def test_a_release_update_asks_in_the_name_of_the_changelog() -> None:
    assert {one["ingest_request_source"] for one in fatcat.updated(FATCAT)} == {"fatcat-changelog"}
    with pytest.raises(wire.InvalidMessage, match="ident"):
        fatcat.updated({"title": "no release"})


BROKEN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("name", RECORDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_hostile_records_are_bad_rows_at_worst(name: str, data: st.DataObject) -> None:
    """Any part of a record replaced by anything: what gets through is a valid request for an http(s) URL."""
    path = data.draw(st.sampled_from(list(paths(RECORDS[name]))))
    found, _ = run(name, wire.encode({"r": changed(RECORDS[name], path, data.draw(BROKEN))})[5:-1])
    for one in found:
        request = IngestRequest.model_validate(one)
        assert request.base_url.startswith(("http://", "https://"))
        assert len(request.base_url.encode()) <= BASE_URL_BYTES
        assert request.link_source
        assert request.link_source_id
        assert request.ingest_request_source
