"""Whole documents from a real server through real extraction children (checklist H42, H43, H47, H55, X57, X58, X59).

All are asked for at once, with one pair of children between them: what one does must not cost another.
"""

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandcrawler.config import Config
from sandcrawler.fetch.live import Fetcher
from sandcrawler.ingest.flow import Flow
from sandcrawler.ingest.outcome import Outcome
from sandcrawler.ingest.sandbox import Sandbox
from sandcrawler.model import IngestRequest
from sandcrawler.status import Status
from tests.extract.pages import HEADLINE, metas, page, sections
from tests.extract.test_xml_hostile import ARTICLE, BOMBS
from tests.fetch import web as webs
from tests.fetch.test_guard import Canary
from tests.fetch.web import Web, reply

SITE = "http://journal.example.org"
HOPS = 8
CANARY = "PPPPP"  # in place of the port, and as long
SECRET = "a secret of this machine"


def article(more: str = "", head: str = "") -> bytes:
    text = sections("Introduction", "Methods", "Results", "Discussion", words=300)
    return page(f"<article>{HEADLINE}{more}{text}</article>", metas() + head)


def refreshing(to: str) -> bytes:
    return f'<html><head><meta http-equiv="refresh" content="0; url={to}"></head><body>wait</body></html>'.encode()


def external(kind: str, to: str) -> bytes:
    declared = {
        "entity": f'<!DOCTYPE article [<!ENTITY e SYSTEM "{to}">]>',
        "DTD": f'<!DOCTYPE article SYSTEM "{to}" [<!ENTITY e "x">]>',
        "parameter": f'<!DOCTYPE article [<!ENTITY % p SYSTEM "{to}"> %p; <!ENTITY e "x">]>',
    }
    return (declared[kind] + ARTICLE % "&e;").encode()


def xml(body: bytes) -> bytes:
    return reply(body, content_type="application/xml")


REFRESHES = {f"{SITE}/hop/{n}": reply(refreshing(f"/hop/{n + 1}")) for n in range(12)}
EXTERNAL = {
    f"{SITE}/{kind}/{scheme}.xml": xml(external(kind, to))
    for kind in ("entity", "DTD", "parameter")
    for scheme, to in (("http", f"http://127.0.0.1:{CANARY}/x"), ("file", f"file://{__file__}"))
}
LAUGHS = {
    f"{SITE}/{name.replace(' ', '-')}.xml": xml(b'<?xml version="1.0"?>' + BOMBS[name].encode())
    for name in ("laughs", "quadratic")
}
ODD = {
    "deep": "<div>" * 10_000 + "text" + "</div>" * 10_000,
    "wide": '<table><tr><td colspan="9007199254740991" rowspan="9007199254740991">a cell</td></tr></table>',
    "attribute": f'<p title="{"x" * (1 << 20)}" class="{"a " * (1 << 19)}">a paragraph</p>',
    "regex": f"<p>{'a' * 50_000}!</p><p>{'10.5555/' * 5000}</p><p>{'http://' * 5000}</p><p>{'1999-' * 10_000}</p>",
    "unclosed": "<b><i>" * 5000,
}
ODD_PAGES = {f"{SITE}/odd/{name}": reply(article(more)) for name, more in ODD.items()}
INWARD = {
    f"{SITE}/in/refresh": reply(refreshing(f"http://127.1:{CANARY}/")),
    f"{SITE}/in/pdf-link": reply(page(HEADLINE, metas(fulltext_html_url=f"http://2130706433:{CANARY}/x"))),
    f"{SITE}/in/part": reply(article(f'<img src="http://0x7f.1:{CANARY}/a.png">')),
    f"{SITE}/in/sheet": reply(article(head='<link rel="stylesheet" href="/in/a.css">')),
    f"{SITE}/in/a.css": reply(b"@import url(http://[::1]:PPPPP/b.css);", content_type="text/css"),
    f"{SITE}/in/header": reply(b"<html>wait</html>", refresh=f"0; url=http://[::ffff:7f00:1]:{CANARY}/"),
}
LONGER = {f"{SITE}/longer": reply(article() + b"\n\n", content_length=str(len(article())))}
MISSING = {
    f"{SITE}/parts": reply(article('<img src="/gone.png"><img src="/slow.png"><img src="/there.png">')),
    f"{SITE}/there.png": reply(b"\x89PNG\r\n\x1a\n" + bytes(100), content_type="image/png"),
}


