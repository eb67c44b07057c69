"""The index of a data set that is published in pieces, so that a look-up reads one of them and not 17,000 rows.

…/index/manifest.json      {version 2, index, count, shards, key "root-number", algorithm "crc32"}
…/index/shard-00017.json   the rows {r, file, id} whose number's CRC-32, modulo the count of shards, is 17
…/<index>.zip              all rows, as YAML: read once, when a look-up ignores case
"""

import io
import json
import zipfile
import zlib
from typing import Any

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.sources.cache import Cache
from sandcrawler.sources.failures import Failure, HttpError
from sandcrawler.sources.w3c.index import Index, Row, parse_rows
from sandcrawler.sources.w3c.pubid import of_index

MANIFEST = "index/manifest.json"
EXPECTED = {"version": 2, "key": "root-number", "algorithm": "crc32"}
WHOLE_BYTES = 64 * 1024 * 1024


class Shards:
    """Rows for look-ups, as in `index.Index`, from the address of a manifest."""

    def __init__(self, manifest: str, cache: Cache) -> None:
        self._root, self._cache = manifest.removesuffix(MANIFEST), cache
        self._whole: Index | None = None
        try:
            value = json.loads(self._read(manifest))
        except ValueError as error:
            raise ConfigurationError(f"{manifest}: not JSON: {error}") from error
        if not isinstance(value, dict) or any(value.get(name) != word for name, word in EXPECTED.items()):
            raise ConfigurationError(f"{manifest}: not the manifest of an index: {str(value)[:200]}")
        if not isinstance(value.get("shards"), int) or value["shards"] < 1 or not isinstance(value.get("index"), str):
            raise ConfigurationError(f"{manifest}: neither shards nor index are named")
        self._count, self._name = value["shards"], value["index"]

    def numbered(self, kind: str, number: str) -> list[Row]:
        """The rows of this kind and exactly this number."""
        place = zlib.crc32(number.encode()) % self._count
        url = f"{self._root}index/shard-{place:05}.json"
        try:
            rows = [_row(value) for value in json.loads(self._read(url, absent=b"[]"))]
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigurationError(f"{url}: not a piece of an index: {error}") from error
        return [row for row in rows if (row.pubid.kind, row.pubid.number) == (kind, number)]

    def ignoring_case(self, kind: str, number: str) -> list[Row]:
        """The rows of this kind whose number is equal but for case: from the whole index, which is read now."""
        if self._whole is None:
            url = f"{self._root}{self._name}.zip"
            try:
                with (
                    zipfile.ZipFile(io.BytesIO(self._read(url))) as archive,
                    archive.open(archive.namelist()[0]) as file,
                ):
                    text = file.read(WHOLE_BYTES)
            except (zipfile.BadZipFile, IndexError, RuntimeError, NotImplementedError) as error:
                raise ConfigurationError(f"{url}: not an archive of an index: {error}") from error
            self._whole = Index.of(parse_rows(text, url))
        return self._whole.ignoring_case(kind, number)

    def _read(self, url: str, absent: bytes | None = None) -> bytes:
        try:
            return self._cache.get(url).read_bytes()
        except HttpError as error:
            if absent is not None and error.failure is Failure.NOT_FOUND:
                return absent
            raise Unavailable(f"Could not access URL: {error}") from error


def _row(value: dict[str, Any]) -> Row:
    return Row(of_index(value["id"]), str(value["file"]))
