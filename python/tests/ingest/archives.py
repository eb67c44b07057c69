"""A small site, ingested with its WARC kept in a folder: what the tests of the archive and of replay start from."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandcrawler.config import Config
from sandcrawler.fetch.live import Fetcher
from sandcrawler.ingest.archive import Archive
from sandcrawler.ingest.flow import Flow
from sandcrawler.model import Extracted, HtmlBody, IngestRequest, IngestWebResult, Page, WantedResource
from sandcrawler.persist.warcs import open_store
from sandcrawler.status import Scope, Status
from tests.fetch import web as webs
from tests.fetch.web import Web, moved, reply, run

HOST, CDN = "http://journal.example.org", "http://cdn.example.net"
LINK, ARTICLE = f"{HOST}/doi/10.5555/1", f"{HOST}/article/1"
HTML = b"<!DOCTYPE html><html><head><title>An article</title></head><body>" + b"<p>Words.</p>" * 200 + b"</body></html>"
PNG, STYLE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 300, b"p { color: black }"


def chunked(body: bytes, content_type: str) -> bytes:
    """A response in chunks of 1,000 bytes."""
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (body[i : i + 1000] for i in range(0, len(body), 1000)))
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode() + pieces + b"0\r\n\r\n"


def deflated(body: bytes) -> bytes:
    return reply(zlib.compress(body), content_type="text/css", content_encoding="deflate")


PAGES: dict[str, webs.Page] = {
    LINK: moved("/article/1"),
    ARTICLE: reply(gzip.compress(HTML), content_encoding="gzip", content_type="text/html; charset=utf-8"),
    f"{HOST}/1.png": chunked(PNG, "image/png"),
    f"{CDN}/copy.png": reply(PNG, content_type="image/png"),
    f"{CDN}/style.css": deflated(STYLE),
    f"{CDN}/logo.png": moved(f"{CDN}/logo2.png"),
    f"{CDN}/logo2.png": b"HTTP/1.0 200 OK\r\nContent-Type: image/png\r\n\r\n" + PNG[:1000],
}
PARTS = {f"{HOST}/1.png": PNG, f"{CDN}/copy.png": PNG, f"{CDN}/style.css": STYLE, f"{CDN}/logo.png": PNG[:1000]}
MISSING = f"{HOST}/gone.png"


@dataclass(frozen=True)
class Made:
    """A result, and its WARC."""

    result: IngestWebResult
    path: Path

    @property
    def place(self) -> tuple[int, int]:
        cdx = self.result.cdx
        assert cdx is not None
        assert cdx.warc_offset is not None
        assert cdx.warc_csize is not None
        return cdx.warc_offset, cdx.warc_csize


async def extract(step: str, page: Page) -> Extracted:
    """In place of the real extraction: a full text with the parts above."""
    return Extracted(
        Status.SUCCESS,
        scope=Scope.ARTICLE_FULLTEXT,
        html_body=HtmlBody(status=Status.SUCCESS, agent="trafilatura/2", word_count=2),
        body=b"<TEI/>",
        wanted=tuple(WantedResource(url=url, resource_type="image") for url in (*PARTS, MISSING)),
    )


def ingested(folder: Path, url: str = LINK, pages: dict[str, webs.Page] = PAGES, **more: Any) -> IngestWebResult:
    """The result for a link of the site, its WARC kept below `folder`."""

    async def work() -> IngestWebResult:
        async with Web(pages) as web:
            config: Config = web.config(None, warc=str(folder), **more)
            async with Fetcher(config) as fetcher:
                flow = Flow(fetcher, extract, config, Archive(open_store(config)))
                verbatim = {"ingest_type": "html", "base_url": url}
                return (await flow.ingest(IngestRequest.model_validate(verbatim), verbatim)).result

    return run(work())


def made(folder: Path) -> Made:
    """The site ingested."""
    result = ingested(folder)
    assert result.cdx is not None
    assert result.cdx.warc_path is not None
    return Made(result, Path(result.cdx.warc_path))
