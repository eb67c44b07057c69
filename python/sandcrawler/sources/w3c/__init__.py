"""The publications of the W3C: standards, drafts and notes, harvested from its API and looked up."""

from sandcrawler.sources.base import Source
from sandcrawler.sources.w3c.bibliography import get
from sandcrawler.sources.w3c.record import from_xml, from_yaml, grammar

SOURCE = Source(
    "w3c",
    prefix="W3C",
    datasets=("w3c-api",),
    get=get,
    from_yaml=from_yaml,
    from_xml=from_xml,
    grammar=grammar,
)
