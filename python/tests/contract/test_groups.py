"""Groups that read several topics: what belongs together stays together, on both brokers."""

import threading
from collections import defaultdict

import pytest

from sandcrawler.runtime import Consumer, Message
from tests.contract.brokers import Broker, InMemory, RealKafka, eventually

KEYS = [b"host %d.example.org" % number for number in range(60)]


@pytest.fixture(params=["memory", pytest.param("kafka", marks=pytest.mark.stack)])
def broker(request: pytest.FixtureRequest) -> Broker:
    if request.param == "memory":
        return InMemory()
    return RealKafka(request.getfixturevalue("stack").kafka_brokers)


class Member:
    """A member of the group in a thread of its own, and the keys that it has read."""

    def __init__(self, consumer: Consumer) -> None:
        self.read: list[bytes | None] = []
        self._consumer, self._stop = consumer, threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def leave(self) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.is_set():
            self.read += [record.key for record in self._consumer.poll(100, 0.05)]
        self._consumer.close()


def together(broker: Broker, topics: list[str], members: list[Member]) -> bool:
    """Whether one member reads a key from all topics, each member some, once all are published again."""
    for member in members:
        member.read.clear()
    producer = broker.producer()
    producer.publish([Message(topic, key, b"") for topic in topics for key in KEYS])
    producer.close()
    eventually(lambda: sum(len(member.read) for member in members) >= len(topics) * len(KEYS))
    readers = defaultdict(set)
    for member in members:
        for key in member.read:
            readers[key].add(member)
    return set.union(*readers.values()) == set(members) and all(len(each) == 1 for each in readers.values())


def test_a_key_of_several_topics_is_with_one_member(broker: Broker) -> None:
    """Also while members come and go."""
    topics = [broker.topic(partitions=6) for _ in range(3)]
    members: list[Member] = []
    try:
        for size in (1, 2, 3):
            members.append(Member(broker.consumer(*topics)))
            eventually(lambda: together(broker, topics, members), 60)
            assert len(members) == size
        members.pop(0).leave()
        eventually(lambda: together(broker, topics, members), 60)
    finally:
        for member in members:
            member.leave()
