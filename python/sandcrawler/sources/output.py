"""The folder in which a harvest keeps its records: who owns which file, what was written, what is left over.

Files appear whole or not at all: a draft beside them is renamed, or linked where the file must be new. So a full disk,
a kill or a second process never leaves half a record. Threads may share one Output.
"""

import errno
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import ceil
from pathlib import Path

import structlog

from sandcrawler.sources.naming import digest_name, file_name

log = structlog.get_logger()

PRUNE_RATIO = 0.9
DRAFT = ".draft-"
# What a run that was killed left unfinished; nobody writes one file for so long.
DEAD_DRAFT_SECONDS = 3600
# What file systems say that know no hard links.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class Output:
    """A folder of records with one extension. `shared`: other processes write new records there at the same time."""

    def __init__(self, folder: Path, extension: str, shared: bool = False) -> None:
        self.folder, self.extension, self.shared = folder, extension, shared
        self.written: set[Path] = set()
        self._owners: dict[Path, str] = {}
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)

    def path_of(self, docid: str) -> Path:
        """Where a record goes, if nobody else is there."""
        return self.folder / file_name(docid, self.extension)

    def unique_path(self, docid: str) -> Path:
        """Where this record goes, and no other: the first to ask for a path owns it."""
        path = self.path_of(docid)
        with self._lock:
            if self._owners.setdefault(path, docid) == docid:
                return path
            return self._own(path, docid)

    def _own(self, taken: Path, docid: str) -> Path:
        path = taken.with_name(digest_name(taken.name.removesuffix(f".{self.extension}"), docid, self.extension))
        self._owners[path] = docid
        return path

    def write_unique(self, docid: str, content: str) -> Path:
        """Write a record of its own, and say where.

        A file of this run is written over, and so is what an earlier run left, unless the folder is shared: then a
        file that is there may be another process's, and ours goes to its digest's name.
        """
        path = self.unique_path(docid)
        if path in self.written:
            return self._write(path, content)
        try:
            with _draft(path, content) as draft:
                _create(draft, path, content)
        except FileExistsError:
            if self.shared:
                with self._lock:
                    path = self._own(path, docid)
            return self._write(path, content)
        self.written.add(path)
        return path

    def force_write(self, path: Path, content: str) -> Path:
        """Write a record whoever owns the path; a file with just this content is left untouched."""
        self.written.add(path)
        with suppress(FileNotFoundError):
            if path.read_bytes() == content.encode():
                return path
        return self._write(path, content)

    def _write(self, path: Path, content: str) -> Path:
        replace(path, content)
        self.written.add(path)
        return path

    def prune(self, ratio: float = PRUNE_RATIO, keep: frozenset[Path] = frozenset()) -> list[Path]:
        """Delete the records that this run did not write, and return them.

        Where fewer than `ratio` of the files that are there were written, something went wrong: nothing is deleted.
        """
        existing = {path for path in self._files() if path not in keep}
        kept = existing & self.written
        if len(kept) < len(existing) * ratio:
            threshold = ceil(len(existing) * ratio)
            log.warning("prune skipped", written=len(kept), existing=len(existing), threshold=threshold)
            return []
        stale = sorted(existing - kept)
        for path in stale:
            path.unlink(missing_ok=True)
        if stale:
            log.warning("pruned", files=len(stale))
        return stale

    def _files(self) -> Iterator[Path]:
        for path in self.folder.rglob(f"*.{self.extension}"):
            if not any(part.startswith(".") for part in path.relative_to(self.folder).parts):
                yield path


def replace(path: Path, content: str | bytes) -> None:
    """Write a file that appears whole, in place of what was there."""
    with _draft(path, content) as draft:
        draft.replace(path)


def sweep(folder: Path) -> None:
    """Delete the drafts of runs that were killed long ago."""
    for draft in folder.glob(f"{DRAFT}*"):
        with suppress(OSError):  # somebody else's, or swept meanwhile
            if draft.stat().st_mtime < time.time() - DEAD_DRAFT_SECONDS:
                draft.unlink()


def _create(draft: Path, path: Path, content: str) -> None:
    """Give the draft its name, if nobody has it. FileExistsError where somebody has."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        with path.open("xb") as file:  # not whole at once, but still nobody else's
            file.write(content.encode())


@contextmanager
def _draft(path: Path, content: str | bytes) -> Iterator[Path]:
    """A file with this content beside the one that is meant; gone afterwards, if it still has its own name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=DRAFT)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(content.encode() if isinstance(content, str) else content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
