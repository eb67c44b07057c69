"""What a client says while its brokers are away, and that the same is not said over and over."""

import socket
import time

import structlog
from confluent_kafka import Consumer, KafkaError

from sandcrawler.kafka.client import common
from sandcrawler.kafka.notes import EVERY_SECONDS, Notes


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def fail(notes: Notes, milliseconds: int) -> None:
    """A failed connection, as librdkafka tells it."""
    words = f"[thrd:b/bootstrap]: b/bootstrap: Connect failed (after {milliseconds}ms in state CONNECT)"
    notes.log(40, "%s [%s] %s", "FAIL", "rdkafka#consumer-1", words)
    notes.error(KafkaError(KafkaError._TRANSPORT, words))


def down(notes: Notes) -> None:
    notes.error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))


def test_an_absence_is_said_once_and_the_return_once() -> None:
    clock = Clock()
    notes = Notes("group", clock)
    with structlog.testing.capture_logs() as said:
        for second in range(600):
            clock.now += 1
            fail(notes, second)
            down(notes)
        assert notes.down_since == 1001
        before = len(said)
        notes.answered()
        notes.answered()
    assert before <= 3, said
    assert [line["event"] for line in said].count("Kafka's brokers are down") == 1
    assert [line["event"] for line in said[before:]] == ["Kafka's brokers are back"]
    assert said[-1]["seconds"] == 599
    assert notes.down_since is None


def test_the_same_is_said_again_after_a_while_with_how_often_it_was_not_said() -> None:
    clock = Clock()
    notes = Notes("group", clock)
    with structlog.testing.capture_logs() as said:
        for _ in range(3):
            for number in range(100):
                fail(notes, number)
            clock.now += EVERY_SECONDS
    assert [line.get("unsaid") for line in said] == [None, None, 99, 99, 99, 99]


def test_other_news_is_said_while_brokers_are_down_and_clients_do_not_silence_each_other() -> None:
    one, two = Notes("one", Clock()), Notes("two", Clock())
    with structlog.testing.capture_logs() as said:
        for notes in (one, two):
            down(notes)
            notes.log(40, "%s [%s] %s", "OFFSET", "rdkafka#consumer-1", "100% out of range")
    assert len(said) == 4
    assert said[1]["words"] == "OFFSET [rdkafka#consumer-1] 100% out of range"


def test_a_real_client_without_brokers_says_three_lines_at_most() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        notes = Notes("nobody", Clock())  # which stands still, so that nothing is due to be said again
        with structlog.testing.capture_logs() as said:
            client = Consumer({**common(address, 1 << 20, notes), "group.id": "nobody"})
            patience = time.monotonic() + 60
            while notes.down_since is None and time.monotonic() < patience:
                client.consume(1, 0.1)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                client.consume(1, 0.1)
            client.close()
    assert notes.down_since is not None
    assert 1 <= len(said) <= 3, said
