"""Results and body messages to make tests of: whole ones, of which a test changes what it is about."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sandcrawler import wire


@dataclass(frozen=True)
class Message:
    """A record as far as decoding cares."""

    value: bytes | None
    key: bytes | None = None


def sha1(name: object) -> str:
    return hashlib.sha1(str(name).encode()).hexdigest()


def result(name: object = 1, ingest_type: str = "html", **changes: Any) -> dict[str, Any]:
    """A hit of one type, or what `changes` make of it; a change of None takes a part away."""
    url, digest = f"https://journal.example.org/articles/{name}", sha1(name)
    whole = {
        "status": "success",
        "hit": changes.get("status", "success") == "success",
        "timestamp": "2024-05-06T07:08:09.123456Z",
        "hops": [url],
        "request": {
            "ingest_type": ingest_type,
            "base_url": url,
            "link_source": "doaj",
            "link_source_id": str(name),
            "ingest_request_source": "harvest",
            "release_stage": "published",
            "edit_extra": {"note": ["kept", 1.5, None]},
        },
        "terminal": {
            "terminal_url": url,
            "terminal_dt": "20240506070809",
            "terminal_status_code": 200,
            "terminal_sha1hex": digest,
        },
        "cdx": {
            "surt": f"org,example,journal)/articles/{name}",
            "datetime": "20240506070809",
            "url": url,
            "mimetype": "text/html",
            "status_code": 200,
            "sha1hex": digest,
            "sha1b32": "A" * 32,
            "etag": '"abc"',
        },
        "file_meta": {
            "size_bytes": 4321,
            "md5hex": digest[:32],
            "sha1hex": digest,
            "sha256hex": (digest * 2)[:64],
            "mimetype": "text/html",
        },
        **PARTS[ingest_type](digest),
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def _html(digest: str) -> dict[str, Any]:
    return {
        "scope": "article-fulltext",
        "html_biblio": {"title": "On the flight of terns", "contrib_names": ["Ada Ño", "B. Ek"], "release_year": 2024},
        "html_body": {"status": "success", "agent": "trafilatura/2.0", "word_count": 3210},
        "html_resources": [
            {
                "surt": "org,example,journal)/f.png",
                "timestamp": "2024-05-06T07:08:10Z",
                "url": "https://journal.example.org/f.png",
                "sha1hex": sha1("f"),
                "sha256hex": "0" * 64,
                "size": 9,
                "mimetype": "image/png",
                "status_code": 200,
                "resource_type": "image",
            }
        ],
        "html_resources_missing": [
            {"url": "https://journal.example.org/g.png", "resource_type": "image", "status": "timeout"}
        ],
    }


PARTS = {
    "html": _html,
    "xml": lambda _: {
        "xml_meta": {
            "status": "success",
            "schema": "jats",
            "root": "article",
            "encoding": "ISO-8859-1",
            "biblio": {"title": "Año"},
            "word_count": 12,
        }
    },
    "pdf": lambda _: {
        "pdf_meta": {
            "status": "success",
            "page_count": 9,
            "word_count": 3000,
            "has_text": True,
            "metadata": {"Producer": "TeX"},
        }
    },
}


def record(value: dict[str, Any], key: bytes | None = None) -> Message:
    return Message(wire.encode(value), key)


def raw(value: Any, key: bytes | None = None) -> Message:
    """As another producer might send it: escapes and all, not cleaned."""
    return Message(json.dumps(value).encode(), key)


def tei(name: object = 1, **changes: Any) -> Message:
    digest = sha1(name)
    value = {"key": digest, "sha1hex": digest, "status": "success", "tei_xml": f"<TEI>{name}</TEI>", "word_count": 1}
    return raw({key: item for key, item in (value | changes).items() if item is not None}, digest.encode())
