"""What is known of links, looked up in PostgreSQL beside the fetching: in a moment, or not at all.

Whoever asks waits two seconds at most. Questions that come while one is under way are asked together, as one query, so
a window of requests costs two or three. The connection is used in a thread of its own. After a fault nothing is asked
for a while, and nothing is known: everything is then fetched in full, which is always right. One warning says so, and
a line when it is over.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Literal, Self

import psycopg
import structlog
from prometheus_client import Counter
from psycopg import Connection
from psycopg.rows import dict_row

from sandcrawler.config import Config
from sandcrawler.errors import SandcrawlerError, Unavailable
from sandcrawler.model import IngestWebResult
from sandcrawler.names import Table
from sandcrawler.persist.database import connect, forgive, server, translated, unsilenced
from sandcrawler.persist.retold import retold

SECONDS = 2.0
# After a fault.
PAUSE_SECONDS = 10.0

# A link's newest result with all its rows. What is said of the bytes (html_meta, …) may be another link's view of them;
# it holds for this one if it is of the same URL, since a page's parts are resolved against that.
LAST = """
SELECT r.ingest_type AS type, r.base_url AS url, to_jsonb(r) AS ingest_file_result, to_jsonb(c) AS cdx,
       to_jsonb(f) AS file_meta, to_jsonb(h) AS html_meta, to_jsonb(x) AS xml_meta, to_jsonb(p) AS pdf_meta
FROM unnest(%(types)s::text[], %(urls)s::text[]) AS asked (ingest_type, base_url)
JOIN ingest_file_result r USING (ingest_type, base_url)
JOIN cdx c ON c.url = r.terminal_url AND c.datetime = r.terminal_dt AND c.sha1hex = r.terminal_sha1hex
JOIN file_meta f ON f.sha1hex = r.terminal_sha1hex
LEFT JOIN html_meta h ON r.ingest_type = 'html' AND h.sha1hex = r.terminal_sha1hex
LEFT JOIN xml_meta x ON r.ingest_type = 'xml' AND x.sha1hex = r.terminal_sha1hex
LEFT JOIN pdf_meta p ON r.ingest_type = 'pdf' AND p.sha1hex = r.terminal_sha1hex
WHERE r.status = 'success' AND EXISTS (
    SELECT FROM cdx s WHERE s.url = c.url AND s.sha1hex = c.sha1hex
    AND s.updated = coalesce(h.updated, x.updated, p.updated))
"""

Link = tuple[str, str]
Found = Mapping[Link, IngestWebResult | None]

LOOKED_UP = Counter("sandcrawler_known", "Look-ups of what is known of a link", ["answer"])

log = structlog.get_logger()


# The setting ingest_known -> who looks up.
WHO: Mapping[str, frozenset[str]] = {
    "workers": frozenset({"workers"}),
    "always": frozenset({"workers", "command"}),
    "never": frozenset(),
}


class NoPast:
    """Nothing is known, and nothing looked up."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def last_hit(self, ingest_type: str, base_url: str) -> IngestWebResult | None:  # noqa: ARG002
        return None


def open_past(config: Config, who: Literal["workers", "command"]) -> "PostgresPast | NoPast":
    """Where this process looks up, to be opened with `async with`."""
    return PostgresPast(config.postgres_url) if who in WHO[config.ingest_known] else NoPast()


class PostgresPast:
    """Last hits, from the tables; see `ingest.known.Past`. Use as an async context manager, in one event loop."""

    def __init__(self, url: str | None, seconds: float = SECONDS, pause: float = PAUSE_SECONDS) -> None:
        self._url, self._seconds, self._pause = url, seconds, pause
        self._connection: Connection | None = None
        self._thread = ThreadPoolExecutor(1, "known")
        self._waiting: dict[Link, asyncio.Future[IngestWebResult | None]] = {}
        self._asking: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._away = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ends the connection, without waiting for a server that does not answer."""
        if self._asking:
            self._asking.cancel()
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    async def last_hit(self, ingest_type: str, base_url: str) -> IngestWebResult | None:
        """What is known of a link; None also where that cannot be found out now."""
        if time.monotonic() < self._not_before:
            LOOKED_UP.labels("unavailable").inc()
            return None
        link, loop = (ingest_type, base_url), asyncio.get_running_loop()
        answer = self._waiting.setdefault(link, loop.create_future())
        if self._asking is None or self._asking.done():
            self._asking = loop.create_task(self._ask())
        try:
            async with asyncio.timeout(self._seconds):
                found = await asyncio.shield(answer)
        except TimeoutError:
            self._fault(f"PostgreSQL at {server(self._url or '')}: no answer within {self._seconds:g} s")
            LOOKED_UP.labels("unavailable").inc()
            return None
        LOOKED_UP.labels("known" if found else "unknown").inc()
        return found

    async def _ask(self) -> None:
        """Answer all who wait, and who comes meanwhile."""
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            found: Found = {}
            try:
                found = await asyncio.get_running_loop().run_in_executor(self._thread, self._read, list(batch))
            except SandcrawlerError as error:
                self._fault(str(error))
            except Exception as error:  # noqa: BLE001  (a bug, which whoever asked is told of)
                for answer in batch.values():
                    if not answer.done():
                        answer.set_exception(error)
                continue
            else:
                self._answered()
            for link, answer in batch.items():
                if not answer.done():
                    answer.set_result(found.get(link))

    def _fault(self, reason: str) -> None:
        self._not_before = time.monotonic() + self._pause
        if not self._away:
            log.warning("what is known cannot be looked up: all is fetched in full", reason=reason)
        self._away = True

    def _answered(self) -> None:
        if self._away and time.monotonic() >= self._not_before:
            log.info("what is known can be looked up again")
            self._away = False

    # ── in the thread ────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, links: Sequence[Link]) -> Found:
        url = self._url or ""
        held = self._connection is not None
        try:
            try:
                return self._query(links)
            except psycopg.OperationalError:
                # A connection that was fine a while ago may be dead by now: the server was started again.
                if not held or self._connection is None or not self._connection.broken:
                    raise
                self._close()
                return self._query(links)
        except psycopg.Error as error:
            self._close()
            fault = translated(error, url)
            raise fault if isinstance(fault, SandcrawlerError) else Unavailable(str(fault)) from error

    def _query(self, links: Sequence[Link]) -> Found:
        if self._connection is None:
            self._connection = connect(self._url, self._seconds)
            forgive(self._connection)
            # Eight tables take longer to plan than to read: planned once.
            self._connection.execute("SET plan_cache_mode = force_generic_plan")
        types, urls = zip(*links, strict=True)
        with unsilenced(self._connection, self._seconds), self._connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(LAST, {"types": list(types), "urls": list(urls)}, prepare=True).fetchall()
        return {(row["type"], row["url"]): retold({table: row.get(table) for table in Table}) for row in rows}

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None
