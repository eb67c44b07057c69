"""Every name that two processes must agree on, spelled once: topics, consumer groups, tables, bucket keys.

Nothing else in the project spells a topic, a table or a key; a test holds `kafka/topics.toml`, `sql/migrations/`,
`docker-compose.yml` and the ansible roles to these names.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit


class Topic(StrEnum):
    """The topics, without the `sandcrawler-ENV.` before them."""

    REQUESTS_DAILY = "ingest-file-requests-daily"
    REQUESTS_BULK = "ingest-file-requests-bulk"
    REQUESTS_PRIORITY = "ingest-file-requests-priority"
    RESULTS = "ingest-file-results"
    HTML_TEIXML = "html-teixml"
    XML_DOC = "xml-doc"
    PDF_TEXT = "pdf-text"
    DEAD_LETTERS = "dead-letters"

    def named(self, env: str) -> str:
        """The topic's whole name in one environment (dev, qa or prod)."""
        return f"sandcrawler-{env}.{self.value}"


class ForeignTopic(StrEnum):
    """Topics of other systems that are read here, and never made."""

    FATCAT_RELEASES = "release-updates-v03"

    def named(self, env: str) -> str:
        """The topic's whole name in one environment."""
        return f"fatcat-{env}.{self.value}"


REQUEST_TOPICS: Mapping[str, Topic] = {
    "priority": Topic.REQUESTS_PRIORITY,
    "daily": Topic.REQUESTS_DAILY,
    "bulk": Topic.REQUESTS_BULK,
}


class Table(StrEnum):
    """The tables of `sql/migrations/`."""

    INGEST_REQUEST = "ingest_request"
    INGEST_FILE_RESULT = "ingest_file_result"
    FILE_META = "file_meta"
    CDX = "cdx"
    HTML_META = "html_meta"
    XML_META = "xml_meta"
    PDF_META = "pdf_meta"


class Folder(StrEnum):
    """The bucket's folders."""

    HTML = "html"
    XML = "xml"
    TEXT = "text"
    WARC = "warc"


BUCKET = "sandcrawler"

# Header of a message that was a dead letter: what was done for it before may be half done.
REPLAYED = "sandcrawler.replayed"

# Suffix of an XML body by its schema (xml_meta.schema).
XML_SUFFIX: Mapping[str, str] = {"jats": ".jats.xml", "tei": ".tei.xml"}
OTHER_XML_SUFFIX = ".xml"

CONTENT_TYPES: Mapping[Folder, str] = {
    Folder.HTML: "application/xml",
    Folder.XML: "application/xml",
    Folder.TEXT: "text/plain",
    Folder.WARC: "application/warc",
}


def group(worker: str, env: str) -> str:
    """The consumer group of one kind of worker."""
    return f"sandcrawler-{env}-{worker}"


def request_key(base_url: str) -> bytes:
    """The key of a request: the host, so that one host's requests meet in one worker and share its pacing.

    A URL that cannot be split keys by itself: it is answered (bad-url) wherever it lands.
    """
    try:
        host = urlsplit(base_url.strip()).hostname
    except ValueError:
        host = None
    return (host or base_url).encode("utf-8", "replace")


def result_key(ingest_type: str, base_url: str) -> bytes:
    """The key of a result: a later result for the same link replaces the earlier one in the compacted topic."""
    return f"{ingest_type}:{base_url}".encode("utf-8", "replace")


def blob_key(folder: Folder, sha1hex: str, suffix: str) -> str:
    """The bucket key of a body: folder/ab/cd/SHA1 + suffix, by the SHA-1 of the *original* document."""
    return f"{folder}/{sha1hex[0:2]}/{sha1hex[2:4]}/{sha1hex}{suffix}"


def shared(path: str) -> Path:
    """A file or folder that stands beside `python/` in a checkout and inside the package in a wheel."""
    here = Path(__file__).resolve()
    for root in (here.parents[2], here.parent / "_shared"):
        if (root / path).exists():
            return root / path
    raise FileNotFoundError(f"{path} is neither in the checkout nor in the package: install sandcrawler again")
