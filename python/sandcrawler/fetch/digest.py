"""What is kept of a sub-resource: its digests and size, and of its bytes as many as are looked at."""

import hashlib

from sandcrawler.extract.sniff import SNIFFED_BYTES

STYLE_SHEET = "text/css"
# Longer style sheets are captured, but not searched for what they ask for.
SHEET_BYTES = 2 << 20


class Digest:
    """A body that is hashed as it arrives, and let go but for its beginning."""

    def __init__(self, content_type: str | None) -> None:
        sheet = (content_type or "").strip().lower().startswith(STYLE_SHEET)
        self.size, self._keep, self._kept = 0, SHEET_BYTES if sheet else SNIFFED_BYTES, bytearray()
        self._sheet = sheet
        self._sha1, self._sha256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256()

    def write(self, data: bytes) -> None:
        """The next bytes, content codings undone."""
        self.size += len(data)
        self._sha1.update(data)
        self._sha256.update(data)
        if len(self._kept) < self._keep:
            self._kept += data[: self._keep - len(self._kept)]

    def tell(self) -> int:
        """How many bytes there were."""
        return self.size

    def getvalue(self) -> bytes:
        """The beginning."""
        return bytes(self._kept)

    @property
    def sha1hex(self) -> str:
        return self._sha1.hexdigest()

    @property
    def sha256hex(self) -> str:
        return self._sha256.hexdigest()

    @property
    def sheet(self) -> bytes | None:
        """The whole body of a style sheet that is not too long to be searched."""
        return self.getvalue() if self._sheet and self.size <= self._keep else None

    def forget(self) -> None:
        """The beginning is needed no longer."""
        self._kept.clear()
