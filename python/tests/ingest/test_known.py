"""Documents asked for again: what is still so is told again, what has changed is fetched, and nothing is lost."""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from sandcrawler import workers
from sandcrawler.demo.documents import documents
from sandcrawler.ingest.known import MARGIN
from sandcrawler.names import REPLAYED, Table, Topic
from sandcrawler.persist import results
from sandcrawler.persist.memory import MemoryPast, MemoryTables
from sandcrawler.runtime import Message, Record
from sandcrawler.status import Status
from tests.fetch.test_condition import conditions, versioned
from tests.fetch.web import Page, Web, moved, reply

HOST = "http://journal.example.org"
LINK, ARTICLE, PNG = f"{HOST}/doi/10.5555/1", f"{HOST}/article/1", f"{HOST}/1.png"
LONG_AGO = timedelta(hours=1)
TYPES = ("html", "xml", "pdf")


def original(ingest_type: str) -> bytes:
    """The largest file of the example site's hits of this type: a document."""
    hits = [document for document in documents(ingest_type) if document.expected.status is Status.SUCCESS]
    mark = {"html": b"<html", "xml": b"<?xml", "pdf": b"%PDF"}[ingest_type]
    return max((a.body for hit in hits for a in hit.answers if mark in a.body[:200]), key=len)


HTML = re.sub(rb'(?i)<(?:img|link|script)\b[^>]*>|http-equiv="refresh"', b"", original("html")).replace(
    b"</body>", b'<img src="/1.png" alt="Figure 1"></body>'
)


@dataclass
class Scene:
    """A small web, an ingest worker, the tables that its results go to, and all that it published."""

    pages: dict[str, Page]
    settings: dict[str, Any] = field(default_factory=dict)
    tables: MemoryTables = field(default_factory=MemoryTables)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def worked(self, *records: Record) -> list[Sequence[Message]]:
        """The messages of each request, one request after another; nothing is persisted."""

        async def work() -> list[Sequence[Message]]:
            async with Web(self.pages) as web:
                step = workers.ingest(web.config(**self.settings), MemoryPast(self.tables))
                async with step.session():
                    made = [await step.work(step.decode(record)) for record in records]
                self.requests = conditions(web)
                return made

        return asyncio.run(work())

    def ingested(self, **more: Any) -> tuple[dict[str, Any], list[Message]]:
        """A request's result, persisted, and the bodies that went out with it."""
        (made,) = self.worked(asked(**more))
        return self.persisted(made)

    def persisted(self, made: Sequence[Message]) -> tuple[dict[str, Any], list[Message]]:
        (result,) = (message for message in made if message.topic == Topic.RESULTS.named("dev"))
        self.tables.write([results.decode(result)])
        return json.loads(result.value or b""), [message for message in made if message is not result]

    def age(self) -> None:
        """Let an hour pass since all results."""
        for held in self.tables.held.values():
            for row in held.values():
                for moment in ("updated", "created"):
                    if moment in row:
                        row[moment] -= LONG_AGO

    def rows(self) -> dict[Table, list[dict[str, Any]]]:
        """All rows, but for when the last result was made."""
        return {
            name: [{k: v for k, v in row.items() if k not in ("updated", "created")} for row in self.tables.rows(name)]
            for name in Table
        }


def asked(
    url: str = LINK,
    ingest_type: str = "html",
    at: float | None = 0.0,
    headers: tuple[tuple[str, bytes], ...] = (),
    **more: Any,
) -> Record:
    """A request as it comes from Kafka, published now unless said otherwise (`at`: seconds from now; None: unknown)."""
    value = json.dumps({"ingest_type": ingest_type, "base_url": url, **more}).encode()
    return Record("requests", 0, 0, None, value, headers, None if at is None else time.time() + at)


