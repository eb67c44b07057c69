"""Files as people have them → plain bytes in a stream: gzip, zstd, bzip2 and xz by their first bytes, tar inside.

Nothing is unpacked to disk or held whole. What a broken archive still gave has been read when its error comes: buffers
of the standard library drop what they hold when a read below them fails, so decoders are read in small pieces, and what
stands on a broken stream sees it end there (`Salvage`).
"""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from sandcrawler.errors import ConfigurationError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BUFFER = 1 << 20
PIECE = 1 << 12  # what is lost at most in front of damage
TAR_MAGIC = slice(257, 262)
# Members of archives that hold records.
MEMBERS = (".json", ".jsonl", ".json.gz", ".jsonl.gz", ".ndjson", ".csv", ".txt")
# What a tar says beside its members (long names, pax fields), and how large that may be: tarfile reads it whole.
ASIDES = frozenset(
    {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}
)
ASIDE_BYTES = 1 << 20
# First bytes -> what a file is that has no rows for us, and what to do.
FOREIGN: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive: unpack it first",
    b"7z\xbc\xaf": "a 7-Zip archive: unpack it first",
    b"\xff\xfe": "UTF-16 text: write it as UTF-8",
    b"\xfe\xff": "UTF-16 text: write it as UTF-8",
    b"PAR1": "a Parquet file: write it as JSON lines or CSV",
    b"SQLite format 3": "an SQLite database: write its rows as JSON lines or CSV",
    b"%PDF-": "a PDF",
}
# What reading a broken file raises.
BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, zstd.ZstdError, tarfile.TarError)


def _gzip(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream))


# First bytes -> what undoes the coding.
CODINGS: Mapping[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
    b"\x50\x2a\x4d\x18": zstd.ZstdFile,  # begins with a frame of its own, as pzstd writes it
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


class Salvage:
    """A stream that ends where it breaks: what it gave is given, and `error` says what came then."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self.error: Exception | None = None

    def read(self, size: int) -> bytes:
        """As many bytes, or fewer at the end and where it breaks."""
        found = bytearray()
        try:
            while self.error is None and len(found) < size:
                piece = self._stream.read1(min(size - len(found), PIECE))
                if not piece:
                    break
                found += piece
        except BROKEN as error:
            self.error = error
        return bytes(found)


class _Pieces(io.RawIOBase):
    """What a decoder gives, a piece at a time; its error comes when all pieces in front of it are given."""

    def __init__(self, decoder: io.BufferedReader) -> None:
        self._decoder = decoder

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._decoder.read1(min(len(buffer), PIECE))
        buffer[: len(piece)] = piece
        return len(piece)


class _TarInfo(tarfile.TarInfo):
    """A member's header; one that would fill the memory with a name is refused."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in ASIDES and found.size > ASIDE_BYTES:
            raise tarfile.ReadError(f"a name or field of {found.size} bytes in the archive")
        return found


class _Member(io.RawIOBase):
    """A member of a tar that is read as a stream. tarfile's own reader drops up to 8 KiB in front of a cut."""

    def __init__(self, archive: Any, size: int) -> None:
        self._archive, self._left = archive, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._archive.read(min(len(buffer), self._left))
        if self._left and not piece:
            raise tarfile.ReadError("unexpected end of data")
        self._left -= len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


def check(file: str) -> None:
    """ConfigurationError for what is missing or a folder (parts.py); anything else may be read, named pipes too."""
    if file == "-":
        return
    try:
        mode = Path(file).stat().st_mode
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        raise ConfigurationError(f"there is no file {file}" if missing else f"{file}: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise ConfigurationError(f"{file} is a folder: name the files in it")


def is_live(file: str) -> bool:
    """Whether a file's rows come as somebody else writes them: pipes, sockets, terminals."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode if file == "-" else Path(file).stat().st_mode
    except (OSError, ValueError):  # standard input may be closed, or be no file
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISBLK(mode) or stat.S_ISDIR(mode))


@contextmanager
def opened(file: str) -> Iterator[io.BufferedReader]:
    """A file or a pipe, or standard input for "-", decompressed. ConfigurationError for what has no rows at all."""
    check(file)
    if file == "-":
        yield _native(decoded(sys.stdin.buffer), "standard input")
        return
    try:
        source = Path(file).open("rb", buffering=BUFFER)  # noqa: SIM115  (closed below)
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}") from error
    with source:
        yield _native(decoded(source), file)


def _native(stream: io.BufferedReader, file: str) -> io.BufferedReader:
    try:
        head = stream.peek(16)
    except BROKEN:  # whoever reads it says so
        return stream
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise ConfigurationError(f"{file} is {what}")
    return stream


def decoded(stream: BinaryIO) -> io.BufferedReader:
    """The stream without its compression, if it has one; two layers are undone (a .gz inside a .tar.gz is a member)."""
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream))
    head = buffered.peek(8)[:8]
    for magic, coding in CODINGS.items():
        if head.startswith(magic):
            return io.BufferedReader(_Pieces(coding(cast("BinaryIO", Salvage(buffered)))), BUFFER)
    return buffered


def members(stream: io.BufferedReader) -> Iterator[tuple[str, io.BufferedReader]]:
    """The files in a stream: one without a name, or a tar's members that hold records."""
    if stream.peek(512)[TAR_MAGIC] != b"ustar":
        yield "", stream
        return
    salvage = Salvage(stream)
    with tarfile.open(fileobj=cast("BinaryIO", salvage), mode="r|", tarinfo=_TarInfo) as archive:
        for member in archive:
            if member.isreg() and not member.issparse() and member.name.endswith(MEMBERS):
                yield member.name, decoded(io.BufferedReader(_Member(archive.fileobj, member.size)))
    if salvage.error is not None:
        raise salvage.error
