"""The Refresh header of a response: a waiting page, like one with a meta refresh."""

import pytest

from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.ingest.test_flow import FULL, LANDING, A, B, ScriptedWeb, by_url, ingest, page

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF"


def waiting(value: str, **changes: object) -> Capture:
    return page(A, headers=(("Content-Type", "text/html"), ("Refresh", value)), **changes)


@pytest.mark.parametrize("value", [f"0; url={B}", f"3;URL='{B}'", "0;b", "30, /b", f"1.5 {B}"])
@pytest.mark.parametrize("body", [b"<html>one moment</html>", None])
def test_it_is_followed(value: str, body: bytes | None) -> None:
    empty = {} if body else {"status": Status.EMPTY_BLOB}
    web = ScriptedWeb({A: waiting(value, body=body, **empty), B: page(B)})
    result = ingest(web, by_url({B: FULL})).result
    assert (result.status, result.hops) == (Status.SUCCESS, (A, B))
    assert [(hop.url, hop.technique) for hop in result.extract_next_hop or ()] == [(B, "refresh-header")]


@pytest.mark.parametrize(
    "value", ["", "5", "31; url=/b", "0; url=/a", f"0; url={A}#x", "9" * 5000 + ";/b", "x", "0;ftp://x/"]
)
def test_what_stays_is_read(value: str) -> None:
    result = ingest(ScriptedWeb({A: waiting(value)}), by_url({A: FULL})).result
    assert (result.status, result.hops) == (Status.SUCCESS, (A,))


def test_bytes_that_are_no_ascii_are_passed_on() -> None:
    there = "https://journal.example.org/%C3%BC"
    web = ScriptedWeb({A: waiting("0; url=/\xc3\xbc"), there: page(there)})
    assert ingest(web, by_url({there: FULL})).result.hops == (A, there)


def test_a_loop_ends() -> None:
    web = ScriptedWeb({A: waiting("0; /b"), B: page(B, headers=(("refresh", "0; /a"),))})
    assert ingest(web, by_url({})).result.status is Status.LINK_LOOP


def test_a_pdf_stays_a_pdf_and_an_error_page_an_error() -> None:
    said = {A: LANDING}
    web = ScriptedWeb({A: waiting("0; /b", body=PDF), B: page(B)})
    assert ingest(web, by_url(said), "pdf").result.hops == (A,)
    failed = waiting("0; /b", status=Status.TERMINAL_BAD_STATUS, status_code=404)
    assert ingest(ScriptedWeb({A: failed}), by_url(said)).result.status is Status.TERMINAL_BAD_STATUS
