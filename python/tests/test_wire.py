"""Values <-> bytes: what is refused, what is skipped, and that text is storable everywhere."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.model import HtmlTeixml, IngestWebResult
from sandcrawler.names import Table
from sandcrawler.persist.results import decode as decode_result
from sandcrawler.persist.rows import rows
from sandcrawler.runtime import Record
from sandcrawler.status import Status

REQUEST = {"ingest_type": "html", "base_url": "https://journal.example.org/a/1"}


@pytest.mark.parametrize(
    ("data", "reason"), [(None, "tombstone"), (b"", "empty"), (b" \n", "empty")], ids=["null", "no bytes", "blank"]
)
def test_nothing_to_do_is_skipped(data: bytes | None, reason: str) -> None:
    with pytest.raises(SkippedMessage) as caught:
        wire.decode_request(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "not JSON"),
        (b"[1]", "a JSON object is needed"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"ingest_type": "html"}', "base_url"),
        (b'{"ingest_type": "html", "base_url": ""}', "base_url"),
        (b'{"ingest_type": "tiff", "base_url": "https://example.org/"}', "ingest_type"),
        (b"[" * 100_000, "not JSON"),
        (b'{"x": ' + b"[" * 300 + b"]" * 300 + b', "ingest_type": "html", "base_url": "https://x/"}', "199 deep"),
        (b'{"x": ' + b"[" * 300 + b'"\\u0000"' + b"]" * 300 + b', "ingest_type": "html", "base_url": "x"}', "199 deep"),
        (b'{"x": 1e400, "ingest_type": "html", "base_url": "https://x/"}', "1e308"),
        (b'{"x": [{"y": ' + b"9" * 400 + b'.5}], "ingest_type": "html", "base_url": "https://x/"}', "1e308"),
        (b'{"x": NaN, "ingest_type": "html", "base_url": "https://x/"}', "NaN"),
    ],
)
def test_a_message_that_is_no_request_is_refused_with_its_reason(data: bytes, says: str) -> None:
    with pytest.raises(InvalidMessage, match=says):
        wire.decode_request(data)


def test_unknown_fields_of_a_request_are_kept_verbatim() -> None:
    sent = {**REQUEST, "fatcat": {"release_ident": "abc"}, "colour": {"deep": [1, None, "x"]}, "rel": None}
    request, verbatim = wire.decode_request(json.dumps(sent).encode())
    assert verbatim == sent
    assert request.base_url == REQUEST["base_url"]
    result = IngestWebResult(status=Status.TIMEOUT, hit=False, timestamp="2026-01-01T00:00:00Z", request=verbatim)
    assert json.loads(wire.encode(result))["request"] == sent


@given(
    st.dictionaries(
        st.text(), st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
    )
)
def test_text_is_storable_whatever_comes_in(extra: dict[str, object]) -> None:
    """No U+0000 and no lone surrogate passes, and cleaning twice changes nothing."""
    data = json.dumps({"extra": extra, **REQUEST}).encode()
    _, verbatim = wire.decode_request(data)
    again = wire.encode(verbatim)
    assert "\\u0000" not in again.decode().replace("\\\\", "")
    assert wire.loads(again) == verbatim


def test_lone_surrogates_and_nul_become_the_replacement_character() -> None:
    _, verbatim = wire.decode_request(b'{"ingest_type": "html", "base_url": "https://example.org/\\u0000\\ud800"}')
    assert verbatim["base_url"] == "https://example.org/\ufffd\ufffd"
    message = HtmlTeixml(key="a" * 40, sha1hex="a" * 40, status=Status.SUCCESS, tei_xml="<TEI>\ud800</TEI>")
    assert json.loads(wire.encode(message))["tei_xml"] == "<TEI>\ufffd</TEI>"


def test_absent_fields_are_left_out() -> None:
    result = IngestWebResult(status=Status.TIMEOUT, hit=False, timestamp="2026-01-01T00:00:00Z")
    assert set(json.loads(wire.encode(result))) == {"status", "hit", "timestamp"}


@pytest.mark.parametrize("levels", [1, 100, wire.DEEPEST - 2])
def test_what_is_accepted_passes_through_every_later_step(levels: int) -> None:
    """Cleaned, published and read again, and written as JSONB: deep nesting broke each of these once."""
    deep = b"[" * levels + b'"\\u0000"' + b"]" * levels
    _, verbatim = wire.decode_request(
        b'{"ingest_type": "html", "base_url": "https://x.example.org/", "x": ' + deep + b"}"
    )
    result = IngestWebResult(status=Status.TIMEOUT, hit=False, timestamp="2026-01-01T00:00:00Z", request=verbatim)
    arrival = decode_result(Record("results", 0, 0, None, wire.encode(result)))
    made = dict(rows(arrival)[0])
    assert json.loads(made[Table.INGEST_REQUEST]["request"])["x"] == verbatim["x"]


@pytest.mark.parametrize("innermost", [b"", b"1", b'"\\ud800"'])
def test_one_level_too_deep_is_too_deep(innermost: bytes) -> None:
    """Whichever of the two parsers reads it."""
    deepest = wire.DEEPEST

    def nested(levels: int) -> bytes:
        return b'{"x": ' + b"[" * (levels - 1) + innermost + b"]" * (levels - 1) + b"}"

    assert wire.loads(nested(deepest))
    with pytest.raises(InvalidMessage, match="more than 200 deep"):
        wire.loads(nested(deepest + 1))
    with pytest.raises(InvalidMessage, match="more than 199 deep"):
        wire.decode_request(nested(deepest))


@pytest.mark.parametrize("number", [b"1e999", b"-1e400", b"9" * 400 + b".5"])
def test_a_number_beyond_all_readers_is_refused_in_every_message(number: bytes) -> None:
    with pytest.raises(InvalidMessage, match="1e308"):
        wire.loads(b'{"a": [{"b": ' + number + b"}]}")
