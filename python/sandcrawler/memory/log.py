"""Topics with their partitions and records, and the one lock that all who share them take."""

import threading
import time
import zlib
from collections import deque
from collections.abc import Mapping
from typing import Literal

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.runtime.records import Message, Partition, Record

Call = Literal["publish", "commit"]


class Log:
    """Topics by name with their number of partitions; messages up to `message_bytes` (key and value)."""

    def __init__(self, topics: Mapping[str, int], message_bytes: int = 32 << 20) -> None:
        self.message_bytes = message_bytes
        self.change = threading.Condition(threading.RLock())
        self.lines: dict[Partition, list[Record]] = {}
        self._sizes: dict[str, int] = {}
        self._faults: dict[Call, deque[Exception]] = {"publish": deque(), "commit": deque()}
        for topic, partitions in topics.items():
            self.create(topic, partitions)

    def create(self, topic: str, partitions: int) -> None:
        """Adds a topic."""
        with self.change:
            self._sizes[topic] = partitions
            self.lines.update({(topic, number): [] for number in range(partitions)})

    def partitions(self, topic: str) -> list[Partition]:
        """The topic's partitions. A missing topic is a ConfigurationError, as on the real broker."""
        if topic not in self._sizes:
            raise ConfigurationError(f"there is no topic {topic}: run `sandcrawler setup`")
        return [(topic, number) for number in range(self._sizes[topic])]

    def records(self, topic: str) -> list[Record]:
        """Everything in the topic, partition after partition."""
        with self.change:
            return [record for partition in self.partitions(topic) for record in self.lines[partition]]

    def latest(self, topic: str) -> dict[bytes | None, bytes]:
        """The topic as compaction leaves it: the last value of each key, without those that a tombstone ended."""
        last = {record.key: record.value for record in self.records(topic)}
        return {key: value for key, value in last.items() if value is not None}

    def append(self, message: Message) -> Record:
        """Writes one message to the partition of its key; no key goes by turns."""
        count = len(self.partitions(message.topic))
        with self.change:
            turn = sum(len(self.lines[(message.topic, number)]) for number in range(count))
            number = (turn if message.key is None else zlib.crc32(message.key)) % count
            line = self.lines[(message.topic, number)]
            record = Record(message.topic, number, len(line), message.key, message.value, message.headers, time.time())
            line.append(record)
            self.change.notify_all()
            return record

    # ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────

    def fail_publish(self, times: int = 1, error: Exception | None = None) -> None:
        """The next publishes fail (Unavailable unless said otherwise) and leave nothing in the log."""
        self._fail("publish", times, error)

    def fail_commit(self, times: int = 1, error: Exception | None = None) -> None:
        """The next commits fail and store nothing."""
        self._fail("commit", times, error)

    def forget_faults(self) -> None:
        """Everything works again."""
        for faults in self._faults.values():
            faults.clear()

    def meet_fault(self, call: Call) -> None:
        """Raises the next fault that a test asked for."""
        if self._faults[call]:
            raise self._faults[call].popleft()

    def _fail(self, call: Call, times: int, error: Exception | None) -> None:
        self._faults[call].extend([error or Unavailable("the memory broker was told to fail")] * times)
