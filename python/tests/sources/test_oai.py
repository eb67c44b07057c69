"""Harvests of a real server on the loopback: tokens, flow control, interruptions, faults."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree
from structlog.testing import capture_logs

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.sources import oai
from sandcrawler.sources.http import Client
from sandcrawler.sources.oai import Harvest
from sandcrawler.sources.oai_records import Page, drafts, parse
from sandcrawler.sources.oai_state import Query, State, load, save
from sandcrawler.sources.requests import BadRow, Request
from tests.sources.repository import DC, ENVELOPE, Answer, Repository, serving

EVERY = [f"oai:x:{number}" for number in range(10)]


class Clock:
    """Sleeps that are noted instead of slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def harvest(endpoint: str, state: State | None = None, clock: Clock | None = None, **query: str) -> Harvest:
    client = Client("test", sleeper=clock or Clock(), retries=oai.RETRIES)
    return Harvest(client, state or State(Query(endpoint, **query)))


def identifiers(pages: Iterator[Page]) -> list[str]:
    return [record.identifier for page in pages for record in page.records]


def test_all_pages_in_order() -> None:
    repository = Repository()
    with serving(repository) as url:
        found = harvest(url, set="theses", since="2023-01-01", until="2025-01-01")
        assert identifiers(found.pages()) == EVERY
    assert (found.state.done, found.state.pages) == (True, 4)
    assert repository.asked[0] == {
        "verb": "ListRecords",
        "metadataPrefix": "oai_dc",
        "from": "2023-01-01",
        "until": "2025-01-01",
        "set": "theses",
    }
    assert [set(asked) for asked in repository.asked[1:]] == [{"verb", "resumptionToken"}] * 3


def test_nothing_that_matches_is_no_fault() -> None:
    with serving(Repository(count=0)) as url:
        found = harvest(url)
        assert identifiers(found.pages()) == []
    assert found.state.done


@pytest.mark.parametrize("wait", ["7", None])
def test_a_busy_server_is_waited_for(wait: str | None) -> None:
    clock = Clock()
    repository = Repository(faults={"3@": [(503, {"Retry-After": wait} if wait else {}, b"")] * 2})
    with serving(repository) as url:
        assert identifiers(harvest(url, clock=clock).pages()) == EVERY
    assert clock.slept == ([7, 7] if wait else [5, 10])


def test_a_wait_of_years_is_cut() -> None:
    clock = Clock()
    with serving(Repository(faults={"first": [(429, {"Retry-After": "999999999"}, b"")]})) as url:
        assert identifiers(harvest(url, clock=clock).pages()) == EVERY
    assert clock.slept == [1800]


def test_a_connection_that_breaks_off_is_tried_again() -> None:
    with serving(Repository(faults={"6@": [(200, {}, None)] * 2})) as url:
        assert identifiers(harvest(url).pages()) == EVERY


