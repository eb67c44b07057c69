"""Where the published records are: a folder, or a base URL whose files are kept for a day.

Both hold `index-v2.yaml` and the files that its rows name. An index may also stand by itself: a file, the URL of one,
or the URL of a manifest (shards.py). A record that is not there is a miss; a server that does not answer is an error.
"""

from dataclasses import dataclass
from pathlib import Path

from sandcrawler.config import data_dir
from sandcrawler.errors import Unavailable
from sandcrawler.sources.cache import Cache
from sandcrawler.sources.failures import TRANSPORT, HttpError
from sandcrawler.sources.w3c.index import INDEX_NAME, Index
from sandcrawler.sources.w3c.shards import MANIFEST, Shards

PUBLISHED = "https://raw.githubusercontent.com/relaton/relaton-data-w3c/v2"

Place = str | Path


def cache_dir() -> Path:
    """Where built indexes and downloaded files are kept."""
    return data_dir() / "cache" / "w3c"


def is_url(place: Place) -> bool:
    """Whether a place is a URL rather than a file or folder."""
    return str(place).lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class Dataset:
    """Records below `base`: a folder or a URL."""

    base: Place
    cache: Cache

    def index(self, place: Place | None = None) -> Index | Shards:
        """The index, by itself or beside the records. Unavailable where it cannot be reached.

        ConfigurationError where it is no index.
        """
        place = place or (
            f"{self.base}".rstrip("/") + f"/{INDEX_NAME}" if is_url(self.base) else self.folder / INDEX_NAME
        )
        if is_url(place) and str(place).endswith(MANIFEST):
            return Shards(str(place), self.cache)
        try:
            return Index.open(self.cache.get(str(place)) if is_url(place) else Path(place), self.cache.folder)
        except HttpError as error:
            raise Unavailable(f"Could not access URL: {error}") from error
        except OSError as error:
            raise Unavailable(f"the index {place} cannot be read: {error.strerror}") from error

    def document(self, file: str) -> bytes | None:
        """The record in a file that an index row names, or None. Unavailable where the server cannot be reached."""
        if not is_url(self.base):
            path = (self.folder / file).resolve()
            # An index is somebody else's text: it must not lead out of the folder.
            return path.read_bytes() if path.is_relative_to(self.folder.resolve()) and path.is_file() else None
        try:
            return self.cache.get(f"{str(self.base).rstrip('/')}/{file}").read_bytes()
        except HttpError as error:
            if error.failure in TRANSPORT:
                raise Unavailable(f"Could not access URL: {error}") from error
            return None

    @property
    def folder(self) -> Path:
        """The base as a folder."""
        return Path(self.base)
