"""The same numbers as a value and as metrics."""

import uuid

from prometheus_client import REGISTRY

from sandcrawler.runtime.counts import Tally


def metric(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def test_value_and_metrics_agree() -> None:
    worker = uuid.uuid4().hex
    tally = Tally(worker)
    tally.fate("processed", 5)
    tally.fate("skipped-tombstone", 2)
    tally.fate("skipped-empty")
    tally.fate("dead-letter")
    tally.published(7)
    tally.retried()
    tally.in_flight(3)
    counts = tally.counts()
    assert (counts.processed, counts.dead_letters, counts.published) == (5, 1, 7)
    assert (counts.retried, counts.in_flight, counts.skipped) == (1, 3, {"tombstone": 2, "empty": 1})
    assert metric("sandcrawler_records_total", worker=worker, fate="processed") == 5
    assert metric("sandcrawler_records_total", worker=worker, fate="skipped-tombstone") == 2
    assert metric("sandcrawler_published_total", worker=worker) == 7
    assert metric("sandcrawler_in_flight", worker=worker) == 3


def test_partitions_given_up_leave_the_lag() -> None:
    worker = uuid.uuid4().hex
    tally = Tally(worker)
    tally.lag({("in", 0): 5, ("in", 1): 6})
    tally.lag({("in", 1): 4})
    assert metric("sandcrawler_lag", worker=worker, topic="in", partition="0") is None
    assert metric("sandcrawler_lag", worker=worker, topic="in", partition="1") == 4
