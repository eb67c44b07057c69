"""What a worker did, in numbers: as a plain value, and as Prometheus metrics with few labels.

The metric of records has the labels worker and fate. A fate is processed, dead-letter, forgotten (the partition went
away in the middle of the work), or skipped with a reason (`skipped-tombstone`); the reasons are spelled in code, so
there are few.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client import Counter as Total
from prometheus_client import Gauge

from sandcrawler.runtime.records import Partition

RECORDS = Total("sandcrawler_records", "Records whose fate is settled", ["worker", "fate"])
PUBLISHED = Total("sandcrawler_published", "Messages that the broker acknowledged", ["worker"])
RETRIED = Total("sandcrawler_retried", "Tries that a server answered with Unavailable", ["worker"])
IN_FLIGHT = Gauge("sandcrawler_in_flight", "Records between poll and commit", ["worker"])
LAG = Gauge("sandcrawler_lag", "Records not yet polled", ["worker", "topic", "partition"])


@dataclass(frozen=True)
class Counts:
    """One moment's numbers of one worker since it started. `skipped` is by reason."""

    processed: int
    skipped: Mapping[str, int]
    dead_letters: int
    published: int
    retried: int
    in_flight: int


class Tally:
    """Counts of one worker, kept up from several threads."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._lock = threading.Lock()
        self._fates: Counter[str] = Counter()
        self._published = 0
        self._retried = 0
        self._in_flight = 0
        self._lags: set[Partition] = set()

    def fate(self, fate: str, number: int = 1) -> None:
        """Records of this fate: processed, dead-letter or skipped-REASON."""
        with self._lock:
            self._fates[fate] += number
        RECORDS.labels(self._worker, fate).inc(number)

    def published(self, number: int) -> None:
        """Messages acknowledged."""
        with self._lock:
            self._published += number
        PUBLISHED.labels(self._worker).inc(number)

    def retried(self) -> None:
        """One more try after Unavailable."""
        with self._lock:
            self._retried += 1
        RETRIED.labels(self._worker).inc()

    def in_flight(self, number: int) -> None:
        """Records in flight now."""
        if number != self._in_flight:
            self._in_flight = number
            IN_FLIGHT.labels(self._worker).set(number)

    def lag(self, lags: Mapping[Partition, int]) -> None:
        """Records still to come, for each partition held; partitions given up leave the metric."""
        for topic, number in self._lags - set(lags):
            LAG.remove(self._worker, topic, str(number))
        for (topic, number), behind in lags.items():
            LAG.labels(self._worker, topic, str(number)).set(behind)
        self._lags = set(lags)

    def counts(self) -> Counts:
        """The numbers now."""
        with self._lock:
            fates = dict(self._fates)
            skipped = {fate.removeprefix("skipped-"): n for fate, n in fates.items() if fate.startswith("skipped-")}
            return Counts(
                processed=fates.get("processed", 0),
                skipped=skipped,
                dead_letters=fates.get("dead-letter", 0),
                published=self._published,
                retried=self._retried,
                in_flight=self._in_flight,
            )
