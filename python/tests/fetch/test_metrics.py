"""The numbers that fetching leaves behind, and their few labels."""

import re

import pytest
from prometheus_client import REGISTRY

from sandcrawler.fetch.condition import SAID
from sandcrawler.fetch.metrics import HOST_CLASSES, host_class
from sandcrawler.status import Status

from .web import get, moved, reply

SITE = "http://journal.example.org"


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("doi.org", "resolver"),
        ("dx.doi.org", "resolver"),
        ("notdoi.org", "other"),
        ("www.ncbi.nlm.nih.gov", "aggregator"),
        ("cdn2.journal.example.org", "delivery"),
        ("d1.cloudfront.net", "delivery"),
        ("eprints.uni-x.de", "university"),
        ("repository.ox.ac.uk", "university"),
        ("127.0.0.1", "address"),
        ("::1", "address"),
        ("journal.example.org", "other"),
        ("", "other"),
    ],
)
def test_a_host_s_class_is_told_by_its_name(host: str, kind: str) -> None:
    assert host_class(host) == kind


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_what_is_counted() -> None:
    samples = [
        ("sandcrawler_fetch_total", {"status": Status.SUCCESS.value, "host_class": "other"}, 1),
        ("sandcrawler_fetch_total", {"status": Status.TERMINAL_BAD_STATUS.value, "host_class": "other"}, 2),
        ("sandcrawler_fetch_bytes_total", {"host_class": "other"}, 12),
        ("sandcrawler_robots_total", {"answer": "none"}, 1),
        *(("sandcrawler_fetch_seconds_count", {"phase": phase}, 3) for phase in ("turn", "head")),
        ("sandcrawler_fetch_seconds_count", {"phase": "connect"}, 1),
        ("sandcrawler_fetch_seconds_count", {"phase": "tls"}, 0),
    ]
    before = [value(name, **labels) for name, labels, _ in samples]
    pages = {f"{SITE}/robots.txt": reply(b"none", 404), f"{SITE}/a": moved("/b"), f"{SITE}/b": reply(b"12345678")}
    get(dict(pages), f"{SITE}/a", fetch_robots=True)
    for (name, labels, more), was in zip(samples, before, strict=True):
        assert value(name, **labels) - was == more, (name, labels)


def test_no_label_names_a_host() -> None:
    get({}, "http://a-host-without-number.invalid/")
    labels = {
        text
        for family in REGISTRY.collect()
        if family.name.startswith(("sandcrawler_fetch", "sandcrawler_robots"))
        for sample in family.samples
        for name, text in sample.labels.items()
        if name != "le"
    }
    statuses = {status.value for status in Status}
    phases = {"turn", "dns", "connect", "tls", "head", "body"}
    answers = {"rules", "none", "denied", "silent", "exempt", *SAID}
    assert labels <= statuses | phases | answers | {name for name, _ in HOST_CLASSES}
    assert not any(re.search(r"\.", text) for text in labels)
