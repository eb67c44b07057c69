"""A 304 in a WARC: the record says that the capture it refers to still held at its moment (WARC 1.1, section 6.7.3)."""

from sandcrawler.fetch.base import Exchange
from sandcrawler.fetch.condition import NOT_MODIFIED
from sandcrawler.fetch.warcfile import Head, Member, WarcFile
from sandcrawler.model import CdxRow

PROFILE = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


def answers_condition(exchange: Exchange, known: CdxRow) -> bool:
    """Whether an exchange is a 304 to the question whether this capture still holds."""
    code = exchange.response.split(b" ", 2)[1:2]
    return exchange.url == known.url and code == [b"%d" % NOT_MODIFIED] and b"\r\nIf-" in exchange.request


class RevisitingWarcFile(WarcFile):
    """Appends such records, too."""

    def add_unchanged(self, exchange: Exchange, known: CdxRow) -> Member:
        """Append a 304 and its request; where the 304 stands.

        There is no payload digest: ours are of bodies as received, and the row's is of the decoded one.
        """
        fields = {
            **self._fields(exchange),
            "WARC-Profile": PROFILE,
            "WARC-Refers-To-Target-URI": known.url,
            "WARC-Refers-To-Date": _date(known.datetime),
        }
        record = self._writer.create_warc_record(
            exchange.url, "revisit", warc_headers_dict=fields, http_headers=Head(exchange.response)
        )
        offset = self.file.tell()
        self._writer.write_record(record)
        member = Member(offset, self.file.tell() - offset, whole=False)
        record_id = record.rec_headers.get_header("WARC-Record-ID")
        self._writer.write_record(self._request(exchange, self._fields(exchange), record_id))
        return member


def _date(moment: str) -> str:
    """14 digits as WARC writes a moment."""
    return f"{moment[:4]}-{moment[4:6]}-{moment[6:8]}T{moment[8:10]}:{moment[10:12]}:{moment[12:]}Z"
