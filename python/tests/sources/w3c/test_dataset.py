from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sandcrawler.errors import Unavailable
from sandcrawler.sources.cache import KEEP_SECONDS, Cache
from sandcrawler.sources.http import Client
from sandcrawler.sources.w3c import bibliography
from sandcrawler.sources.w3c.bibliography import get, search
from sandcrawler.sources.w3c.dataset import Dataset
from sandcrawler.sources.w3c.index import Row, dump_rows
from sandcrawler.sources.w3c.pubid import parse
from sandcrawler.sources.w3c.record import to_xml
from tests.sources.w3c.server import Fault, Server, key, serving
from tests.sources.w3c.shared import SHARED, needs_recordings
from tests.sources.w3c.world import Harvest, world


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harvest")
    with serving(world(2, 3)) as server:
        Harvest(server.base, folder).run()
    return folder


@pytest.fixture
def published(harvested: Path):  # type: ignore[no-untyped-def]
    with serving({f"/v2/{path.name}": path.read_bytes() for path in harvested.iterdir()}) as server:
        yield server


class Time:
    def __init__(self) -> None:
        self.now = datetime.now(UTC).timestamp()

    def __call__(self) -> float:
        return self.now


def remote(server: Server, cache: Path, now: Any = None) -> Dataset:
    return Dataset(f"{server.base}/v2", Cache(Client("tests", retries={}), cache, now or Time()))


@pytest.mark.parametrize("reference", ["W3C REC-tide-0", "https://www.w3.org/TR/2001/REC-tide-0-20010315/#top"])
def test_a_record_of_a_folder(harvested: Path, reference: str) -> None:
    record = get(reference, harvested)
    assert record is not None
    assert record["docnumber"] == "REC-tide-0-20010315"
    assert record["fetched"] == datetime.now(UTC).date().isoformat()
    assert list(record)[:4] == ["id", "schema_version", "type", "fetched"]


@pytest.mark.parametrize("page", ["Overview.html", "single-page.html", "images/tide.svg", "?x=1", "#top"])
def test_a_page_of_a_dated_publication_leads_to_it(harvested: Path, page: str) -> None:
    record = get(f"https://www.w3.org/TR/2001/REC-tide-0-20010315/{page}", harvested)
    assert record is not None
    assert record["docnumber"] == "REC-tide-0-20010315"
    assert get(f"https://www.w3.org/TR/2001/REC-tide-9-20010315/{page}", harvested) is None


def test_a_page_that_is_a_publication_itself_goes_first(harvested: Path, tmp_path: Path) -> None:
    names = ("REC-tide-20010315", "REC-tide-20010315/fonts")
    (tmp_path / "index").write_text(dump_rows(Row(parse(f"W3C {name}"), "x.yaml") for name in names))
    among = Dataset(harvested, Cache(Client("tests"), tmp_path))
    found = {
        page: search(f"https://www.w3.org/TR/2001/REC-tide-20010315/{page}", among, tmp_path / "index")
        for page in ("fonts.html", "cover.html")
    }
    assert {page: str(hit and hit.pubid) for page, hit in found.items()} == {
        "fonts.html": "W3C REC-tide-20010315/fonts",
        "cover.html": "W3C REC-tide-20010315",
    }


def test_an_identifier_may_be_given_as_such(harvested: Path) -> None:
    record = get(parse("W3C tide-1"), harvested)
    assert record is not None
    assert record["docnumber"] == "tide-1"


@pytest.mark.parametrize("reference", ["W3C nothing", "", "REC-", "https://www.w3.org/TR/", "W3C REC-tide-0-20010316"])
def test_a_miss_is_none(harvested: Path, reference: str) -> None:
    assert get(reference, harvested) is None


def test_an_index_of_its_own_leads_to_the_records_beside_it(harvested: Path) -> None:
    record = get("W3C tide-0", index=harvested / "index-v2.yaml")
    assert record is not None


def test_an_index_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        get("W3C tide-0", tmp_path)


