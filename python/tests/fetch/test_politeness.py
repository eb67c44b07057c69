"""What a site sees of two workers at once: whole workers on both brokers, a real server that notes arrivals.

A host's requests come in all three topics: the same worker has them.
"""

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Literal, Protocol
from urllib.parse import urlsplit

import pytest

from sandcrawler import kafka
from sandcrawler.config import Config
from sandcrawler.demo.documents import Answer
from sandcrawler.demo.server import Access, running
from sandcrawler.memory import MemoryBroker
from sandcrawler.names import REQUEST_TOPICS, Topic, request_key
from sandcrawler.runtime import Consumer, Message, Producer, Record, Worker
from sandcrawler.setup import setup
from sandcrawler.status import Status
from sandcrawler.workers import ingest
from tests.pipelines import forget_topics
from tests.runtime.workers import Running, eventually

GAP = 0.3
ENV: Literal["qa"] = "qa"
REQUESTS = [topic.named(ENV) for topic in REQUEST_TOPICS.values()]
RESULTS, DEAD = Topic.RESULTS.named(ENV), Topic.DEAD_LETTERS.named(ENV)
Arrivals = list[tuple[float, Access]]


class Broker(Protocol):
    """The topics of requests and results, for one group."""

    def consumer(self) -> Consumer: ...
    def producer(self) -> Producer: ...
    def results(self) -> list[Record]: ...
    def held(self, consumer: Consumer) -> int: ...


class InMemory:
    """The memory broker."""

    def __init__(self) -> None:
        self._broker = MemoryBroker({**dict.fromkeys(REQUESTS, 12), RESULTS: 1, DEAD: 1})

    def consumer(self) -> Consumer:
        return self._broker.consumer("ingest", REQUESTS)

    def producer(self) -> Producer:
        return self._broker.producer()

    def results(self) -> list[Record]:
        return self._broker.records(RESULTS)

    def held(self, consumer: Consumer) -> int:
        return list(self._broker.owners("ingest").values()).count(consumer)  # type: ignore[arg-type]


class RealKafka:
    """Kafka, with empty topics."""

    def __init__(self, config: Config) -> None:
        self._config = config
        forget_topics(config)
        setup(config)

    def consumer(self) -> Consumer:
        return kafka.open_consumer(self._config, "ingest", REQUESTS)

    def producer(self) -> Producer:
        return kafka.open_producer(self._config)

    def results(self) -> list[Record]:
        return list(kafka.scan(self._config, RESULTS))

    def held(self, consumer: Consumer) -> int:
        return len(consumer._held)  # type: ignore[attr-defined]


@pytest.fixture(params=["memory", pytest.param("kafka", marks=pytest.mark.stack)])
def broker(request: pytest.FixtureRequest) -> Broker:
    if request.param == "memory":
        return InMemory()
    return RealKafka(request.getfixturevalue("stack_config")(env=ENV, kafka_partitions=12))


class Two:
    """Two ingest workers of one group, and what the web saw of them."""

    def __init__(self, broker: Broker, arrivals: Arrivals) -> None:
        self.broker, self.arrivals, self.begun = broker, arrivals, 0.0

    def answer(self, urls: Sequence[str], seconds: float = 240) -> list[dict[str, object]]:
        """The results of these requests, which are spread over the topics."""
        producer, self.begun = self.broker.producer(), time.monotonic()
        values = [(url, json.dumps({"ingest_type": "html", "base_url": url}).encode()) for url in urls]
        producer.publish([Message(t, request_key(u), v) for t, (u, v) in zip(cycle(REQUESTS), values, strict=False)])
        producer.close()
        eventually(lambda: time.sleep(0.2) or len(self.broker.results()) >= len(urls), seconds)
        return [json.loads(record.value or b"") for record in self.broker.results()]

    def paced(self, arrivals: Arrivals) -> bool:
        """Whether no request of a host came before its turn. On a busy machine one may come late, close to the next."""
        return all(moment - self.begun > turn * GAP - 0.01 for turn, (moment, _) in enumerate(arrivals))

    def by_host(self) -> dict[str, Arrivals]:
        found: dict[str, Arrivals] = defaultdict(list)
        for moment, access in sorted(self.arrivals, key=lambda each: each[0]):
            found[urlsplit(access.url).hostname or ""].append((moment, access))
        return found


