"""Where the records of a harvest go: a file each, a row of the index each, and a line of the ledger."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import structlog

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.base import BadReference, Record
from sandcrawler.sources.ledger import Ledger
from sandcrawler.sources.naming import NAME_BYTES, digest_name
from sandcrawler.sources.output import Output, replace
from sandcrawler.sources.report import Errors
from sandcrawler.sources.w3c.index import INDEX_NAME, Row, dump_rows, read_rows
from sandcrawler.sources.w3c.parse import lacking
from sandcrawler.sources.w3c.pubid import parse
from sandcrawler.sources.w3c.record import to_xml, to_yaml

log = structlog.get_logger()

Form = Literal["yaml", "xml", "bibxml"]
REPORT_NAME = "errors.json"
PUNCTUATION = re.compile(r"[\s,:/+]", re.ASCII)

WRITERS: dict[Form, Callable[[Record], str]] = {
    "yaml": to_yaml,
    "xml": partial(to_xml, form="bibdata"),
    "bibxml": partial(to_xml, form="bibitem"),
}
EXTENSIONS: dict[Form, str] = {"yaml": "yaml", "xml": "xml", "bibxml": "xml"}


def file_name(name: str, extension: str) -> str:
    """The file of an identifier: "W3C REC-xml-names" → rec-xml-names.yaml. (Not the toolkit's rule: "." stays.)"""
    stem = re.sub("_+", "_", PUNCTUATION.sub("_", name.removeprefix("W3C "))).lower()
    name = f"{stem}.{extension}"
    return name if len(name.encode()) <= NAME_BYTES else digest_name(stem, name, extension)


class Keeper:
    """Keeps records. The first of two with the same file owns the row of the index, the last one the content."""

    def __init__(self, folder: Path, form: Form = "yaml", ledger: bool = False) -> None:
        self.output = Output(folder, EXTENSIONS[form])
        self.ledger = Ledger(self.output, ledger)
        self.errors = Errors()
        self.counts: Counter[str] = Counter()
        self.rows: list[Row] = []
        self._form, self._write = form, WRITERS[form]
        self._files: set[Path] = set()
        self._lock = threading.Lock()

    def path(self, docnumber: str) -> Path:
        """The file of a record."""
        return self.output.folder / file_name(docnumber, self.output.extension)

    def unchanged(self, href: str, entry: Any, docnumber: str) -> bool:
        """Whether the ledger knows this entry and its file is there: then the row of the index is all that is made."""
        if not self.ledger.active or not self.ledger.unchanged(self._key(href), entry):
            return False
        with self._lock:
            self._claim(docnumber)
            self.counts["unchanged"] += 1
        return True

    def note(self, href: str, entry: Any, path: Path) -> None:
        """Let the ledger know where this entry's record is."""
        self.ledger.note(self._key(href), entry, path)

    def _key(self, href: str) -> str:
        """The ledger's key: a record in another form is another record."""
        return href if self._form == "yaml" else f"{href}#{self._form}"

    def save(self, record: Record | None, expected: Mapping[str, str], whole: bool = True) -> Path | None:
        """Write a record. One that is not whole never takes the place of another, which may be better.

        OSError where the disk is full or the folder is not ours.
        """
        if record is None:
            return None
        docnumber = record["docnumber"]
        path = self.path(docnumber)
        content = self._write(record)
        with self._lock:
            for name, lacks in lacking(record, expected).items():
                self.errors.note(name, lacks)
            if whole or not path.is_file():
                self.output.force_write(path, content)
            else:
                self.output.written.add(path)
            self._claim(docnumber)
            self.counts["documents" if whole else "incomplete"] += 1
        return path

    def count(self, name: str, number: int) -> None:
        """Count for the report."""
        with self._lock:
            self.counts[name] += number

    def _claim(self, docnumber: str) -> None:
        path, name = self.path(docnumber), f"W3C {docnumber}"
        if path in self._files:
            log.warning("file already exists", path=str(path), document=name)
            return
        self._files.add(path)
        try:
            self.rows.append(Row(parse(name), path.name))
        except BadReference:
            self.errors.say(name, f"Unparseable primary id `{name}` was not indexed ({path})")

    def save_index(self) -> Path:
        """Write the index of the folder: the rows of this run, and older ones whose file is still there."""
        path = self.output.folder / INDEX_NAME
        rows = [row for row in self._older(path) if (self.output.folder / row.file).is_file()]
        replace(path, dump_rows([*rows, *self.rows]))
        return path

    def _older(self, path: Path) -> Iterator[Row]:
        try:
            yield from read_rows(path)
        except FileNotFoundError:
            return
        except ConfigurationError as error:
            log.warning("the old index cannot be read; it is written anew", error=str(error))

    def save_report(self) -> list[str]:
        """Write the report, and return its messages."""
        self.errors.save(self.output.folder / REPORT_NAME, dict(sorted(self.counts.items())))
        return self.errors.messages()

    def prune(self) -> list[Path]:
        """Delete the records that this run did not write, unless that would be too many."""
        return self.output.prune(keep=frozenset({self.output.folder / INDEX_NAME}))
