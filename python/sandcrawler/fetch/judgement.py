"""What a response amounts to, the same for every back end: its codings undone, its HTTP status turned into ours."""

from collections.abc import Sequence
from dataclasses import replace

from sandcrawler.fetch.decode import Body, Sink
from sandcrawler.model import Capture
from sandcrawler.status import Status

# 226 is 200 after a delta (RFC 3229). A 206 was not asked for: it is a part, and parts are not documents.
SUCCESSFUL = frozenset({200, 203, 226})
BODILESS = frozenset({204, 205})
TEXT_TYPES = ("text/", "application/xml")


def of_code(code: int) -> Status:
    """The status of a response with this HTTP status code, as far as that alone tells."""
    return Status.SUCCESS if code in SUCCESSFUL else Status.TERMINAL_BAD_STATUS


def decoder(content_type: str, content_encodings: Sequence[str], cap: int, sink: Sink | None = None) -> Body:
    """What undoes a body's content codings, at most `cap` bytes of it, into `sink`. Refused: bad-gzip-encoding."""
    text = content_type.startswith(TEXT_TYPES) or content_type.endswith("+xml")
    return Body(content_encodings, cap, text=text, sink=sink)


def judged(answer: Capture, body: bytes) -> Capture:
    """The answer with its whole body."""
    if not body and (answer.status is Status.SUCCESS or answer.status_code in BODILESS):
        return replace(answer, status=Status.EMPTY_BLOB, error_message="a response without a body")
    if answer.status is Status.SUCCESS:
        return replace(answer, body=body)
    return replace(answer, body=body or None, error_message=f"HTTP {answer.status_code}")
