"""Files as people have them → plain bytes in a stream: gzip, zstd, bzip2 and xz by their first bytes, tar inside.

Nothing is unpacked to disk or held whole. What a broken archive still gave has been read when its error comes.
"""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from sandcrawler.errors import ConfigurationError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BUFFER = 1 << 20
TAR_MAGIC = slice(257, 262)
# Members of archives that hold records.
MEMBERS = (".json", ".jsonl", ".json.gz", ".jsonl.gz", ".ndjson", ".csv", ".txt")
# What reading a broken file raises.
BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, zstd.ZstdError, tarfile.TarError)


def _gzip(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream))


# First bytes -> what undoes the coding.
CODINGS: Mapping[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


@contextmanager
def opened(file: str) -> Iterator[io.BufferedReader]:
    """A file, or standard input for "-", decompressed."""
    if file != "-" and not Path(file).is_file():
        raise ConfigurationError(f"there is no file {file}")
    if file == "-":
        yield decoded(sys.stdin.buffer)
        return
    try:
        source = Path(file).open("rb", buffering=BUFFER)  # noqa: SIM115  (closed below)
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}") from error
    with source:
        yield decoded(source)


def decoded(stream: BinaryIO) -> io.BufferedReader:
    """The stream without its compression, if it has one; two layers are undone (a .gz inside a .tar.gz is a member)."""
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream))
    head = buffered.peek(8)[:8]
    for magic, coding in CODINGS.items():
        if head.startswith(magic):
            return io.BufferedReader(coding(buffered), BUFFER)
    return buffered


def members(stream: io.BufferedReader) -> Iterator[tuple[str, io.BufferedReader]]:
    """The files in a stream: one without a name, or a tar's members that hold records."""
    if stream.peek(512)[TAR_MAGIC] != b"ustar":
        yield "", stream
        return
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            source = archive.extractfile(member) if member.name.endswith(MEMBERS) else None
            if source is not None:
                yield member.name, decoded(cast("BinaryIO", source))