async def _never(_: webs.Request, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(120)


@dataclass(frozen=True)
class Answered:
    outcomes: dict[str, Outcome]
    heard: int
    seconds: float

    def __getitem__(self, path: str) -> Outcome:
        return self.outcomes[f"{SITE}/{path}"]


@pytest.fixture(scope="module")
def answered() -> Answered:
    """Every document of this page."""
    pages = [*ODD_PAGES, *EXTERNAL, *LAUGHS, *INWARD, *LONGER, f"{SITE}/parts", f"{SITE}/hop/0"]
    asked = [url for url in pages if not url.endswith(".css")]
    everything = REFRESHES | ODD_PAGES | EXTERNAL | LAUGHS | INWARD | LONGER | MISSING

    async def work() -> Answered:
        async with Canary() as canary, Web({}, address="127.0.0.2") as web:
            web.pages = {url: sent.replace(CANARY.encode(), b"%d" % canary.port) for url, sent in everything.items()}
            web.pages[f"{SITE}/slow.png"] = _never
            config = web.config(fetch_allow_ports=(canary.port,), fetch_read_seconds=5, ingest_hops=HOPS)
            start = time.monotonic()
            outcomes = await _ingest(config, asked)
            return Answered(outcomes, canary.heard, time.monotonic() - start)

    return asyncio.run(work())


async def _ingest(config: Config, urls: list[str]) -> dict[str, Outcome]:
    async with Sandbox(config) as sandbox, Fetcher(config) as fetcher:
        flow = Flow(fetcher, sandbox.extract, config)

        async def one(url: str) -> Outcome:
            asked: dict[str, Any] = {"ingest_type": "xml" if url.endswith(".xml") else "html", "base_url": url}
            return await flow.ingest(IngestRequest.model_validate(asked), asked)

        return dict(zip(urls, await asyncio.gather(*map(one, urls)), strict=True))


def test_h42_more_documents_in_a_row_than_the_limit(answered: Answered) -> None:
    result = answered["hop/0"].result
    assert (result.status, result.hit) == (Status.MAX_HOPS_EXCEEDED, False)
    assert result.hops == tuple(f"{SITE}/hop/{n}" for n in range(HOPS + 1))
    assert [hop.technique for hop in result.extract_next_hop or ()] == ["meta-refresh"] * HOPS


INSIDE = {"in/refresh": 1, "in/pdf-link": 1, "in/header": 1, "in/part": 0, "in/sheet": 0}


@pytest.mark.parametrize("path", INSIDE)
def test_h43_nothing_that_a_document_names_reaches_the_canary(answered: Answered, path: str) -> None:
    """By meta refresh, header, full-text link, part, and style sheet: each is asked for, and refused."""
    result = answered[path].result
    refused = [part.url for part in result.html_resources_missing or () if part.status is Status.BLOCKED_ADDRESS]
    assert (result.status is Status.BLOCKED_ADDRESS) == bool(INSIDE[path]), result.status
    assert len(refused) == 1 - INSIDE[path]
    assert answered.heard == 0


def test_h47_a_body_that_is_longer_than_it_says_ends_where_it_says(answered: Answered) -> None:
    """As in browsers: a line end after the document is common."""
    result = answered["longer"].result
    assert result.status is Status.SUCCESS
    assert result.file_meta is not None
    assert result.file_meta.size_bytes == len(article())


def test_h55_parts_that_are_missing_are_told_and_the_document_stands(answered: Answered) -> None:
    result = answered["parts"].result
    assert result.status is Status.SUCCESS
    assert [part.url for part in result.html_resources or ()] == [f"{SITE}/there.png"]
    assert {(part.url, part.status, part.status_code) for part in result.html_resources_missing or ()} == {
        (f"{SITE}/gone.png", Status.TERMINAL_BAD_STATUS, 404),
        (f"{SITE}/slow.png", Status.TIMEOUT, None),
    }


def test_x57_nothing_that_xml_names_is_opened(answered: Answered) -> None:
    for url in EXTERNAL:
        outcome = answered.outcomes[url]
        said = outcome.result.model_dump_json() + str(outcome.message)
        assert SECRET not in said, url
        assert outcome.result.status in (Status.SUCCESS, Status.XML_PARSE_ERROR), url
    assert answered.heard == 0


@pytest.mark.parametrize("url", LAUGHS)
def test_x58_bombs_of_entities_are_refused(answered: Answered, url: str) -> None:
    assert answered.outcomes[url].result.status is Status.XML_PARSE_ERROR


@pytest.mark.parametrize("name", ODD)
def test_x59_odd_pages_have_a_verdict(answered: Answered, name: str) -> None:
    result = answered[f"odd/{name}"].result
    assert result.status in (Status.SUCCESS, Status.UNKNOWN_SCOPE, Status.WRONG_SCOPE), result.error_message
    assert result.file_meta is not None


def test_x59_in_bounded_time(answered: Answered) -> None:
    assert answered.seconds < 240, "all of them together"


def test_every_number_of_the_checklist_has_a_test() -> None:
    root = Path(__file__).parents[1]
    named = {
        n for file in root.glob("*/test_*.py") for n in re.findall(r"def test_([hx]\d\d)_", file.read_text("utf-8"))
    }
    assert {*(f"h{n}" for n in range(41, 57)), *(f"x{n}" for n in range(57, 60))} <= named