@contextmanager
def two_workers(broker: Broker, site: Sequence[Answer], **settings: object) -> Iterator[Two]:
    arrivals: Arrivals = []
    with running(site, log=lambda access: arrivals.append((time.monotonic(), access))) as web:
        workers, consumers = [], []
        for name in ("one", "two"):
            config = Config(
                env=ENV,
                fetch_connect_to=web.connect_to,  # type: ignore[arg-type]
                fetch_allow_addresses="127.0.0.0/8",  # type: ignore[arg-type]
                fetch_user_agent=f"sandcrawler-{name}/1",
                fetch_host_gap=GAP,
                fetch_host_parallel=16,
                extract_processes=1,
                **settings,  # type: ignore[arg-type]
            )
            consumers.append(broker.consumer())
            workers.append(Running(Worker(name, consumers[-1], broker.producer(), ingest(config), DEAD)))
        try:
            eventually(lambda: _shared(broker, consumers, workers), 120)
            yield Two(broker, arrivals)
        finally:
            for worker in workers:
                worker.end()


def _shared(broker: Broker, consumers: list[Consumer], workers: list[Running]) -> bool:
    """Whether both workers are up and hold all partitions between them."""
    for worker in workers:
        if worker.error:
            raise worker.error
    held = [broker.held(consumer) for consumer in consumers]
    return sum(held) == 12 * len(REQUESTS) and all(held)


def plain(host: str, path: str, status: int = 200, **more: object) -> Answer:
    return Answer(url=f"http://{host}/{path}", status=status, type="text/plain", body=b"words", **more)  # type: ignore[arg-type]


def test_one_host_is_served_by_one_worker_at_its_pace(broker: Broker) -> None:
    hosts = [f"site{n}.example.org" for n in range(50)]
    site = [plain(host, str(n)) for host in hosts for n in range(3)]
    with two_workers(broker, site) as two:
        results = two.answer([answer.url for answer in site])
    assert {result["status"] for result in results} == {Status.WRONG_MIMETYPE}
    seen = two.by_host()
    assert seen.keys() == set(hosts)
    agents = {host: {access.user_agent for _, access in arrivals} for host, arrivals in seen.items()}
    assert all(len(each) == 1 for each in agents.values())
    assert len(set.union(*agents.values())) == 2
    for host, arrivals in seen.items():
        assert [urlsplit(access.url).path for _, access in arrivals].count("/robots.txt") == 1, host
        assert two.paced(arrivals), host


def test_sixteen_documents_at_once_keep_the_gap(broker: Broker) -> None:
    urls = [plain("one.example.org", str(n)) for n in range(16)]
    with two_workers(broker, urls) as two:
        two.answer([answer.url for answer in urls])
    arrivals = two.by_host()["one.example.org"]
    assert len(arrivals) == 17
    assert two.paced(arrivals), arrivals


@pytest.mark.parametrize("status", [429, 503])
def test_h50_after_a_refusal_nobody_asks_for_as_long_as_the_host_wants(
    broker: Broker, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDCRAWLER_THROTTLE_BASE", "1")  # so that the host's own wish is what decides
    host = "busy.example.org"
    site = [plain(host, "0", status, headers={"Retry-After": "3"}), *(plain(host, str(n)) for n in range(1, 12))]
    with two_workers(broker, site) as two:
        results = two.answer([answer.url for answer in site])
    arrivals = two.by_host()[host]
    refused = next(moment for moment, access in arrivals if access.status == status)
    after = [moment - refused for moment, _ in arrivals if moment > refused]
    # Requests that were on their way are answered; then there is silence for three seconds, from either worker.
    assert after
    assert min(after) > 2  # less what the server took to note the refusal; without a rest it would be the gap
    said = [result["status"] for result in results]
    assert said.count(Status.HOST_BACKOFF) == 1
    assert said.count(Status.WRONG_MIMETYPE) == 11
