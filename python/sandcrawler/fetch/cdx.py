"""One line of a capture index for a captured document."""

import base64

from sandcrawler.fetch.surt import surt
from sandcrawler.model import Capture, CdxRow, FileMeta

__all__ = ["cdx_row", "surt"]


def cdx_row(capture: Capture, file_meta: FileMeta) -> CdxRow:
    """The row of a capture's terminal response. `mimetype` is what the server said, else what the bytes say."""
    declared = (capture.header("content-type") or "").partition(";")[0].strip().lower()
    place = capture.place
    return CdxRow(
        surt=surt(capture.terminal_url),
        datetime=capture.when.strftime("%Y%m%d%H%M%S"),
        url=capture.terminal_url,
        mimetype=declared if "/" in declared and declared.isascii() and len(declared) < 256 else file_meta.mimetype,
        status_code=capture.status_code or 200,
        sha1hex=file_meta.sha1hex,
        sha1b32=base64.b32encode(bytes.fromhex(file_meta.sha1hex)).decode(),
        warc_path=place.path if place else None,
        warc_offset=place.offset if place else None,
        warc_csize=place.csize if place else None,
        etag=_bounded(capture.header("etag")),
        last_modified=_bounded(capture.header("last-modified")),
    )


def _bounded(value: str | None) -> str | None:
    return value[:1000] if value else None
