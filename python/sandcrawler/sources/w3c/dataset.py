"""Where the published records are: a folder, or a base URL whose files are kept for a day.

Both hold `index-v2.yaml` and the files that its rows name. A record that is not there is a miss; a server that does
not answer is an error.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sandcrawler.config import data_dir
from sandcrawler.errors import Unavailable
from sandcrawler.sources.http import TRANSPORT, Client, HttpError
from sandcrawler.sources.w3c.index import INDEX_NAME, Index

PUBLISHED = "https://raw.githubusercontent.com/relaton/relaton-data-w3c/v2"
CACHE_SECONDS = 24 * 3600


def cache_dir() -> Path:
    """Where built indexes and downloaded files are kept."""
    return data_dir() / "cache" / "w3c"


def is_url(base: str | Path) -> bool:
    """Whether a base is a URL rather than a folder."""
    return str(base).lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class Dataset:
    """Records below `base`: a folder or a URL. `now` is wall-clock seconds, for the age of what is kept."""

    base: str | Path
    client: Client
    cache: Path = field(default_factory=cache_dir)
    now: Callable[[], float] = time.time

    def index(self, path: Path | None = None) -> Index:
        """The index, in a file of its own or beside the records. Unavailable where it cannot be reached."""
        if path is None and is_url(self.base):
            path = self._kept(INDEX_NAME)
            if path is None:
                raise Unavailable(f"Could not access URL: {self.base}/{INDEX_NAME}: there is no index")
        path = path or Path(self.base) / INDEX_NAME
        try:
            return Index.open(path, self.cache)
        except OSError as error:
            raise Unavailable(f"the index {path} cannot be read: {error.strerror}") from error

    def document(self, file: str) -> bytes | None:
        """The record in a file that an index row names, or None. Unavailable where the server cannot be reached."""
        if is_url(self.base):
            kept = self._kept(file)
            return kept.read_bytes() if kept else None
        path, root = (Path(self.base) / file).resolve(), Path(self.base).resolve()
        # An index is somebody else's text: it must not lead out of the folder.
        return path.read_bytes() if path.is_relative_to(root) and path.is_file() else None

    def _kept(self, file: str) -> Path | None:
        url = f"{str(self.base).rstrip('/')}/{file}"
        path = self.cache / "files" / hashlib.sha256(url.encode()).hexdigest()
        if path.is_file() and 0 <= self.now() - path.stat().st_mtime < CACHE_SECONDS:
            return path
        try:
            body = self.client.get(url).body
        except HttpError as error:
            if error.failure in TRANSPORT:
                raise Unavailable(f"Could not access URL: {error}") from error
            return None
        keep(path, body)
        os.utime(path, (self.now(), self.now()))
        return path


def keep(path: Path, body: bytes) -> None:
    """Write a file that appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".keeping-", delete=False) as draft:
        draft.write(body)
    Path(draft.name).replace(path)
