"""Records of the body topics: objects, what is skipped, what becomes a dead letter."""

from typing import Any

import pytest

from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.persist import bodies
from tests.persist.documents import Message, raw, sha1, tei

ONE = sha1(1)
PATH = f"{ONE[:2]}/{ONE[2:4]}/{ONE}"


def message(**fields: Any) -> Message:
    return raw({"key": ONE, "sha1hex": ONE, "status": "success", **fields}, ONE.encode())


def test_tei() -> None:
    blob = bodies.decode_html_teixml(tei(1, tei_xml="<TEI>Año</TEI>"))
    assert (blob.key, blob.content_type) == (f"html/{PATH}.tei.xml", "application/xml")
    assert blob.body == "<TEI>Año</TEI>".encode()


@pytest.mark.parametrize(
    ("schema", "suffix"), [("jats", ".jats.xml"), ("tei", ".tei.xml"), ("other", ".xml"), (None, ".xml")]
)
def test_xml_is_filed_by_its_schema_under_the_hash_of_the_original(schema: str | None, suffix: str) -> None:
    blob = bodies.decode_xml_doc(message(schema=schema, xml='<?xml version="1.0" encoding="UTF-8"?><a/>'))
    assert (blob.key, blob.content_type) == (f"xml/{PATH}{suffix}", "application/xml")


def test_pdf_text() -> None:
    blob = bodies.decode_pdf_text(message(text="words", page_count=2))
    assert (blob.key, blob.body, blob.content_type) == (f"text/{PATH}.txt", b"words", "text/plain")


def test_a_body_of_unknown_scope_is_kept() -> None:
    blob = bodies.decode_xml_doc(message(status="unknown-scope", schema="other", xml="<a/>"))
    assert blob.key == f"xml/{PATH}.xml"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Message(None, ONE.encode()), "tombstone"),
        (Message(b"", ONE.encode()), "empty"),
        (tei(1, status="empty-xml", tei_xml=None), "not-success"),
        (tei(1, status="html-teixml-error"), "not-success"),
        (tei(1, tei_xml=None), "no-body"),
        (tei(1, tei_xml=""), "no-body"),
    ],
)
def test_nothing_to_do_is_counted(record: Message, reason: str) -> None:
    with pytest.raises(SkippedMessage) as skipped:
        bodies.decode_html_teixml(record)
    assert skipped.value.reason == reason


@pytest.mark.parametrize(
    "record",
    [
        Message(b"{not json", ONE.encode()),
        Message(b"\xff\xfe{}", ONE.encode()),
        raw([], ONE.encode()),
        raw({"status": "success"}, ONE.encode()),
        tei(1, key=None),
        tei(1, key=sha1(2)),
        tei(1, sha1hex=sha1(2)),
        Message(tei(1).value, None),
        Message(tei(1).value, sha1(2).encode()),
        raw({"key": "short", "sha1hex": "short", "status": "success", "tei_xml": "<TEI/>"}, b"short"),
        tei(1, sha1hex=ONE.upper()),
    ],
)
def test_a_message_that_cannot_be_filed_is_invalid(record: Message) -> None:
    with pytest.raises(InvalidMessage):
        bodies.decode_html_teixml(record)


def test_a_lone_surrogate_is_replaced() -> None:
    assert bodies.decode_html_teixml(tei(1, tei_xml="<TEI>\ud83d</TEI>")).body == "<TEI>\ufffd</TEI>".encode()