def test_a_server_that_stays_away_is_unavailable_and_the_harvest_goes_on_later(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    repository = Repository(faults={"6@": [(500, {}, b"")] * 9})
    with serving(repository) as url:
        query = Query(url)
        found = harvest(url)
        pages = found.pages()
        first = identifiers(iter([next(pages), next(pages)]))
        save(file, found.state)
        with pytest.raises(Unavailable, match="same --state"):
            next(pages)
        rest = identifiers(harvest(url, load(file, query)).pages())
    assert first + rest == EVERY


@pytest.mark.parametrize("interrupted", [0, 1, 2, 3])
def test_an_interruption_repeats_one_page_at_most(interrupted: int, tmp_path: Path) -> None:
    """Killed while a page is used: it was not saved, so it comes again, and no other."""
    file = tmp_path / "state.json"
    repository = Repository()
    with serving(repository) as url:
        found, used = harvest(url), []
        for number, page in enumerate(found.pages()):
            used += identifiers(iter([page]))
            if number == interrupted:
                break
            save(file, found.state)
        asked = len(repository.asked)
        again = harvest(url, load(file, Query(url)))
        used += identifiers(again.pages())
    assert sorted(set(used), key=EVERY.index) == EVERY
    assert len(used) - len(EVERY) <= repository.size
    assert len(repository.asked) - asked == 4 - interrupted


def test_a_finished_harvest_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    with serving(Repository()) as url:
        found = harvest(url)
        identifiers(found.pages())
        save(file, found.state)
        assert load(file, Query(url)) == State(Query(url))


def test_a_state_of_another_harvest_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    save(file, State(Query("http://a.example.org/oai"), token="t"))
    with pytest.raises(ConfigurationError, match="another harvest"):
        load(file, Query("http://b.example.org/oai"))


@pytest.mark.parametrize(
    "text",
    [
        '{"query": 3}', "", "[]", "null", "\xff", '{"query": {"endpoint": 3}}',
        '{"query": {"endpoint": "http://b.example.org/oai"}, "pages": "3"}',
        '{"query": {"endpoint": "http://b.example.org/oai"}, "token": ["t"]}',
        '{"query": {"endpoint": "http://b.example.org/oai"}, "latest": 2024}',
        '{"query": {"endpoint": "http://b.example.org/oai"}, "ordered": "no"}',
        '{"query": {"endpoint": "file:///etc/passwd"}}',
    ],
)  # fmt: skip
def test_what_is_no_state_is_refused_and_stays(text: str, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(text, "latin-1")
    with pytest.raises(ConfigurationError, match="not the state"):
        load(file, Query("http://b.example.org/oai"))
    assert file.read_text("latin-1") == text


def test_a_state_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (
        tmp_path / "folder",
        Path("/dev/full"),
        tmp_path / "none" / "state.json",
        tmp_path / "folder" / "x" / ".." / "y" / "z",
    ):
        with pytest.raises(ConfigurationError, match="--state"):
            load(path, Query("http://b.example.org/oai"))


@pytest.mark.parametrize(
    "given",
    [
        {"since": "garbage"}, {"until": "2024"}, {"since": "2024-02-30"}, {"since": "2024-01-31T00:00:00"},
        {"since": "2024-01-31T25:00:00Z"}, {"since": "2024-01-31", "until": "2024-02-01T00:00:00Z"},
        {"since": "2024-02-01", "until": "2024-01-01"}, {"since": ""}, {"prefix": " "}, {"since": "٢٠٢٤-01-31"},
    ],
)  # fmt: skip
def test_what_no_server_can_take_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError):
        Query("http://a.example.org/oai", **given)


@pytest.mark.parametrize("endpoint", ["", "oai", "ftp://a.example.org/oai", "/etc/passwd"])
def test_an_endpoint_is_a_web_address(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match="http"):
        Query(endpoint)


@pytest.mark.parametrize("body", [b"<html><body>Welcome</body></html>", b"<html><p>broken", b'{"a": 1}', b""])
def test_what_speaks_another_protocol_is_no_endpoint(body: bytes) -> None:
    repository = Repository(faults={"first": [(200, {}, body)] * 3})
    with serving(repository) as url, pytest.raises(ConfigurationError, match="OAI-PMH endpoint"):
        list(harvest(url).pages())
    assert len(repository.asked) == 1


def test_a_foreign_answer_in_the_midst_is_the_servers_trouble() -> None:
    repository = Repository(faults={"3@": [(200, {}, b"<html>maintenance</html>")] * 2})
    with serving(repository) as url:
        assert identifiers(harvest(url).pages()) == EVERY
    repository = Repository(faults={"3@": [(200, {}, b"<html>maintenance</html>")] * 3})
    with serving(repository) as url, pytest.raises(Unavailable, match="names no next"):
        list(harvest(url).pages())


@pytest.mark.parametrize("endpoint", ["http://nowhere.invalid/oai", "http://a..b/oai", "https://[::1/oai"])
def test_an_address_that_leads_nowhere_is_the_callers_fault(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    clock = Clock()
    with pytest.raises(ConfigurationError, match="base URL"):
        list(harvest(endpoint, clock=clock).pages())
    assert clock.slept == []


def test_every_retry_is_told() -> None:
    with serving(Repository(faults={"3@": [(503, {}, b"")] * 2})) as url, capture_logs() as told:
        assert identifiers(harvest(url).pages()) == EVERY
    assert [(each["event"], each["seconds"], each["retry"]) for each in told] == [
        ("asking again", 5, 1),
        ("asking again", 10, 2),
    ]
    assert "503" in told[0]["error"]


@pytest.mark.parametrize("until", [None, "2025-01-01"])
def test_a_forgotten_token_lists_again_from_the_last_datestamp(until: str | None) -> None:
    repository = Repository(forgotten={"6@"}, stamps=lambda number: f"2024-01-{number + 1:02d}T00:00:00Z")
    with serving(repository) as url, capture_logs() as told:
        found = harvest(url) if until is None else harvest(url, until=until)
        used = identifiers(found.pages())
    assert list(dict.fromkeys(used)) == EVERY
    assert len(used) == len(EVERY) + 1, "only the record of the last datestamp came twice"
    assert repository.asked[3]["from"] == ("2024-01-06T00:00:00Z" if until is None else "2024-01-06")
    assert [each["event"] for each in told] == ["token forgotten, listing again"]


def test_a_forgotten_token_of_a_list_without_order_lists_all_again() -> None:
    repository = Repository(forgotten={"6@"}, stamps=lambda number: f"2024-01-{10 - number:02d}")
    with serving(repository) as url:
        pages = harvest(url).pages()
        used = identifiers(iter([next(pages), next(pages)]))
        repository.forgotten.clear()
        used += identifiers(pages)
    assert "from" not in repository.asked[3]
    assert set(used) == set(EVERY)


def test_a_token_refused_by_status_is_a_forgotten_one() -> None:
    with serving(Repository(faults={"6@": [(400, {}, b"")]})) as url:
        assert list(dict.fromkeys(identifiers(harvest(url).pages()))) == EVERY


def test_tokens_that_never_last_end_the_harvest() -> None:
    forgotten = {f"{start}@{since}" for start in (3, 6, 9) for since in ("", "2024-01-03")}
    with serving(Repository(forgotten=forgotten, stamps=lambda _: "2024-01-03")) as url, pytest.raises(Unavailable):
        identifiers(harvest(url).pages())


def test_a_token_that_leads_to_itself_ends_the_harvest() -> None:
    body = ENVELOPE.format("<ListRecords><resumptionToken>3@</resumptionToken></ListRecords>").encode()
    with (
        serving(Repository(faults={"3@": [(200, {}, body)] * 9})) as url,
        pytest.raises(Unavailable, match="came before"),
    ):
        identifiers(harvest(url).pages())


def chained(numbers: str, token: str) -> bytes:
    """A page whose token is said."""
    page = Repository().page([int(number) for number in numbers], 0, "").decode()
    head, _, _ = page.partition("<resumptionToken")
    return f"{head}<resumptionToken>{token}</resumptionToken></ListRecords></OAI-PMH>".encode()


def test_tokens_that_lead_in_a_circle_end_the_harvest(tmp_path: Path) -> None:
    repository = Repository(
        faults={
            "first": [(200, {}, chained("01", "a"))],
            "a": [(200, {}, chained("2", "b"))] * 9,
            "b": [(200, {}, chained("3", "a"))] * 9,
        }
    )
    with serving(repository) as url:
        pages = harvest(url).pages()
        used = identifiers(iter([next(pages), next(pages), next(pages)]))
        with pytest.raises(Unavailable, match="came before"):
            next(pages)
    assert used == ["oai:x:0", "oai:x:1", "oai:x:2", "oai:x:3"]
    assert len(repository.asked) == 3


def test_pages_without_records_and_without_end_end_the_harvest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oai, "EMPTY_PAGES", 5)

    class Endless(Repository):
        def answer(self, asked: dict[str, str]) -> Answer:
            self.asked.append(asked)
            token = f"<resumptionToken>{len(self.asked)}</resumptionToken>"
            return 200, {}, ENVELOPE.format(f"<ListRecords>{token}</ListRecords>").encode()

    repository = Endless()
    with serving(repository) as url, pytest.raises(Unavailable, match="without a record"):
        list(harvest(url).pages())
    assert len(repository.asked) == 6


def test_entity_bombs_are_broken_pages() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "terns and terns">{entities}]>'
    page = Repository().page([0], 0, "").decode().replace("?>", f"?>{bomb}", 1)
    for bad in (page.replace("<dc:title>", '<dc:title x="&e8;">'), page.replace("<dc:title>", "<dc:title>&e8;")):
        assert parse(bad.encode()).broken
    deep = page.replace("<dc:title>T", "<dc:title>" + "<a>" * 50_000 + "</a>" * 50_000)
    assert parse(deep.encode()).broken


