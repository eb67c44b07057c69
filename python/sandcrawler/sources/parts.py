"""Dumps that are folders (Crossref's public data file, OpenAlex's snapshot, DOAJ's batches) → their files, by name.

    data/works/updated_date=2026-01-31/part_000.gz      0.jsonl.gz, 1.jsonl.gz, …      article_batch_1.json

A folder has other things in it too: lists of its files, licences, words for the reader. What holds records shows in its
name; the rest is passed over, and that is said.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from sandcrawler.errors import ConfigurationError

RECORDS = re.compile(
    r"(?:.*\.(?:json|jsonl|ndjson|csv|tsv|tab|txt)|.*part[_-]?[0-9]+[^.]*)(?:\.(?:gz|zst|bz2|xz))?", re.IGNORECASE
)
ABOUT = re.compile(
    r"(?:manifest|readme|licen[cs]e|release[_-]?notes|changelog|(?:md5|sha1|sha256|check)sums?)\b.*", re.IGNORECASE
)


def parts(folder: str, passed_over: Callable[[str], object]) -> Iterator[str]:
    """The files with records in a folder and those below it; `passed_over` hears of the others.

    ConfigurationError for a folder that cannot be listed.
    """

    def fail(error: OSError) -> None:
        raise ConfigurationError(f"{error.filename}: {error.strerror}") from error

    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = str(Path(place) / name)
            if RECORDS.fullmatch(name) and not ABOUT.fullmatch(name) and not name.startswith("."):
                yield path
            else:
                passed_over(path)