def test_an_index_must_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("docnumber: secret\n")
    inside = tmp_path / "data"
    inside.mkdir()
    rows = [Row(parse("W3C a"), "../secret.yaml"), Row(parse("W3C b"), str(tmp_path / "secret.yaml"))]
    (inside / "index-v2.yaml").write_text(dump_rows(rows))
    assert get("W3C a", inside) is None
    assert get("W3C b", inside) is None


def test_what_is_no_record_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index-v2.yaml").write_text(dump_rows([Row(parse("W3C a"), "a.yaml")]))
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe: [")
    with pytest.raises(Unavailable, match="cannot be read"):
        get("W3C a", tmp_path)


def test_a_record_of_a_server_and_the_cache_of_a_day(published: Server, tmp_path: Path) -> None:
    now = Time()

    def look() -> Any:
        among = remote(published, tmp_path, now)
        found = search("W3C REC-tide-0", among)
        assert found is not None
        return bibliography.record(found, among)

    assert look()["docnumber"] == "REC-tide-0-20010315"
    assert sorted(published.asked) == ["/v2/index-v2.yaml", "/v2/rec-tide-0-20010315.yaml"]
    now.now += KEEP_SECONDS - 1
    look()
    assert len(published.asked) == 2
    now.now += 2
    look()
    assert len(published.asked) == 4


@pytest.mark.parametrize("status", [404, 403, 500])
def test_a_record_that_the_server_does_not_give_is_a_miss(published: Server, tmp_path: Path, status: int) -> None:
    published.always[key("/v2/tide-0.yaml")] = Fault(status)
    among = remote(published, tmp_path)
    found = search("W3C tide-0", among)
    assert found is not None
    assert bibliography.record(found, among) is None


@pytest.mark.parametrize("fault", [Fault(404), Fault(503), Fault(0)])
def test_an_index_that_the_server_does_not_give_is_an_error(published: Server, tmp_path: Path, fault: Fault) -> None:
    published.always[key("/v2/index-v2.yaml")] = fault
    with pytest.raises(Unavailable, match="Could not access URL"):
        search("W3C tide-0", remote(published, tmp_path))


def test_a_cut_connection_is_an_error(published: Server, tmp_path: Path) -> None:
    among = remote(published, tmp_path)
    found = search("W3C tide-0", among)
    assert found is not None
    published.always[key("/v2/tide-0.yaml")] = Fault(0)
    with pytest.raises(Unavailable, match="Could not access URL"):
        bibliography.record(found, among)


def test_nobody_there_is_an_error(tmp_path: Path) -> None:
    among = Dataset("http://127.0.0.1:9/v2", Cache(Client("tests", retries={}), tmp_path))
    with pytest.raises(Unavailable, match="Could not access URL"):
        search("W3C tide-0", among)


@needs_recordings
@pytest.mark.parametrize(
    ("reference", "fixture"),
    [
        ("W3C CR-json-ld11-20200316", "cr_json_ld11"),
        ("W3C xml-names", "rec_xml_names"),
        ("https://www.w3.org/TR/xml-names/", "rec_xml_names"),
    ],
)
def test_known_records_as_xml(tmp_path: Path, reference: str, fixture: str) -> None:
    documents = SHARED / "expected" / "lookup_documents"
    names = {"CR-json-ld11-20200316", "xml-names", "REC-xml-names-20091208", "vocab-adms", "xml"}
    rows = [Row(parse(f"W3C {name}"), f"{name.lower()}.yaml") for name in names]
    (tmp_path / "index-v2.yaml").write_text(dump_rows(rows))
    record = get(reference, documents, tmp_path / "index-v2.yaml")
    assert record is not None
    expected = (SHARED / "expected" / "fixtures_xml" / f"{fixture}.xml").read_text()
    assert to_xml({**record, "fetched": "2026-03-04"}) == expected


@needs_recordings
def test_the_documented_title(tmp_path: Path) -> None:
    (tmp_path / "index").write_text(
        dump_rows([Row(parse("W3C REC-xml-names-20091208"), "rec-xml-names-20091208.yaml")])
    )
    record = get("W3C REC-xml-names-20091208", SHARED / "expected" / "lookup_documents", tmp_path / "index")
    assert record is not None
    assert record["title"][0]["content"] == "Namespaces in XML 1.0 (Third Edition)"