@pytest.mark.parametrize(("prefix", "path"), [("nothing", ""), ("oai_dc", "/elsewhere")])
def test_what_the_server_refuses_is_the_callers_fault(prefix: str, path: str) -> None:
    repository = Repository(faults={"first": [(404, {}, b"")]} if path else {})
    with serving(repository) as url, pytest.raises(ConfigurationError, match=r"refuses|base URL"):
        identifiers(harvest(url + path, prefix=prefix).pages())


def broken(after: str = "") -> bytes:
    whole = Repository().page(list(range(10)), 3, "").decode()
    return whole.replace("<dc:title>T</dc:title>", "<dc:title>T</dc:oops>", 1).replace("</OAI-PMH>", after).encode()


def test_a_page_that_is_broken_once_is_asked_for_again() -> None:
    with serving(Repository(faults={"3@": [(200, {}, broken())]})) as url, capture_logs() as told:
        assert identifiers(harvest(url).pages()) == EVERY
    assert [(each["event"], each["page"]) for each in told] == [("broken page, asked for again", 2)]


def test_a_page_that_stays_broken_is_told_and_passed() -> None:
    """Its records may be lost; that is said, and the harvest goes on by its token."""
    with serving(Repository(faults={"3@": [(200, {}, broken())] * 3})) as url:
        pages = list(harvest(url).pages())
    assert [bool(page.broken) for page in pages] == [False, True, False, False]
    assert identifiers(iter(pages))[-4:] == EVERY[-4:]


