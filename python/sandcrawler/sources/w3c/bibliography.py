"""`get`: the record of one publication, by whatever people call it."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from sandcrawler.config import load
from sandcrawler.errors import Unavailable
from sandcrawler.fetch.pacing import Pacer, Sleeper
from sandcrawler.sources.base import BadReference, Record
from sandcrawler.sources.cache import Cache
from sandcrawler.sources.http import STRANGER, Client, user_agent
from sandcrawler.sources.w3c import dataset as data
from sandcrawler.sources.w3c.lookup import find
from sandcrawler.sources.w3c.pubid import Pubid
from sandcrawler.sources.w3c.record import from_xml, from_yaml, ordered
from sandcrawler.sources.w3c.reference import read, whole

log = structlog.get_logger()
USER_AGENT_VARIABLE = "W3C_API_USER_AGENT"


@dataclass(frozen=True, slots=True)
class Found:
    """What a reference led to: its identifier and, in the data set, the file of its record."""

    pubid: Pubid
    file: str


def client(pacer: Pacer | None = None, sleeper: Sleeper = time.sleep) -> Client:
    """The HTTP client of this source, with the project's User-Agent or the one in W3C_API_USER_AGENT."""
    agent = user_agent(load().fetch_user_agent, USER_AGENT_VARIABLE)
    return Client(agent, pacer or Pacer(0), sleeper, stranger=STRANGER)


def dataset(base: data.Place | None = None, index: data.Place | None = None) -> data.Dataset:
    """The data set to look in: the one that is named, else a local index's folder with records, else the published."""
    if base is None and index is not None and not data.is_url(index):
        folder = Path(index).parent
        base = folder if any(folder.glob("*.yaml")) or (folder / "data").is_dir() else None
    return data.Dataset(base or data.PUBLISHED, Cache(client(), data.cache_dir()))


def search(reference: str | Pubid, among: data.Dataset, index: data.Place | None = None) -> Found | None:
    """Which publication a reference means, or None.

    BadReference where no identifier can be read from it; Unavailable where the index cannot be reached.
    """
    wanted, rows = read(reference), among.index(index)
    row = find(rows, wanted)
    if row is None and (publication := whole(reference)):
        row = find(rows, publication)
    return Found(row.pubid, row.file) if row else None


def record(found: Found, among: data.Dataset) -> Record | None:
    """The record that a row names, `fetched` today; None where the data set has no such file.

    Unavailable where the data set cannot be reached, or holds something else there.
    """
    body = among.document(found.file)
    if body is None:
        return None
    try:
        value = from_xml(body) if found.file.endswith(".xml") else from_yaml(body.decode())
    except ValueError as error:
        raise Unavailable(f"{found.file}: the record cannot be read: {error}") from error
    return ordered({**value, "fetched": datetime.now(UTC).date().isoformat()})


def get(reference: str | Pubid, base: data.Place | None = None, index: data.Place | None = None) -> Record | None:
    """The record that a reference means; None for a miss, also where no identifier can be read from it.

    `base` is a folder or a URL, `index` a file with rows or a URL. Unavailable where the data cannot be reached.
    """
    among = dataset(base, index)
    try:
        found = search(reference, among, index)
    except BadReference as error:
        log.warning("no identifier can be read", reference=str(reference), reason=str(error))
        return None
    value = record(found, among) if found else None
    log.info("found" if value else "not found", reference=str(reference), found=str(found and found.pubid))
    return value
