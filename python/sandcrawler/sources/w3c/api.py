"""The W3C's API: JSON resources that name each other by URL (HAL), held in memory once they were read.

A resource is known by its address below https://api.w3.org wherever it is really served from. Links that lead
elsewhere are not followed: an answer must not send the harvest to other servers. Two threads that want the same
resource share one request.
"""

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlencode

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.sources.failures import Failure, HttpError
from sandcrawler.sources.http import Client
from sandcrawler.sources.w3c.settings import API, W3cGovernor

Resource = Mapping[str, Any]
THROTTLED = W3cGovernor.THROTTLE_ERRORS


def href_of(resource: Resource, rel: str = "self") -> str | None:
    """Where a resource's link of this name leads, if it has just one such link."""
    link = _mapping(resource.get("_links")).get(rel)
    href = link.get("href") if isinstance(link, dict) else None
    return href if isinstance(href, str) and href else None


def links(page: Resource, rel: str) -> list[dict[str, Any]]:
    """The entries of a list page: {href, title}. An empty list has no such key at all."""
    entries = _mapping(page.get("_links")).get(rel)
    return [
        entry
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("href"), str)
    ]


def embedded(page: Resource) -> Iterator[tuple[str, Resource]]:
    """The resources that a page brings along, with their addresses."""
    for group in _mapping(page.get("_embedded")).values():
        for resource in group if isinstance(group, list) else [group]:
            if isinstance(resource, dict) and (href := href_of(resource)):
                yield href, resource


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


class Api:
    """Reads resources through a client. `saved` counts the requests that memory made needless."""

    def __init__(self, client: Client, base: str = API) -> None:
        self.client, self.base = client, base.rstrip("/")
        self.saved = 0
        self._lock = threading.Lock()
        self._known: dict[str, Resource] = {}
        self._asked: dict[str, Future[Resource]] = {}
        self._broken: dict[str, HttpError] = {}

    def read(self, href: str) -> Resource:
        """A resource or list page, asked for anew. HttpError where it cannot be had."""
        answer = self.client.get(self._url(href))
        try:
            return wire.loads(answer.body)
        except (InvalidMessage, SkippedMessage) as error:
            raise HttpError(Failure.PARSE, href, str(error), answer.status, answer.headers) from error

    def index_page(self, number: int) -> Resource:
        """A page of all specifications, each embedded. (The `next` link would lose them.)"""
        query = {"embed": "true"} if number == 1 else {"embed": "true", "page": number}
        return self.read(f"{API}/specifications?{urlencode(query)}")

    def resource(self, href: str) -> Resource:
        """A resource, from memory where it is known. HttpError where it cannot be had; what is gone stays gone."""
        with self._lock:
            if href in self._broken:
                raise self._broken[href]
            if href in self._known:
                self.saved += 1
                return self._known[href]
            asked = self._asked.get(href)
            if asked is None:
                mine = self._asked[href] = Future()
        if asked is not None:
            return asked.result()
        try:
            value = self.read(href)
        except BaseException as error:
            # Known before anybody else can ask again, or two threads that want one dead resource ask twice.
            if isinstance(error, HttpError) and error.status not in {None, *THROTTLED}:
                self._broken[href] = error
            mine.set_exception(error)
            raise
        else:
            self.learn(href, value)
            mine.set_result(value)
            return value
        finally:
            with self._lock:
                del self._asked[href]

    def forget(self) -> None:
        """Ask anew for what was gone or broken."""
        with self._lock:
            self._broken.clear()

    def learn(self, href: str, resource: Resource) -> None:
        """Keep a resource in memory."""
        with self._lock:
            self._known[href] = resource

    def _url(self, href: str) -> str:
        for root in (API, self.base):
            if href == root or href.startswith((f"{root}/", f"{root}?")):
                return self.base + href.removeprefix(root)
        raise HttpError(Failure.OTHER, href, "leads out of the API")
