"""Both sinks in process, for tests and for trying things out: the same contract, no server."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

from sandcrawler import names
from sandcrawler.model import IngestWebResult
from sandcrawler.persist.bodies import Blob
from sandcrawler.persist.results import Arrival
from sandcrawler.persist.retold import META, retold
from sandcrawler.persist.rows import rows
from sandcrawler.persist.tables import BY_NAME, TABLES, Row, Table, stays


class MemoryTables:
    """The tables as dicts, key -> row. `skipped` counts what was left out, by reason."""

    def __init__(self) -> None:
        self.held: dict[names.Table, dict[tuple[Any, ...], Row]] = {table.name: {} for table in TABLES}
        self.skipped: Counter[str] = Counter()

    def write(self, values: Sequence[Arrival]) -> None:
        for arrival in values:
            made, skipped = rows(arrival)
            self.skipped.update(skipped)
            for name, row in made:
                self._put(BY_NAME[name], row)

    def _put(self, table: Table, row: Row) -> None:
        key = tuple(row[column] for column in table.key)
        held = self.held[table.name].get(key)
        if held is None or stays(table, held, row) is row:
            self.held[table.name][key] = row

    def rows(self, name: names.Table) -> list[Row]:
        """The rows of a table in the order of its key, every column present, JSON columns as JSON values."""
        table = BY_NAME[name]
        return [
            {
                column: json.loads(row[column]) if kind == "jsonb" and row.get(column) else row.get(column)
                for column, kind in table.columns.items()
            }
            for _, row in sorted(self.held[name].items())
        ]


class MemoryPast:
    """What is known of links, from tables in memory; see `known`."""

    def __init__(self, tables: MemoryTables) -> None:
        self.tables = tables

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def last_hit(self, ingest_type: str, base_url: str) -> IngestWebResult | None:
        result = self._row(names.Table.INGEST_FILE_RESULT, ingest_type=ingest_type, base_url=base_url)
        if result is None:
            return None
        sha1hex = result["terminal_sha1hex"]
        meta = self._row(META[ingest_type][0], sha1hex=sha1hex)
        same = {"url": result["terminal_url"], "sha1hex": sha1hex}
        if meta is None or self._row(names.Table.CDX, **same, updated=meta["updated"]) is None:
            return None
        return retold(
            {
                names.Table.INGEST_FILE_RESULT: result,
                names.Table.CDX: self._row(names.Table.CDX, **same, datetime=result["terminal_dt"]),
                names.Table.FILE_META: self._row(names.Table.FILE_META, sha1hex=sha1hex),
                META[ingest_type][0]: meta,
            }
        )

    def _row(self, name: names.Table, **wanted: Any) -> Row | None:
        found = (row for row in self.tables.rows(name) if all(row[column] == wanted[column] for column in wanted))
        return next(found, None)


class MemoryBlobs:
    """The bucket as a dict, object key -> Blob."""

    def __init__(self) -> None:
        self.held: dict[str, Blob] = {}

    def write(self, values: Sequence[Blob]) -> None:
        self.held.update((blob.key, blob) for blob in values)
