"""The whole ingest of real pages against Scrapy + trafilatura: the same pages, one loopback site, one run.

    python -m benchmarks.scrapy_compare [FOLDER] [--copies 4] [--processes 2] [--only scrapy]

FOLDER holds saved pages (`*.html`); each page gets a host of its own, and `copies` distinct URLs. Scrapy gets as
many processes as we get workers; each crawls its share without pauses and calls
`trafilatura.extract(output_format="xmltei")` in the callback, which is the usual way to join the two. Its clock runs
from the first spider's opening to the last one's end, without the interpreter's start. Links and sub-resources to
other hosts are refused at once on our side; Scrapy does not ask for any. Prints one JSON object.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sandcrawler import stack
from sandcrawler.config import Config
from sandcrawler.demo.documents import Answer, copied
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.server import LOOPBACK, Web, running
from sandcrawler.kafka import open_consumer
from sandcrawler.names import Topic
from sandcrawler.setup import setup
from sandcrawler.wire import loads

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT.parent / "shared" / "real" / "html"
# Nothing listens on this port: a connection there is refused at once.
REFUSED_PORT = 9
CONCURRENT = 64
WARM_UP = 40


@dataclass(frozen=True, slots=True)
class Half:
    """One side's figures. `documents`: pages answered; `with_text`: those that gave a TEI; `words` in all of them."""

    seconds: float
    documents: int
    with_text: int
    words: int

    @property
    def pages_per_second(self) -> float:
        return self.documents / self.seconds


def site(folder: Path) -> list[Answer]:
    """Each saved page as the answer of a host of its own."""
    return [
        Answer(url=f"http://{_label(path)}.example.org/{path.name}", type="text/html", body=path.read_bytes())
        for path in sorted(folder.glob("*.html"))
    ]


def refused(pages: Sequence[Answer]) -> str:
    """CONNECT_TO entries by which every other host that the pages name is refused at once."""
    named = {
        host.decode("ascii").lower()
        for page in pages
        for host in re.findall(rb"(?:https?:)?//([A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2,})", page.body)
    } - {urlsplit(page.url).hostname for page in pages}
    return ",".join(f"{host}:{port}:{LOOPBACK}:{REFUSED_PORT}" for host in sorted(named) for port in (80, 443))


def scrapy_half(web: Web, urls: Sequence[str], processes: int) -> Half:
    """Scrapy + trafilatura on these URLs, in as many processes."""
    with tempfile.TemporaryDirectory() as scratch:
        reports = [Path(scratch) / f"{number}.json" for number in range(processes)]
        children = []
        for number, report in enumerate(reports):
            share = report.with_suffix(".urls")
            share.write_text("\n".join(urls[number::processes]), "utf-8")
            children.append(
                subprocess.Popen([sys.executable, "-P", __file__, "--spider", share, report, str(web.port)])
            )
        for child in children:
            if child.wait() != 0:
                raise SystemExit(f"scrapy ended with {child.returncode}")
        parts = [json.loads(report.read_text("utf-8")) for report in reports]
    return Half(
        seconds=max(part["closed"] for part in parts) - min(part["opened"] for part in parts),
        documents=sum(part["documents"] for part in parts),
        with_text=sum(part["with_text"] for part in parts),
        words=sum(part["words"] for part in parts),
    )


def sandcrawler_half(web: Web, elsewhere: str, urls: Sequence[str], workers: int) -> Half:
    """`sandcrawler run ingest`, as many times as `workers`, on a real Kafka.

    The workers' SANDCRAWLER_FETCH_CONNECT_TO is `web.connect_to` + "," + `elsewhere`, with ALLOW_ADDRESSES 127.0.0.0/8
    and HOST_GAP 0. They are started and idle before the clock starts; the clock runs from the first request's
    publication to the last result in the results topic.
    """
    asked = [{"ingest_type": "html", "base_url": url} for url in urls]
    settings = {
        "SANDCRAWLER_FETCH_CONNECT_TO": f"{web.connect_to},{elsewhere}",
        "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
        "SANDCRAWLER_FETCH_HOST_GAP": "0",
        "SANDCRAWLER_FETCH_HOST_PARALLEL": "8",
        "SANDCRAWLER_EXTRACT_PROCESSES": "1",
    }
    with stack.running() as addresses:
        config = Config(**asdict(addresses))
        setup(config)
        with Pipeline(config, settings, Path(tempfile.mkdtemp(prefix="compare-")) / "workers.log") as made:
            made.start(*["ingest"] * workers)
            # Both workers have answered something: they are in the group, and their children are up.
            made.publish({"ingest_type": "html", "base_url": f"http://warm-{n}.invalid/"} for n in range(WARM_UP))
            _results(config, WARM_UP)
            began = time.monotonic()
            made.publish(asked)
            results = _results(config, WARM_UP + len(asked))[WARM_UP:]
            seconds = time.monotonic() - began
    bodies = [result["html_body"] for result in results if result.get("html_body", {}).get("word_count")]
    return Half(seconds, len(results), len(bodies), sum(body["word_count"] for body in bodies))


