"""The registry: every `ingest_type` and its class."""

from collections.abc import Mapping

from sandcrawler.ingest.base import Kind
from sandcrawler.ingest.html import Html
from sandcrawler.ingest.pdf import Pdf
from sandcrawler.ingest.xml import Xml

KINDS: Mapping[str, Kind] = {"html": Html(), "xml": Xml(), "pdf": Pdf()}
