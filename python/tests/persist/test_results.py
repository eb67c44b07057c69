"""Records of the results topic: what is read, what is skipped, what becomes a dead letter."""

from datetime import UTC, datetime

import pytest

from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.persist import results
from sandcrawler.status import Status
from tests.persist.documents import Message, raw, record, result


def test_a_result_is_read_whole() -> None:
    arrival = results.decode(record(result(7)))
    assert arrival.result.status is Status.SUCCESS
    assert arrival.request.base_url == "https://journal.example.org/articles/7"
    assert arrival.updated == datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    assert arrival.plain == result(7)


@pytest.mark.parametrize(("value", "reason"), [(None, "tombstone"), (b"", "empty"), (b" \n", "empty")])
def test_nothing_to_do_is_counted(value: bytes | None, reason: str) -> None:
    with pytest.raises(SkippedMessage) as skipped:
        results.decode(Message(value))
    assert skipped.value.reason == reason


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b"{not json", "not JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[]", "object"),
        (b'{"status":"success"}', "hit"),
        (b'{"status":"fine","hit":true,"timestamp":"2024-01-01T00:00:00Z"}', "status"),
        (b'{"status":"success","hit":true,"timestamp":"2024-01-01T00:00:00Z"}', "without its request"),
    ],
)
def test_what_cannot_be_read_says_why(value: bytes, says: str) -> None:
    with pytest.raises(InvalidMessage, match=says):
        results.decode(Message(value))


@pytest.mark.parametrize(
    "request_",
    [
        {"ingest_type": "html"},
        {"base_url": "https://example.org/"},
        {"ingest_type": "html", "base_url": ""},
        {"ingest_type": "html", "base_url": 7},
        {"ingest_type": "video", "base_url": "https://example.org/"},
        {"ingest_type": "html", "base_url": "https://example.org/", "link_source": {}},
    ],
)
def test_a_request_without_a_key_is_invalid(request_: dict[str, object]) -> None:
    with pytest.raises(InvalidMessage):
        results.decode(raw(result(request=request_)))


@pytest.mark.parametrize(
    ("timestamp", "when"),
    [
        ("2024-05-06T07:08:09Z", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("2024-05-06T07:08:09", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("2024-05-06T09:08:09+02:00", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
    ],
)
def test_timestamps_are_utc(timestamp: str, when: datetime) -> None:
    assert results.decode(raw(result(timestamp=timestamp))).updated == when


@pytest.mark.parametrize(
    "timestamp", ["", "yesterday", "2024-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T00:00:00Z"]
)
def test_other_timestamps_are_invalid(timestamp: str) -> None:
    with pytest.raises(InvalidMessage, match="timestamp"):
        results.decode(raw(result(timestamp=timestamp)))


def test_unstorable_characters_are_replaced_everywhere() -> None:
    biblio = {"title": "a\x00b\ud800c"}
    arrival = results.decode(raw(result(html_biblio=biblio, request={**result()["request"], "x\x00": "\udfff"})))
    assert arrival.plain["html_biblio"] == {"title": "a\ufffdb\ufffdc"}
    assert arrival.plain["request"]["x\ufffd"] == "\ufffd"
    assert arrival.result.html_biblio is not None
    assert arrival.result.html_biblio.title == "a\ufffdb\ufffdc"


@pytest.mark.parametrize(("status", "hit"), [("success", False), ("wrong-scope", True)])
def test_only_success_is_a_hit(status: str, hit: bool) -> None:
    with pytest.raises(InvalidMessage, match="hit"):
        results.decode(raw(result(status=status, hit=hit)))