def test_a_page_cut_before_its_token_stops_and_comes_again(tmp_path: Path) -> None:
    cut = Repository().page(list(range(10)), 3, "")
    cut = cut[: cut.index(b"oai:x:5")]
    repository = Repository(faults={"3@": [(200, {}, cut)] * 3})
    with serving(repository) as url:
        found = harvest(url)
        with pytest.raises(Unavailable, match="names no next"):
            identifiers(found.pages())
        assert (found.state.pages, found.state.token, found.state.done) == (1, "3@", False)
        assert identifiers(harvest(url, found.state).pages()) == EVERY[3:]


def test_control_characters_are_no_broken_page() -> None:
    body = Repository(metadata=lambda _: DC.format("<dc:title>a\x0bb&#x1F;</dc:title>")).page([0], 0, "")
    assert parse(body).broken is None


def test_bytes_that_are_no_utf8_are_no_broken_page() -> None:
    page = Repository(metadata=lambda n: DC.format(f"<dc:identifier>https://a.example.org/{n}/e</dc:identifier>"))
    whole = page.page(list(range(10)), 0, "")
    found = parse(whole.replace(b">T<", b">caf\xe9 \x80<"))
    assert (found.broken, len(found.records), found.token) == (None, 3, "3@")
    latin = whole.replace(b"UTF-8", b"ISO-8859-1").replace(b">T<", b">caf\xe9<")
    assert "caf\xe9" in etree.tostring(parse(latin).records[0].metadata, encoding="unicode")
    assert parse(whole.replace(b">T<", b">caf\xe9<", 1).replace(b"</OAI-PMH>", b"")).broken


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"\x00\xff", b"<OAI-PMH/>", b"not xml"])
def test_what_is_no_page_is_broken(body: bytes) -> None:
    assert parse(body).broken
    assert parse(body).records == ()


def test_external_entities_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    body = Repository().page([0], 0, "").decode().replace("?>", f"?>{entity}", 1).replace(">T<", ">&e;<")
    assert not any("secret" in str(one) for record in parse(body.encode()).records for one in drafts(record))


