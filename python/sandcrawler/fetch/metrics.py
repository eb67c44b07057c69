"""What fetching did, in numbers for Prometheus. Labels are few and never a host's name: hosts are without number.

sandcrawler_fetch_total{status, host_class}     answers, one for each hop, sub-resource and robots.txt
sandcrawler_fetch_bytes_total{host_class}       bytes of bodies, content codings undone
sandcrawler_fetch_seconds{phase}                turn: waiting until the host may be asked; dns, connect, tls: of new
                                                connections; head: from the turn to the answer's head, connecting
                                                included; body: from there to the body's end
sandcrawler_robots_total{answer}                robots.txt: rules, none, denied, silent, exempt
sandcrawler_fetch_conditions_total{answer}      requests with If-None-Match or If-Modified-Since: not-modified, answered
                                                (in full, or with a fault), again (asked once more without)
"""

import re
from functools import lru_cache

from prometheus_client import Counter, Histogram

from sandcrawler.model import Capture

ANSWERS = Counter("sandcrawler_fetch", "Answers to requests", ["status", "host_class"])
BYTES = Counter("sandcrawler_fetch_bytes", "Bytes of bodies, content codings undone", ["host_class"])
SECONDS = Histogram(
    "sandcrawler_fetch_seconds",
    "Seconds of a request, by phase",
    ["phase"],
    buckets=(0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 100, 300),
)
ROBOTS = Counter("sandcrawler_robots", "Look-ups of robots.txt", ["answer"])
CONDITIONS = Counter("sandcrawler_fetch_conditions", "Requests on condition that something has changed", ["answer"])
TURN, DNS, CONNECT, TLS, HEAD, BODY = (
    SECONDS.labels(phase) for phase in ("turn", "dns", "connect", "tls", "head", "body")
)

# The first that matches a host name says its class.
HOST_CLASSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("address", re.compile(r"[\d.]+|.*:.*")),
    ("resolver", re.compile(r"(?:.+\.)?(?:doi\.org|hdl\.handle\.net|purl\.org|n2t\.net|nbn-resolving\.org|w3id\.org)")),
    (
        "aggregator",
        re.compile(r"(?:.+\.)?(?:arxiv\.org|nih\.gov|europepmc\.org|scielo\.\w+(?:\.\w+)?|jstage\.jst\.go\.jp)"),
    ),
    (
        "delivery",
        re.compile(
            r"(?:cdn|static|assets?|media|img|images?|fonts?|ajax)\d*\..+|.+\.(?:cloudfront|akamaized|jsdelivr)\.net"
        ),
    ),
    ("university", re.compile(r".+\.(?:edu|edu\.\w+|ac\.\w+)|(?:.+\.)?uni-[\w-]+\.\w+")),
    ("other", re.compile(r".*", re.DOTALL)),
)


@lru_cache(4096)
def host_class(host: str) -> str:
    """The kind of host, by its name alone."""
    return next(name for name, pattern in HOST_CLASSES if pattern.fullmatch(host))


def answered(host: str, capture: Capture) -> None:
    """Count an answer, or what came in its place."""
    kind = host_class(host)
    ANSWERS.labels(capture.status.value, kind).inc()
    if capture.body:
        BYTES.labels(kind).inc(len(capture.body))
