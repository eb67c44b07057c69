"""Names of files from identifiers: readable, at most 255 bytes, and distinct where two identifiers look alike.

"ISO/IEC 123-4 Amd. 2" → iso-iec-123-4-amd-2. What is too long, or already taken by another identifier, ends in a dash
and twelve digits of the SHA-1 of the identifier itself, so that the order of writing does not matter.
"""

import hashlib
import re

from sandcrawler.wire import clean_text

NAME_BYTES = 255
DIGEST_CHARS = 12
PARTED = re.compile(r"[.,\s/:()-]+", re.ASCII)


def file_name(docid: str, extension: str) -> str:
    """The name of an identifier's file."""
    stem = PARTED.sub("-", clean_text(docid).lower()).removesuffix("-")
    name = f"{stem}.{extension}"
    return name if stem and len(name.encode("utf-8", "replace")) <= NAME_BYTES else digest_name(stem, docid, extension)


def digest_name(stem: str, docid: str, extension: str) -> str:
    """A name that no other identifier has: the stem, cut to fit, and a digest of the identifier."""
    room = NAME_BYTES - len(f".{extension}".encode()) - DIGEST_CHARS - 1
    cut = stem.encode("utf-8", "replace")[:room].decode("utf-8", "ignore").removesuffix("-")
    digest = hashlib.sha1(docid.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return f"{cut}-{digest[:DIGEST_CHARS]}.{extension}"