def made(metadata: str) -> list[Request]:
    (record,) = parse(Repository(metadata=lambda _: metadata).page([0], 0, "")).records
    return list(drafts(record))


def test_dublin_core() -> None:
    found = made(
        DC.format(
            "<dc:identifier>https://repository.example.edu/1</dc:identifier>"
            "<dc:identifier>https://doi.org/10.1234/TERNS.1</dc:identifier>"
            "<dc:identifier>https://repository.example.edu/1/full.PDF?a=1</dc:identifier>"
            "<dc:relation>https://other.example.org/</dc:relation><dc:format>text/html</dc:format>"
            "<dc:type>info:eu-repo/semantics/acceptedVersion</dc:type>"
            "<dc:rights>https://creativecommons.org/licenses/by/4.0/</dc:rights>"
        )
    )
    assert [(one["ingest_type"], one["base_url"]) for one in found] == [
        ("html", "https://repository.example.edu/1"),
        ("pdf", "https://repository.example.edu/1"),
        ("pdf", "https://repository.example.edu/1/full.PDF?a=1"),
    ]
    assert found[0] == {
        "ingest_type": "html",
        "base_url": "https://repository.example.edu/1",
        "link_source": "oai",
        "link_source_id": "oai:x:0",
        "ingest_request_source": "oai",
        "release_stage": "accepted",
        "ext_ids": {"oai": "oai:x:0", "doi": "10.1234/terns.1"},
        "edit_extra": {"license_url": "https://creativecommons.org/licenses/by/4.0/"},
    }


@pytest.mark.parametrize(
    ("fields", "links"),
    [
        ("<dc:identifier>https://doi.org/10.1234/x</dc:identifier>", [("pdf", "https://doi.org/10.1234/x")]),
        ("<dc:identifier>https://r.example.edu/1</dc:identifier><dc:format>image/png</dc:format>", []),
        ("<dc:identifier>ISBN 1</dc:identifier>", []),
    ],
)
def test_dublin_core_links(fields: str, links: list[tuple[str, str]]) -> None:
    assert [(one["ingest_type"], one["base_url"]) for one in made(DC.format(fields))] == links


def test_jats() -> None:
    found = made(
        '<metadata><article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" xmlns:xlink="http://www.w3.org/1999/xlink">'
        '<front><article-meta><article-id pub-id-type="doi">10.1234/A</article-id>'
        '<article-id pub-id-type="pmc">12</article-id>'
        '<self-uri xlink:href="https://j.example.org/1"/>'
        '<self-uri content-type="application/pdf" xlink:href="https://j.example.org/1/download"/>'
        '<self-uri xlink:href="https://j.example.org/1.xml"/></article-meta></front></article></metadata>'
    )
    assert [(one["ingest_type"], one["base_url"]) for one in found] == [
        ("html", "https://j.example.org/1"),
        ("pdf", "https://j.example.org/1"),
        ("pdf", "https://j.example.org/1/download"),
        ("xml", "https://j.example.org/1.xml"),
    ]
    assert found[0]["ext_ids"] == {"oai": "oai:x:0", "doi": "10.1234/a", "pmcid": "PMC12"}


def test_arxiv_raw() -> None:
    found = made(
        '<metadata><arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>2101.01234</id>'
        '<version version="v1"/><version version="v3"/></arXivRaw></metadata>'
    )
    assert [one["base_url"] for one in found] == [
        "https://arxiv.org/pdf/2101.01234v3",
        "https://arxiv.org/html/2101.01234v3",
    ]


def test_deleted_records_ask_for_nothing_and_unknown_metadata_is_said() -> None:
    (record,) = parse(Repository(deleted=frozenset({0})).page([0], 0, "")).records
    assert list(drafts(record)) == []
    with pytest.raises(BadRow, match="not read"):
        made('<metadata><mods xmlns="http://www.loc.gov/mods/v3"/></metadata>')
    with pytest.raises(BadRow, match="without metadata"):
        list(drafts(replace(record, deleted=False)))


def test_states_follow_each_other() -> None:
    with serving(Repository()) as url:
        found = harvest(url)
        counts = [found.state.pages for _ in found.pages()]
    assert counts == [1, 2, 3, 4]
