"""What an archive's replay answers: is it the capture that the index names, and what did the site itself say. Pure.

Archives hand a captured response on in their own ways: headers renamed or left out, codings undone or not, redirects
that lead into the archive.
"""

import base64
import hashlib
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from sandcrawler.fetch.hops import REDIRECTS
from sandcrawler.fetch.judgement import SUCCESSFUL
from sandcrawler.fetch.service import ORIGINAL, Answer
from sandcrawler.fetch.waybackindex import Row

# A captured response's headers that an archive may hand on under their own names; the others are the archive's own.
HANDED_ON = frozenset(
    {"content-type", "content-language", "content-disposition", "etag", "last-modified", "location", "refresh"}
)


def objection(answer: Answer, row: Row) -> str | None:
    """Why an answer is not the capture that the index names, if so."""
    if not answer.archived and answer.code in SUCCESSFUL:
        return (
            "no Memento-Datetime: that is a page of the archive's own, and no capture "
            f"(does SANDCRAWLER_FETCH_WAYBACK_REPLAY name a replay?) {words(answer.body)}"
        )
    if not answer.archived:
        return f"HTTP {answer.code} from the archive itself {words(answer.body)}"
    moment = answer.header("memento-datetime")
    if moment and _differs(moment, row.when):
        return f"it is the capture of {moment[:40]}"
    coded = answer.header("content-encoding") or any(
        answer.header(ORIGINAL + name) for name in ("content-encoding", "transfer-encoding")
    )
    if answer.fault or row.digest is None or answer.code in REDIRECTS or row.digest == _base32(answer.sha1):
        return None
    # What was coded on the wire is hashed so by some crawlers, and handed on without its coding by some archives.
    if coded or row.digest == _base32(_decoded_sha1(answer)):
        return None
    return "its bytes are not those of the index's digest"


def original_headers(answer: Answer, replay: str) -> tuple[tuple[str, str], ...]:
    """The headers of the captured response; its Location leads to the site again and not into the archive."""
    named = [(name[len(ORIGINAL) :], value) for name, value in answer.headers if name.lower().startswith(ORIGINAL)]
    known = {name.lower() for name, _ in named}
    plain = [each for each in answer.headers if each[0].lower() in HANDED_ON - known]
    return tuple((n, unwrapped(v, replay) if n.lower() == "location" else v) for n, v in (*named, *plain))


def unwrapped(location: str, replay: str) -> str:
    """`https://web.archive.org/web/20200101000000id_/https://example.org/` → `https://example.org/`."""
    places = "|".join(map(re.escape, (replay, urlsplit(replay).path)))
    found = re.match(rf"(?:{places})/\d{{1,14}}(?:[a-z]{{2}}_)?/(?=https?:)", location)
    return location[found.end() :] if found else location


def _differs(moment: str, when: datetime) -> bool:
    try:
        given = parsedate_to_datetime(moment)
    except ValueError:
        return True
    return (given if given.tzinfo else given.replace(tzinfo=UTC)) != when


def _decoded_sha1(answer: Answer) -> bytes:
    if answer.digest is not None:
        return bytes.fromhex(answer.digest.sha1hex)
    return hashlib.sha1(answer.body, usedforsecurity=False).digest()


def _base32(digest: bytes) -> str:
    return base64.b32encode(digest).decode()


def words(body: bytes) -> str:
    """The beginning of what an archive says, on one line."""
    return " ".join(re.sub(r"[^ -~]+", " ", body[:300].decode("latin-1")).split())
