"""A WARC file being written: a gzip member for each record (WARC/1.1, ISO 28500), so that each can be read by itself.

warcio writes the records. HTTP heads are handed to it as bytes: from parsed headers it would write its own spelling of
what is not ASCII. Digests are SHA-1 in base 32; a payload is the body as recorded, content codings untouched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from warcio.warcwriter import WARCWriter

from sandcrawler.fetch.base import Exchange

Fields = dict[str, str]


class Head:
    """An HTTP head as warcio wants it, bytes and all."""

    def __init__(self, head: bytes) -> None:
        self.headers_buff = head

    def compute_headers_buffer(self, _: object = None) -> None:
        """The bytes are as they came."""


@dataclass(frozen=True, slots=True)
class Member:
    """Where a record stands: first byte and size of its gzip member. `whole`: a response with all of its body."""

    offset: int
    csize: int
    whole: bool


@dataclass(frozen=True, slots=True)
class _Earlier:
    """A response that was written in full."""

    url: str
    date: str
    record_id: str


class WarcFile:
    """Appends records to an open file. Not for several threads at once."""

    def __init__(self, file: BinaryIO, info: Mapping[str, str]) -> None:
        self.file = file
        self._writer = WARCWriter(file, gzip=True, warc_version="1.1")
        warcinfo = self._writer.create_warcinfo_record(None, info)
        self._info_id: str = warcinfo.rec_headers.get_header("WARC-Record-ID")
        self._earlier: dict[str, _Earlier] = {}
        self._writer.write_record(warcinfo)

    def add(self, exchange: Exchange, body: BinaryIO, truncated: str | None, *, revisits: bool) -> Member:
        """Append a response and its request; where the response stands.

        With `revisits`, a payload that this file holds already is not written again: a revisit record refers to it.
        """
        fields = self._fields(exchange)
        response = self._response(exchange, body, {**fields, "WARC-Truncated": truncated} if truncated else fields)
        digest = response.rec_headers.get_header("WARC-Payload-Digest")
        earlier = self._earlier.get(digest) if revisits and not truncated else None
        if earlier:
            response = self._revisit(exchange, digest, earlier, fields)
        elif not truncated and response.payload_length:
            record_id = response.rec_headers.get_header("WARC-Record-ID")
            self._earlier.setdefault(digest, _Earlier(exchange.url, fields["WARC-Date"], record_id))
        offset = self.file.tell()
        self._writer.write_record(response)
        member = Member(offset, self.file.tell() - offset, whole=not earlier and not truncated)
        self._writer.write_record(self._request(exchange, fields, response.rec_headers.get_header("WARC-Record-ID")))
        return member

    def _fields(self, exchange: Exchange) -> Fields:
        fields = {"WARC-Date": warc_date(exchange.when), "WARC-Warcinfo-ID": self._info_id}
        return {**fields, "WARC-IP-Address": exchange.address} if exchange.address else fields

    def _response(self, exchange: Exchange, body: BinaryIO, fields: Fields):  # type: ignore[no-untyped-def]
        size = body.seek(0, 2)
        body.seek(0)
        return self._writer.create_warc_record(
            exchange.url,
            "response",
            payload=body,
            length=size,
            warc_headers_dict=fields,
            http_headers=Head(exchange.response),
        )

    def _revisit(self, exchange: Exchange, digest: str, earlier: _Earlier, fields: Fields):  # type: ignore[no-untyped-def]
        return self._writer.create_revisit_record(
            exchange.url,
            digest,
            earlier.url,
            earlier.date,
            http_headers=Head(exchange.response),
            warc_headers_dict={**fields, "WARC-Refers-To": earlier.record_id},
        )

    def _request(self, exchange: Exchange, fields: Fields, response_id: str):  # type: ignore[no-untyped-def]
        return self._writer.create_warc_record(
            exchange.url,
            "request",
            warc_headers_dict={**fields, "WARC-Concurrent-To": response_id},
            http_headers=Head(exchange.request),
        )


def warc_date(when: datetime) -> str:
    """A moment as WARC/1.1 writes it, to the microsecond."""
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
