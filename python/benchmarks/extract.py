"""Full extraction of real pages against bare trafilatura on the same bytes, in one run. JSON lines on stdout.

    python -m benchmarks.extract [FOLDER…]      (in python/)

FOLDER: *.html, with a facts.json beside them that gives their URLs, if any. Default: `../../shared/real/html` of the
checkout where it is there, else the pages of the project's own cases. One line a page: seconds (CPU, best of ROUNDS)
of everything (bibliography, scope, sub-resources, TEI) and of `trafilatura.extract(bytes, output_format="xmltei")`, and
the words of both TEI bodies; `kept` is the share of bare trafilatura's words that ours has too. Then a summary.
"""

import argparse
import json
import logging
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trafilatura
from lxml import etree

from sandcrawler.extract.html import extract_html
from sandcrawler.model import Page
from sandcrawler.status import Status

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "real" / "html"
OWN = ROOT / "python" / "tests" / "extract" / "cases"
ROUNDS = 3
LETTERS = re.compile(r"[^\W\d_]+")


def pages(folders: list[Path]) -> list[tuple[str, Page]]:
    """The pages of the folders with their names."""
    found = []
    for folder in folders:
        facts = folder / "facts.json"
        urls = {Path(f["file"]).name: f.get("url") for f in json.loads(facts.read_text())} if facts.exists() else {}
        for path in sorted(folder.rglob("*.html")):
            url = urls.get(path.name) or f"https://journal.example.org/{path.name}"
            found.append((path.name, Page(path.read_bytes(), url)))
    return found


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call, and what it gave."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def words(tei: bytes | str | None) -> Counter[str]:
    """The words of a TEI's body, as runs of letters (whether a raised number stands apart makes no difference)."""
    if not tei:
        return Counter()
    data = tei.encode() if isinstance(tei, str) else tei
    body = etree.fromstring(data, etree.XMLParser(huge_tree=True)).find(".//{*}body")
    return Counter() if body is None else Counter(LETTERS.findall("".join(body.itertext())))


def measure(name: str, page: Page) -> dict[str, Any]:
    """One page's line."""
    ours, bare = [], []
    for _ in range(ROUNDS):
        took, answer = seconds(lambda: extract_html(page))
        ours.append(took)
        took, tei = seconds(lambda: trafilatura.extract(page.body, output_format="xmltei"))
        bare.append(took)
    mine, theirs = words(answer.body), words(tei)
    line = {"page": name, "status": answer.status, "scope": answer.scope, "seconds": min(ours), "bare": min(bare)}
    if answer.body is not None:
        common, total = (mine & theirs).total(), theirs.total()
        line |= {"words": mine.total(), "bare_words": total, "kept": common / total if total else 1.0}
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[REAL if REAL.exists() else OWN])
    logging.disable(logging.CRITICAL)
    lines = []
    found = pages(parser.parse_args().folders)
    for _, page in found[:3]:  # caches and tables that are made once
        extract_html(page)
        trafilatura.extract(page.body, output_format="xmltei")
    for name, page in found:
        lines.append(measure(name, page))
        print(json.dumps(lines[-1]), flush=True)
    times = sorted(line["seconds"] for line in lines)
    published = [line for line in lines if "kept" in line]
    summary = {
        "pages": len(lines),
        "published": len(published),
        "success": sum(line["status"] is Status.SUCCESS for line in lines),
        "seconds": sum(times),
        "bare_seconds": sum(line["bare"] for line in lines),
        "ratio": sum(times) / sum(line["bare"] for line in lines),
        "ratio_published": sum(x["seconds"] for x in published) / sum(x["bare"] for x in published)
        if published
        else None,
        "p50": statistics.median(times),
        "p99": times[min(len(times) - 1, int(len(times) * 0.99))],
        "least_kept": min((line["kept"] for line in published), default=None),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
