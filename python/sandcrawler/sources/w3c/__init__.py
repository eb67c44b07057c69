"""The publications of the W3C: standards, drafts and notes, harvested from its API and looked up."""

from sandcrawler.sources.base import Source
from sandcrawler.sources.w3c.bibliography import get
from sandcrawler.sources.w3c.harvest import fetch
from sandcrawler.sources.w3c.maker import NAME, requests
from sandcrawler.sources.w3c.record import from_xml, from_yaml, grammar

SOURCE = Source(
    NAME,
    prefix="W3C",
    datasets=("w3c-api",),
    requests=requests,
    get=get,
    fetch=fetch,
    from_yaml=from_yaml,
    from_xml=from_xml,
    grammar=grammar,
)