def site(**article: Any) -> dict[str, Page]:
    return {
        LINK: moved("/article/1"),
        ARTICLE: versioned(HTML, **article),
        PNG: reply(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", content_type="image/png"),
    }


@pytest.fixture
def scene() -> Scene:
    """A site whose article was ingested an hour ago."""
    scene = Scene(site())
    result, bodies = scene.ingested()
    assert (result["status"], len(bodies), len(result["html_resources"])) == ("success", 1, 1)
    scene.age()
    return scene


def lasting(result: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in result.items() if name not in ("timestamp", "request")}


def test_what_is_still_so_is_told_again_whole() -> None:
    scene = Scene(site())
    first, _ = scene.ingested(note="first", ext_ids={"doi": "10.5555/1"})
    before = scene.rows()
    scene.age()
    second, bodies = scene.ingested(note="second", unknown_field=[1])
    assert bodies == []
    assert lasting(second) == lasting(first)
    assert second["timestamp"] > first["timestamp"]
    assert second["request"] == {"ingest_type": "html", "base_url": LINK, "note": "second", "unknown_field": [1]}
    assert scene.rows() == before, "no new row, and none that says less"
    assert scene.requests == [(LINK, {}), (ARTICLE, {"if-none-match": '"v1"'})], "no part is asked for"


def test_again_and_again(scene: Scene) -> None:
    before = scene.rows()
    for _ in range(3):
        result, bodies = scene.ingested()
        assert (result["hit"], bodies, len(scene.requests)) == (True, [], 2)
        scene.age()
    assert scene.rows() == before


def test_what_has_changed_is_a_new_capture(scene: Scene) -> None:
    scene.pages[ARTICLE] = versioned(HTML.replace(b"</body>", b"<p>An erratum.</p></body>"), '"v2"')
    before = scene.rows()
    time.sleep(1)  # captures are told apart by seconds
    result, bodies = scene.ingested()
    assert (result["hit"], len(bodies), result["cdx"]["etag"]) == (True, 1, '"v2"')
    after = scene.rows()
    new = {name: len(after[name]) - len(before[name]) for name in Table}
    assert {name for name, count in new.items() if count} == {Table.FILE_META, Table.HTML_META, Table.CDX}
    assert (PNG, {}) in scene.requests


def test_the_same_bytes_without_validators_are_not_published_again() -> None:
    scene = Scene(site(etag=""))
    first, bodies = scene.ingested()
    assert len(bodies) == 1
    scene.age()
    time.sleep(1)
    second, bodies = scene.ingested()
    assert bodies == []
    moments = ("cdx", "terminal", "html_resources")
    assert {k: v for k, v in lasting(second).items() if k not in moments} == {
        k: v for k, v in lasting(first).items() if k not in moments
    }
    assert scene.requests[:2] == [(LINK, {}), (ARTICLE, {})]
    assert (PNG, {}) in scene.requests
    assert len(scene.tables.rows(Table.CDX)) == 2, "a capture is a capture"


def test_a_better_extraction_of_the_same_bytes_is_published(scene: Scene) -> None:
    scene.pages = site(etag="")
    for row in scene.tables.held[Table.HTML_META].values():
        row["agent"] = "trafilatura/0.1"
    result, bodies = scene.ingested()
    assert result["html_body"]["agent"] != "trafilatura/0.1"
    assert len(bodies) == 1


def test_force_asks_for_everything_and_publishes_it(scene: Scene) -> None:
    result, bodies = scene.ingested(force_recrawl=True)
    assert (result["hit"], len(bodies)) == (True, 1)
    assert scene.requests[:2] == [(LINK, {}), (ARTICLE, {})]
    assert (PNG, {}) in scene.requests


@pytest.mark.parametrize(
    ("at", "headers"),
    [
        (None, ()),
        (-3600.0 + MARGIN - 60, ()),
        (-3700.0, ()),
        (3600.0, ()),
        (0.0, ((REPLAYED, b"1"),)),
        (0.0, (("other", b""), (REPLAYED, b""))),
    ],
    ids=["no timestamp", "within the margin", "before the result", "from the future", "replayed", "replayed twice"],
)
def test_a_result_that_may_be_the_requests_own_does_not_count(
    scene: Scene, at: float | None, headers: tuple[tuple[str, bytes], ...]
) -> None:
    _, bodies = scene.persisted(scene.worked(asked(at=at, headers=headers))[0])
    assert len(bodies) == 1
    assert all(not sent for _, sent in scene.requests)


@pytest.mark.parametrize("lost", ["body", "result", "both", "nothing"])
@pytest.mark.parametrize("etag", ['"v1"', ""])
@pytest.mark.parametrize("before", ["never", "known"])
def test_a_request_that_comes_again_after_a_kill_ends_as_if_there_had_been_none(
    lost: str, etag: str, before: str
) -> None:
    """Result and body go out side by side; a worker may be killed when one of them, both or none is in Kafka."""
    scene = Scene(site(etag=etag))
    if before == "known":  # another version, long ago
        scene.pages[ARTICLE] = versioned(HTML + b"<!-- old -->", '"v0"')
        scene.ingested()
        scene.age()
        scene.pages = site(etag=etag)
    record, kafka = asked(), set()

    def arrive(made: Sequence[Message], *topics: Topic) -> None:
        for message in made:
            if message.topic in {topic.named("dev") for topic in topics}:
                kafka.add((message.topic, message.key))
                if message.topic == Topic.RESULTS.named("dev"):
                    scene.tables.write([results.decode(message)])

    gone = {"body": {Topic.HTML_TEIXML}, "result": {Topic.RESULTS}, "both": {*Topic}, "nothing": set()}[lost]
    arrive(scene.worked(record)[0], *({*Topic} - gone))
    # Killed here. The offset is not committed, so the next worker gets the very same record.
    arrive(scene.worked(record)[0], *Topic)
    known = scene.tables.rows(Table.INGEST_FILE_RESULT)[0]
    assert (Topic.HTML_TEIXML.named("dev"), known["terminal_sha1hex"].encode()) in kafka, "no row without its body"
    assert (Topic.RESULTS.named("dev"), f"html:{LINK}".encode()) in kafka


def test_a_later_request_beside_one_that_comes_again_does_not_hide_the_body() -> None:
    """Of two requests for one link the first was half done. The second may take that for known: the first will not."""
    scene = Scene(site())
    first = asked()
    made = scene.worked(first)[0]
    scene.persisted([message for message in made if message.topic == Topic.RESULTS.named("dev")])
    scene.age()
    first = Record("requests", 0, 0, None, first.value, (), (first.timestamp or 0) - 3600 - 30)
    again, second = scene.worked(first, asked())
    assert [len(again), len(second)] == [2, 1]


def test_reached_by_another_way_today(scene: Scene) -> None:
    """The link leads over another host and another page now; the document is the one that is known."""
    landing = b'<html><head><title>A study</title><meta name="citation_title" content="A study">'
    landing += (
        f'<meta name="citation_fulltext_html_url" content="{ARTICLE}"></head><body>Abstract</body></html>'.encode()
    )
    scene.pages[LINK] = moved("http://other.example.com/landing")
    scene.pages["http://other.example.com/landing"] = reply(landing)
    before = scene.rows()
    result, bodies = scene.ingested()
    assert (result["hit"], bodies) == (True, [])
    assert result["hops"] == [LINK, "http://other.example.com/landing", ARTICLE]
    assert [hop["url"] for hop in result["extract_next_hop"]] == [ARTICLE]
    assert result["html_biblio"]["title"] == "A study", "merged with today's landing page, as ever"
    after = scene.rows()
    assert [row["terminal_url"] for row in after[Table.INGEST_FILE_RESULT]] == [ARTICLE]
    assert {name: len(rows) for name, rows in after.items()} == {name: len(rows) for name, rows in before.items()}


def test_a_link_that_leads_elsewhere_now_is_fetched(scene: Scene) -> None:
    scene.pages[LINK] = moved("/article/2")
    scene.pages[f"{HOST}/article/2"] = versioned(HTML + b"<!-- other -->")
    result, bodies = scene.ingested()
    assert (result["terminal"]["terminal_url"], len(bodies)) == (f"{HOST}/article/2", 1)
    assert all(not sent for _, sent in scene.requests)


def test_a_document_that_is_gone_is_a_miss_as_ever(scene: Scene) -> None:
    scene.pages[ARTICLE] = reply(b"gone", 404)
    result, bodies = scene.ingested()
    assert (result["status"], result["hit"], bodies) == ("terminal-bad-status", False, [])


@pytest.mark.parametrize(
    "answer",
    [b'HTTP/1.1 304 X\r\nETag: "v7"\r\n\r\n', b"HTTP/1.1 304 X\r\n\r\nbody", reply(b"", 412)],
    ids=["another version", "a body", "412"],
)
def test_a_broken_304_costs_a_request_and_no_hit(scene: Scene, answer: bytes) -> None:
    async def page(request: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(answer if "if-none-match" in request.headers else reply(HTML, etag='"v7"'))
        await writer.drain()

    scene.pages[ARTICLE] = page
    result, bodies = scene.ingested()
    assert (result["hit"], result["terminal"]["terminal_status_code"]) == (True, 200)
    assert bodies == [], "they are the same bytes all the same"


def test_a_304_that_nobody_asked_for_is_a_miss_that_says_so() -> None:
    scene = Scene(site())
    scene.pages[ARTICLE] = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    result, bodies = scene.ingested()
    assert (result["status"], result["hit"], bodies) == ("terminal-bad-status", False, [])
    assert "304" in result["error_message"]


@pytest.mark.parametrize("ingest_type", TYPES)
def test_every_kind_of_document(ingest_type: str) -> None:
    document = f"{HOST}/document"
    kinds = {"html": "text/html", "xml": "application/xml", "pdf": "application/pdf"}
    body = HTML if ingest_type == "html" else original(ingest_type)

    async def page(request: Any, writer: asyncio.StreamWriter) -> None:
        same = request.headers.get("if-none-match") == '"v1"'
        writer.write(b"HTTP/1.1 304 X\r\n\r\n" if same else reply(body, etag='"v1"', content_type=kinds[ingest_type]))
        await writer.drain()

    scene = Scene({document: page, PNG: reply(b"x", content_type="image/png")})
    first, bodies = scene.ingested(url=document, ingest_type=ingest_type)
    assert (first["status"], len(bodies)) == ("success", 1)
    before = scene.rows()
    scene.age()
    second, bodies = scene.ingested(url=document, ingest_type=ingest_type)
    assert bodies == []
    assert lasting(second) == lasting(first)
    assert scene.rows() == before
    assert scene.requests == [(document, {"if-none-match": '"v1"'})]


def test_another_back_end_than_the_live_web_is_not_asked_on_condition(scene: Scene) -> None:
    scene.settings = {"fetch_backend": "live-then-wayback"}
    result, bodies = scene.ingested()
    assert result["hit"]
    assert bodies == [], "the same bytes, wherever they are from"
    assert all(not sent for _, sent in scene.requests)
