"""Where WARCs come to rest: the bucket or a folder, one file for each captured document, never overwritten.

A file is named by the SHA-1 of its document. The same bytes may be captured again, from the same link or another one;
a file that is there stays, since rows of `cdx` point into it, and the later capture gets a name with its moment and
its URL in it. See proposals/0004-warc.md.
"""

import base64
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

from botocore.exceptions import ClientError

from sandcrawler import names
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.model import CdxRow
from sandcrawler.names import Folder
from sandcrawler.persist import blobs

TAKEN = frozenset({409, 412})
COPY_BYTES = 1 << 20


class Store(Protocol):
    """Keeps WARC files."""

    def put(self, cdx: CdxRow, file: BinaryIO) -> str:
        """The file is kept when this returns; its path, as `warc_path` tells it. Unavailable: not now."""
        ...

    def put_revisit(self, cdx: CdxRow, moment: str, file: BinaryIO) -> str:
        """The same for a file that has no copy of this capture's bytes, only that they held at a moment (14 digits)."""
        ...


def open_store(config: Config) -> Store | None:
    """The store that the setting `warc` names."""
    made: dict[str, Callable[[], Store | None]] = {"off": lambda: None, "bucket": lambda: BucketStore(config)}
    if config.warc not in made and Path(config.warc).exists() and not Path(config.warc).is_dir():
        raise ConfigurationError(f"SANDCRAWLER_WARC: {config.warc} is a file; WARCs are kept in a folder, or `bucket`")
    return made.get(config.warc, lambda: FolderStore(Path(config.warc)))()


def suffixes(cdx: CdxRow) -> tuple[str, str]:
    """The end of the file's name, and what it is where that file is another capture's."""
    return ".warc.gz", f".{cdx.datetime}-{_short(cdx.url)}.warc.gz"


def revisit_suffix(cdx: CdxRow, moment: str) -> str:
    """The end of the name of a file without the document's bytes, which must not stand where those are looked for."""
    return f".{moment}-{_short(cdx.url)}.revisit.warc.gz"


def _short(url: str) -> str:
    return hashlib.sha1(url.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:8]


class BucketStore:
    """WARCs as objects: warc/ab/cd/SHA1.warc.gz."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._client = blobs.client(config)  # made once: making clients is not safe in threads

    def put(self, cdx: CdxRow, file: BinaryIO) -> str:
        first, other = (names.blob_key(Folder.WARC, cdx.sha1hex, suffix) for suffix in suffixes(cdx))
        with blobs.faults(self.config):
            if not self._exists(first) and self._written(first, file, only_new=True):
                return first
            self._written(other, file, only_new=False)
            return other

    def put_revisit(self, cdx: CdxRow, moment: str, file: BinaryIO) -> str:
        key = names.blob_key(Folder.WARC, cdx.sha1hex, revisit_suffix(cdx, moment))
        with blobs.faults(self.config):
            self._written(key, file, only_new=False)
        return key

    def _exists(self, key: str) -> bool:
        """Not every gateway knows conditional writes, so it is asked first."""
        try:
            self._client.head_object(Bucket=self.config.s3_bucket, Key=key)
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
                raise
            return False
        return True

    def _written(self, key: str, file: BinaryIO, *, only_new: bool) -> bool:
        """Whether the object was written; not, where another worker was faster."""
        md5 = hashlib.md5(usedforsecurity=False)
        file.seek(0)
        for piece in iter(lambda: file.read(COPY_BYTES), b""):
            md5.update(piece)
        file.seek(0)
        put = partial(
            self._client.put_object,
            Bucket=self.config.s3_bucket,
            Key=key,
            Body=file,
            ContentType=names.CONTENT_TYPES[Folder.WARC],
            ContentMD5=base64.b64encode(md5.digest()).decode(),
        )
        try:
            put(IfNoneMatch="*") if only_new else put()
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] not in TAKEN:
                raise
            return False
        return True


class FolderStore:
    """WARCs as files: FOLDER/ab/cd/SHA1.warc.gz. Paths are told as absolute ones: rows outlive working directories."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def put(self, cdx: CdxRow, file: BinaryIO) -> str:
        first, other = (self._path(cdx, suffix) for suffix in suffixes(cdx))
        return self._put(first, other, file)

    def put_revisit(self, cdx: CdxRow, moment: str, file: BinaryIO) -> str:
        path = self._path(cdx, revisit_suffix(cdx, moment))
        return self._put(path, path, file)

    def _path(self, cdx: CdxRow, suffix: str) -> Path:
        return self.folder / names.blob_key(Folder.WARC, cdx.sha1hex, suffix).removeprefix(f"{Folder.WARC}/")

    def _put(self, first: Path, other: Path, file: BinaryIO) -> str:
        """Keep a file as `first`, or as `other` where that is taken."""
        try:
            first.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=first.parent, prefix=".", suffix=".part") as part:
                file.seek(0)
                shutil.copyfileobj(file, part, COPY_BYTES)
                part.flush()
                os.fsync(part.fileno())
                Path(part.name).chmod(0o644)
                return str(_linked(Path(part.name), first, other))
        except OSError as error:
            raise Unavailable(f"the WARC cannot be kept in {self.folder}: {error}") from error


def _linked(part: Path, first: Path, other: Path) -> Path:
    """A finished file under its name; a link, unlike a rename, never takes a name that is taken."""
    try:
        first.hardlink_to(part)
    except FileExistsError:
        other.unlink(missing_ok=True)  # this very capture, written by a worker that was stopped before it said so
        other.hardlink_to(part)
        return other
    return first
