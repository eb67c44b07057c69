"""Requests from dumps: rows a second and memory, on made-up dumps of any size.

    python -m benchmarks.request_makers [--megabytes 1024] [doaj] [crossref] [doaj-tar]      (in python/)

Each dump is written to a temporary file and read by `sandcrawler source NAME requests FILE`. One line of JSON each:
rows and requests, seconds on the clock and of CPU, rows per second of either, and the command's largest memory, once
for a sixteenth of the dump and once for all of it: flat memory means that they are alike, but for the 16 to 32 bytes
that each request leaves in the set of what was seen.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

TEXT = "On the flight of terns over water, and what it costs them. " * 12
MEMBER_ROWS = 20_000


def doaj(number: int) -> dict[str, Any]:
    """An article of about 1.4 KB with one link, which makes two requests."""
    return {
        "id": f"{number:032x}",
        "bibjson": {
            "title": f"Terns {number}",
            "abstract": TEXT,
            "identifier": [{"type": "doi", "id": f"10.1234/terns.{number}"}, {"type": "eissn", "id": "1234-5679"}],
            "author": [{"name": "A. Tern", "affiliation": "University of Terns"}] * 3,
            "journal": {"title": "Terns", "issns": ["1234-5679"], "country": "IS", "language": ["EN"]},
            "link": [
                {
                    "type": "fulltext",
                    "content_type": "text/html",
                    "url": f"https://journal{number % 9973}.example.org/index.php/terns/article/view/{number}",
                }
            ],
        },
        "last_updated": "2024-01-01T00:00:00Z",
    }


def crossref(number: int) -> dict[str, Any]:
    """A work of about 1.8 KB with three links, which make two requests."""
    host = f"https://journal{number % 9973}.example.org/article/{number}"
    version = {"content-version": "vor", "intended-application": "text-mining"}
    return {
        "DOI": f"10.1234/terns.{number}",
        "type": "journal-article",
        "title": [f"Terns {number}"],
        "abstract": TEXT,
        "author": [{"given": "A.", "family": "Tern", "sequence": "first", "affiliation": []}] * 3,
        "published": {"date-parts": [[2024, 1, 2]]},
        "license": [
            {
                "URL": "https://creativecommons.org/licenses/by/4.0/",
                "content-version": "vor",
                "start": {"date-parts": [[2024, 1, 2]]},
                "delay-in-days": 0,
            }
        ],
        "link": [
            {"URL": f"{host}.pdf", "content-type": "application/pdf", **version},
            {"URL": f"{host}.xml", "content-type": "text/xml", **version},
            {"URL": f"{host}.pdf", "content-type": "application/pdf", "intended-application": "similarity-checking"},
        ],
        "reference": [{"key": f"r{i}", "DOI": f"10.1234/{i}"} for i in range(5)],
    }


def lines(row: Callable[[int], dict[str, Any]], size: int) -> Iterator[bytes]:
    """JSON lines of about so many bytes."""
    number = written = 0
    while written < size:
        block = b"".join(json.dumps(row(number + i)).encode() + b"\n" for i in range(500))
        yield block
        number, written = number + 500, written + len(block)


class Pipe(io.RawIOBase):
    """What tarfile writes, as it comes."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._out.write(data)
        return len(data)


def write_tar(out: Any, size: int) -> None:
    """A tar of lists, as DOAJ's dump is (not compressed: zlib would be what is measured)."""
    with tarfile.open(fileobj=Pipe(out), mode="w|") as archive:
        number = written = 0
        while written < size:
            rows = (json.dumps(doaj(number + i)) for i in range(MEMBER_ROWS))
            member = ("[" + ",\n".join(rows) + "]").encode()
            info = tarfile.TarInfo(f"dump/article_batch_{number}.json")
            info.size = len(member)
            archive.addfile(info, io.BytesIO(member))
            number, written = number + MEMBER_ROWS, written + len(member)


def write(dump: str, size: int, out: Any) -> None:
    """A dump of about so many bytes."""
    if dump == "doaj-tar":
        write_tar(out, size)
        return
    for block in lines({"doaj": doaj, "crossref": crossref}[dump], size):
        out.write(block)


def measure(dump: str, size: int) -> dict[str, Any]:
    """One dump through the command."""
    source, _, form = dump.partition("-")
    with tempfile.NamedTemporaryFile(suffix=f".{form or 'jsonl'}") as file:
        write(dump, size, file)
        file.flush()
        return {"dump": dump, "megabytes": size >> 20} | read(source, file.name)


def read(source: str, file: str) -> dict[str, Any]:
    """The command on one file."""
    begun = time.perf_counter()
    reader = subprocess.Popen(
        [sys.executable, "-m", "sandcrawler", "source", source, "requests", file],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert reader.stderr is not None
    said = reader.stderr.read()
    _, _, used = os.wait4(reader.pid, 0)
    seconds, cpu = time.perf_counter() - begun, used.ru_utime + used.ru_stime
    made, rows = (int(word) for word in said.split("rows")[0].split() if word.isdigit())
    return {
        "rows": rows,
        "requests": made,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "rows_per_second": round(rows / seconds),
        "rows_per_cpu_second": round(rows / cpu),
        "peak_megabytes": used.ru_maxrss >> 10,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("dumps", nargs="*", default=["doaj", "crossref", "doaj-tar"])
    chosen = parser.parse_args()
    for dump in chosen.dumps:
        for megabytes in (max(chosen.megabytes // 16, 1), chosen.megabytes):
            print(json.dumps(measure(dump, megabytes << 20)), flush=True)


if __name__ == "__main__":
    main()
