"""Speed of the XML shelf in MB/s, beside a plain lxml parse and serialisation of the same bytes.

    python benchmarks/xml.py [DIRECTORY of .xml files]        without one: articles made up here

Prints one JSON line: megabytes, MB/s of plain lxml, of re-encoding, and of all that is extracted; and the time of one
document, p50 and p99, in milliseconds.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from sandcrawler.extract.xml import encoding, extract_xml, tree
from sandcrawler.model import Page

ROUNDS = 7

ARTICLE = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2 20190208//EN" "j.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta><title-group><article-title>Terns</article-title>
</title-group></article-meta></front><body>{body}</body></article>"""
PARAGRAPH = """<sec><title>Counts</title><p>Terns were <italic>counted</italic> in the evening<xref ref-type="bibr"
rid="b1">1</xref>, by two observers who stood on the bank{dash}the year's first count was the largest. <ext-link
xlink:href="https://birds.example.org/?a=1&amp;b=2">Data</ext-link> are open.</p></sec>
"""


def made_up() -> list[bytes]:
    """100 kB each: UTF-8 as it stands, named characters to resolve, Latin-1."""
    shapes = (("utf-8", "—"), ("utf-8", "&mdash;"), ("iso-8859-1", " · "))
    return [
        ARTICLE.format(encoding=encoding, body=PARAGRAPH.format(dash=dash) * 300).encode(encoding)
        for encoding, dash in shapes
    ]


def main() -> None:
    every = [path.read_bytes() for path in sorted(Path(sys.argv[1]).rglob("*.xml"))] if sys.argv[1:] else made_up()
    documents = [body for body in every if extract_xml(Page(body, "")).body is not None]
    megabytes = sum(map(len, documents)) / 1e6
    plain, reencode, extract = (best(work, documents) for work in (plainly, reencoded, extracted))
    figures = {
        "documents": len(documents),
        "megabytes": round(megabytes, 2),
        "plain_mb_per_s": round(megabytes / sum(plain), 1),
        "reencode_mb_per_s": round(megabytes / sum(reencode), 1),
        "extract_mb_per_s": round(megabytes / sum(extract), 1),
        "extract_p50_ms": round(1000 * statistics.median(extract), 2),
        "extract_p99_ms": round(1000 * sorted(extract)[int(0.99 * (len(extract) - 1))], 2),
    }
    print(json.dumps(figures))


def best(work: Callable[[bytes], object], documents: list[bytes]) -> list[float]:
    """Seconds for each document, the best of some rounds."""
    return [min(seconds(work, body) for _ in range(ROUNDS)) for body in documents]


def seconds(work: Callable[[bytes], object], body: bytes) -> float:
    start = time.perf_counter()
    work(body)
    return time.perf_counter() - start


def plainly(body: bytes) -> bytes:
    parsed = etree.fromstring(body, etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True))
    return bytes(etree.tostring(etree.ElementTree(parsed), encoding="UTF-8", xml_declaration=True))


def reencoded(body: bytes) -> bytes:
    return tree.parse(encoding.to_utf8(body, encoding.determine(body, None))).body


def extracted(body: bytes) -> object:
    return extract_xml(Page(body, ""))


if __name__ == "__main__":
    main()
