"""Which records came from which entries of a source, so that the next harvest passes over what has not changed.

`.digests.yaml` in the output folder: key → {digest, file}; the digest is of the entry as the source gave it. A row is
worth something only while its file is there.
"""

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import structlog

from sandcrawler.sources import yamltext
from sandcrawler.sources.output import Output, replace

log = structlog.get_logger()

LEDGER_NAME = ".digests.yaml"


def digest(entry: Any) -> str:
    """SHA-256 of an entry as compact JSON; the order of keys counts."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Ledger:
    """The ledger of an output folder. One that is not `active` finds everything changed and keeps nothing."""

    def __init__(self, output: Output, active: bool = True) -> None:
        self.output, self.active = output, active
        self.path = output.folder / LEDGER_NAME
        self._lock = threading.Lock()
        self._noted: dict[str, dict[str, str]] = {}
        self._loaded = self._load() if active else {}

    def _load(self) -> dict[str, dict[str, str]]:
        if not self.path.is_file():
            return {}
        try:
            rows = yamltext.load(self.path.read_bytes()) or {}
            return {str(key): {"digest": row["digest"], "file": row["file"]} for key, row in rows.items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("the ledger cannot be read; everything is harvested", path=str(self.path), error=str(error))
            return {}

    def unchanged(self, key: str, entry: Any) -> bool:
        """Whether the entry is as it was and its file is there; the file then counts as written."""
        row = self._loaded.get(key)
        if row is None or row["digest"] != digest(entry) or not (path := self.output.folder / row["file"]).is_file():
            return False
        self.output.written.add(path)
        log.debug("unchanged", key=key)
        return True

    def note(self, key: str, entry: Any, path: Path) -> None:
        """Remember that this entry's record is in this file."""
        if self.active:
            row = {"digest": digest(entry), "file": path.relative_to(self.output.folder).as_posix()}
            with self._lock:
                self._noted[key] = row

    def save(self, partial: bool = False) -> None:
        """Write the rows whose file was written or found unchanged in this run; all others drop out.

        After a `partial` run, which has not seen everything, the rows of files that are still there stay.
        """
        if self.active:
            rows = {**self._loaded, **self._noted}
            kept = {key: row for key, row in rows.items() if self._stays(self.output.folder / row["file"], partial)}
            replace(self.path, yamltext.dump(kept))

    def _stays(self, path: Path, partial: bool) -> bool:
        return path in self.output.written or (partial and path.is_file())
