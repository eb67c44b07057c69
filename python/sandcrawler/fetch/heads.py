"""A response's head, read as browsers read it: careless servers are understood, contradictory ones are not.

Line ends without CR, folded lines, blanks before colons, `http/2 200`, lines that are no headers, a length said twice:
the web has them all, and browsers pass over them. What would let two readers see two bodies is refused (RFC 9112,
section 6.3): two different lengths, or one that is no number. Where there are chunks a length says nothing; such a
connection is not used again.
"""

import re
from dataclasses import dataclass

Fields = tuple[tuple[bytes, bytes], ...]

HEAD_BYTES = 1 << 20
MOST_LINES = 1024
END = re.compile(rb"\n\r{0,2}\n")
END_BYTES = 4
LINE = re.compile(rb"\r{0,2}\n")
FOLD = re.compile(rb"\r{0,2}\n[ \t]+")
STATUS_LINE = re.compile(
    rb"HTTP(?:/(\d{1,3})(?:\.(\d{1,3}))?)?[ \t]+([1-9]\d\d)(?:[ \t]+(.*))?", re.IGNORECASE | re.DOTALL
)
STRICT_LINE = re.compile(rb"HTTP/1\.[01] \d{3} ?[^\r\n\0]*")
NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
LENGTH = re.compile(rb"\d{1,18}")
# The chunks are undone, so a record's header that announces them is renamed: a reader that trusted it would look for
# chunks in a body that has none. So is a length that was said beside chunks, or said so that not every reader takes it.
CHUNKED_NAME = re.compile(rb"transfer-encoding[ \t]*:", re.IGNORECASE)
UNCLEAR_NAME = re.compile(rb"(?:transfer-encoding|content-length)[ \t]*:", re.IGNORECASE)
PREFIX = b"X-Archive-Orig-"
# Said once for a message, in our words; a protocol of 2010 that the parser below us refuses.
FRAMING = frozenset({b"content-length", b"transfer-encoding", b"sec-websocket-key1"})


class NotHttp(Exception):
    """What came is no HTTP that a browser would take; the text says why."""


@dataclass(frozen=True, slots=True)
class Head:
    """`code`, `minor`: HTTP/1.`minor`; `lines`: as they came, folded ones joined; `fields`: those that are headers."""

    code: int
    minor: int
    reason: bytes
    lines: tuple[bytes, ...]
    fields: Fields

    def all(self, name: bytes) -> list[bytes]:
        """The words of all headers of this name (lower case), which are lists."""
        values = b",".join(value for key, value in self.fields if key.lower() == name)
        return [word.strip() for word in values.split(b",") if word.strip()]

    @property
    def first(self) -> bytes:
        """The status line in our words."""
        return b"HTTP/1.%d %03d %s" % (self.minor, self.code, self.reason)

    @property
    def recorded(self) -> bytes:
        """What is written of it into a WARC: its own lines, none hiding another, none announcing chunks."""
        first = self.lines[0] if STRICT_LINE.fullmatch(self.lines[0]) else self.first
        lengths = [value for name, value in self.fields if name.lower() == b"content-length"]
        clear = b"chunked" not in (word.lower() for word in self.all(b"transfer-encoding")) and (
            not lengths or (len(lengths) == 1 and lengths[0].isdigit())
        )
        name = CHUNKED_NAME if clear else UNCLEAR_NAME
        rest = (PREFIX + line if name.match(line) else line for line in self.lines[1:] if line)
        return b"\r\n".join([first, *rest]) + b"\r\n\r\n"


def read_head(raw: bytes) -> Head:
    """The head in these bytes. NotHttp: they do not begin with a status line, or are too many lines."""
    if raw.count(b"\n") > MOST_LINES:
        raise NotHttp(f"a head of more than {MOST_LINES} lines")
    lines = LINE.split(FOLD.sub(b" ", raw.strip(b"\r\n")))
    lines = [line.replace(b"\0", b"").replace(b"\r", b" ") for line in lines]
    found = STATUS_LINE.fullmatch(lines[0])
    if not found:
        raise NotHttp(f"no HTTP status line: {lines[0][:60]!r}")
    major, minor = int(found[1] or 1), int(found[2] or 0)
    named = (line.partition(b":") for line in lines[1:])
    fields = ((name.rstrip(), value.strip()) for name, _, value in named)
    return Head(
        code=int(found[3]),
        minor=int((major, minor) > (1, 0)),
        reason=(found[4] or b"").rstrip(),
        lines=tuple(lines),
        fields=tuple((name, value) for name, value in fields if NAME.fullmatch(name)),
    )


@dataclass(frozen=True, slots=True)
class Framing:
    """How long the body is: in chunks, or `length` bytes, or (None) to the connection's end.

    `codings`: what it was put through on its way. `contradicts`: chunks and a length were both said.
    """

    chunked: bool
    length: int | None
    codings: tuple[bytes, ...]
    contradicts: bool


def framing(head: Head) -> Framing:
    """How long a head says that its body is. NotHttp: it says so in two ways."""
    codings = tuple(word.lower() for word in head.all(b"transfer-encoding"))
    lengths = set(head.all(b"content-length"))
    if b"chunked" in codings:
        return Framing(True, None, tuple(word for word in codings if word != b"chunked"), bool(lengths))
    if len(lengths) > 1 or not all(LENGTH.fullmatch(length) for length in lengths):
        raise NotHttp(f"the length of the body is unclear: Content-Length: {b', '.join(sorted(lengths))[:60]!r}")
    return Framing(False, int(lengths.pop()) if lengths else None, codings, False)


def strict(head: Head, body: Framing) -> bytes:
    """The head as a strict parser takes it."""
    lines = [b"%s: %s" % field for field in head.fields if field[0].lower() not in FRAMING]
    if body.length is not None:
        lines.append(b"Content-Length: %d" % body.length)
    elif words := [*filter(NAME.fullmatch, body.codings), *([b"chunked"] if body.chunked else [])]:
        lines.append(b"Transfer-Encoding: " + b", ".join(words))
    return b"\r\n".join([head.first, *lines]) + b"\r\n\r\n"
