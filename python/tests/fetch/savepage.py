"""A small archive with Save Page Now, on the loopback: as the Internet Archive publishes its APIs, faults as told.

It keeps captures in memory. `script` holds what the services say instead, by path and in turn; a capture that a job
makes shows in the index after `lag` look-ups.
"""

import hashlib
import json
from base64 import b32encode
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Self

from aiohttp import web

from sandcrawler.config import Config
from sandcrawler.fetch.surt import surt

HEADER = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]


@dataclass(frozen=True)
class Saved:
    """A capture. `headers`: those of the archive's answer, as `X-Archive-Orig-…` or plain."""

    moment: str
    body: bytes = b""
    code: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    digest: str | None = None

    @property
    def when(self) -> datetime:
        return datetime.strptime(self.moment, "%Y%m%d%H%M%S").replace(tzinfo=UTC)

    def line(self, url: str) -> list[str]:
        """The row of the index."""
        digest = self.digest or b32encode(hashlib.sha1(self.body).digest()).decode()
        return [surt(url), self.moment, url, "text/html", str(self.code), digest, "9"]


def now(**ago: float) -> str:
    return (datetime.now(UTC) - timedelta(**ago)).strftime("%Y%m%d%H%M%S")


@dataclass
class Archive:
    """The archive, its port, and what it was asked: (method, path, form or query, headers)."""

    captures: dict[str, list[Saved]] = field(default_factory=dict)
    new: dict[str, Saved] = field(default_factory=dict)
    script: dict[str, list[Any]] = field(default_factory=dict)
    lag: int = 0
    address: str = "127.0.0.1"
    asked: list[tuple[str, str, dict[str, str], dict[str, str]]] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._jobs = defaultdict[str, list[str]](list)
        application = web.Application()
        application.router.add_post("/save", self._save)
        application.router.add_get("/save/status/{job}", self._status)
        application.router.add_get("/cdx", self._index)
        application.router.add_get("/web/{moment:[0-9]+}id_/{url:.*}", self._replay)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.address, 0)
        await site.start()
        self.url = f"http://{self.address}:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def config(self, **more: Any) -> Config:
        given = {
            "fetch_wayback_cdx": f"{self.url}/cdx",
            "fetch_wayback_replay": f"{self.url}/web",
            "fetch_spn_url": f"{self.url}/save",
            "fetch_spn_access_key": "key",
            "fetch_spn_secret_key": "hidden",
            "fetch_wayback_gap": 0,
            "fetch_host_gap": 0,
            "fetch_allow_addresses": "127.0.0.0/8" if self.address == "127.0.0.1" else f"{self.address}/32",
            "fetch_robots": False,
        }
        return Config(**{**given, **more})

    def count(self, path: str) -> int:
        return sum(each[1].startswith(path) for each in self.asked)

    async def _scripted(self, path: str, request: web.Request) -> web.Response | None:
        """What the test wants said: a response, a JSON value, bytes; None for the usual."""
        form = {k: str(v) for k, v in (await request.post() or request.query).items()}
        self.asked.append((request.method, request.path, form, dict(request.headers)))
        said = self.script[path].pop(0) if self.script.get(path) else None
        if said is None or isinstance(said, web.Response):
            return said
        return web.Response(body=said) if isinstance(said, bytes) else web.json_response(said)

    async def _save(self, request: web.Request) -> web.Response:
        if said := await self._scripted("save", request):
            return said
        if request.headers.get("Authorization") != "LOW key:hidden":
            return web.json_response({"message": "You need to be logged in to use Save Page Now."}, status=401)
        url = self.asked[-1][2]["url"]
        job = f"spn2-{hashlib.sha1(url.encode()).hexdigest()}"
        self._jobs[job] = [url, "pending", "pending"]
        return web.json_response({"url": url, "job_id": job})

    async def _status(self, request: web.Request) -> web.Response:
        job = request.match_info["job"]
        if said := await self._scripted("status", request):
            return said
        url, *waiting = self._jobs[job]
        if waiting:
            self._jobs[job].pop()
            return web.json_response({"status": "pending", "job_id": job, "resources": []})
        if url in self.new:
            self.captures.setdefault(url, []).append(self.new.pop(url))
        moment = self.captures[url][-1].moment
        return web.json_response({"status": "success", "job_id": job, "timestamp": moment, "original_url": url})

    async def _index(self, request: web.Request) -> web.Response:
        if said := await self._scripted("cdx", request):
            return said
        url = request.query["url"]
        found = self.captures.get(url, [])
        if found and self.lag:
            self.lag -= 1
            found = found[:-1]
        return web.Response(text=json.dumps([HEADER, *(each.line(url) for each in found)] if found else []))

    async def _replay(self, request: web.Request) -> web.Response:
        if said := await self._scripted("web", request):
            return said
        url = str(request.rel_url).split("id_/", 1)[1]
        found = next((c for c in self.captures.get(url, ()) if c.moment == request.match_info["moment"]), None)
        if found is None:
            return web.Response(status=404, text="The Wayback Machine has not archived that URL.")
        marks = {"Memento-Datetime": format_datetime(found.when, usegmt=True), "Server": "archive"}
        headers = {"Content-Type": "text/html", **marks, **found.headers}
        return web.Response(status=found.code, body=found.body, headers=headers)
