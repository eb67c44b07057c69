"""Files of a server, kept for a day: asked for again only when the copy is older."""

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from sandcrawler.sources.http import Client
from sandcrawler.sources.output import replace

log = structlog.get_logger()

KEEP_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Cache:
    """Copies of files in a folder. `now` is wall-clock seconds."""

    client: Client
    folder: Path
    now: Callable[[], float] = time.time

    def get(self, url: str) -> Path:
        """The copy of a URL's body. HttpError where it must be asked for and cannot be had."""
        path = self.folder / hashlib.sha256(url.encode()).hexdigest()
        if path.is_file() and 0 <= self.now() - path.stat().st_mtime < KEEP_SECONDS:
            return path
        log.info("reading", url=url)
        body = self.client.get(url).body
        self.folder.mkdir(parents=True, exist_ok=True)
        replace(path, body)
        os.utime(path, (self.now(), self.now()))
        return path