def _results(config: Config, count: int) -> list[dict[str, Any]]:
    """The results topic from its beginning, once it holds so many."""
    consumer = open_consumer(config, f"compare-{count}", [Topic.RESULTS.named(config.env)])
    found: list[dict[str, Any]] = []
    while len(found) < count:
        found += [loads(record.value) for record in consumer.poll(1000, 0.1)]
    consumer.close()
    return sorted(found, key=lambda result: result["timestamp"])


def spider(share: Path, report: Path, port: int) -> None:
    """One Scrapy process (called by `scrapy_half`): crawl the share's URLs and write the report."""
    import scrapy  # noqa: PLC0415  (only the benchmark's children need these)
    import trafilatura  # noqa: PLC0415
    from lxml import etree  # noqa: PLC0415
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415

    urls = share.read_text("utf-8").split()
    seen: dict[str, Any] = {"documents": 0, "with_text": 0, "words": 0}

    class Pages(scrapy.Spider):
        name = "pages"

        async def start(self) -> Any:
            seen["opened"] = time.time()
            for url in urls:
                parts = urlsplit(url)
                here = f"http://{LOOPBACK}:{port}{parts.path}" + (f"?{parts.query}" if parts.query else "")
                yield scrapy.Request(here, headers={"Host": parts.netloc}, dont_filter=True)

        def parse(self, response: Any, **_: Any) -> None:
            seen["documents"] += 1
            tei = trafilatura.extract(response.body, output_format="xmltei", include_formatting=True)
            if tei:
                seen["with_text"] += 1
                body = etree.fromstring(tei.encode()).find(".//{*}body")
                seen["words"] += sum(len(str(text).split()) for text in body.itertext()) if body is not None else 0

        def closed(self, _reason: str) -> None:
            seen["closed"] = time.time()

    crawler = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": CONCURRENT,
            "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENT,
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "ERROR",
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    crawler.crawl(Pages)
    crawler.start()
    report.write_text(json.dumps(seen), "utf-8")


def main() -> None:
    """Run both halves (or one), and print their figures and the ratio."""
    options = _options()
    if options.spider:
        share, report, port = options.spider
        return spider(Path(share), Path(report), int(port))
    pages = site(options.folder)
    if not pages:
        raise SystemExit(f"no saved pages (*.html) in {options.folder}")
    urls = [copied(page.url, copy) for copy in range(options.copies) for page in pages]
    halves: dict[str, Half] = {}
    with running(pages) as web:
        if options.only in (None, "scrapy"):
            halves["scrapy"] = scrapy_half(web, urls, options.processes)
        if options.only in (None, "sandcrawler"):
            halves["sandcrawler"] = sandcrawler_half(web, refused(pages), urls, options.processes)
    figures: dict[str, Any] = {"pages": len(pages), "requests": len(urls), "processes": options.processes}
    for name, half in halves.items():
        figures[name] = asdict(half) | {"pages_per_second": round(half.pages_per_second, 2)}
    if len(halves) == 2:
        figures["ratio"] = round(halves["sandcrawler"].pages_per_second / halves["scrapy"].pages_per_second, 2)
    print(json.dumps(figures))
    return None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=PAGES)
    parser.add_argument("--copies", type=int, default=4, help="distinct URLs of each page")
    parser.add_argument("--processes", type=int, default=2, help="Scrapy processes, and workers")
    parser.add_argument("--only", choices=("scrapy", "sandcrawler"), help="one half alone")
    parser.add_argument("--spider", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def _label(path: Path) -> str:
    """A file's name as a label of a host name."""
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "page"


if __name__ == "__main__":
    main()
