"""The members of a group and the producers, as the runtime knows them."""

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from sandcrawler.memory.group import Group, Member
from sandcrawler.memory.log import Log
from sandcrawler.runtime.records import Message, MessageTooLarge, Partition, Record

Callback = Callable[[AbstractSet[Partition]], None]


def _nothing(_partitions: AbstractSet[Partition]) -> None:
    pass


class MemoryConsumer(Member):
    """See `sandcrawler.runtime.Consumer`."""

    def __init__(self, log: Log, group: Group, topics: Sequence[str]) -> None:
        super().__init__({part for topic in topics for part in log.partitions(topic)})
        self.group = group
        self._log = log
        self._on_revoked: Callback = _nothing
        self._on_lost: Callback = _nothing
        self._closed = False
        group.join(self)

    def listen(self, on_revoked: Callback, on_lost: Callback) -> None:
        """See `Consumer.listen`."""
        self._on_revoked, self._on_lost = on_revoked, on_lost

    def poll(self, limit: int, seconds: float) -> list[Record]:
        """See `Consumer.poll`."""
        deadline = time.monotonic() + seconds
        while True:
            self._serve()
            with self._log.change:
                self.group.claim(self)
                records = self._fetch(limit)
                left = deadline - time.monotonic()
                if records or left <= 0 or self._closed:
                    return records
                self._log.change.wait(left)

    def _serve(self) -> None:
        """Calls the callbacks that are due, outside the broker's lock, as they may take their time."""
        with self._log.change:
            lost, self.lost = self.lost, set()
            due = self.group.due(self)
        if lost:
            self._on_lost(lost)
        if due:
            self._on_revoked(due)
            with self._log.change:
                self.group.release(self, due)

    def _fetch(self, limit: int) -> list[Record]:
        records: list[Record] = []
        for part, position in self.positions.items():
            found = self._log.lines[part][position : position + limit - len(records)]
            self.positions[part] += len(found)
            records += found
        return records

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """See `Consumer.commit`."""
        with self._log.change:
            self._log.meet_fault("commit")
            for part, offset in offsets.items():
                if self.group.owners.get(part) is self:
                    self.group.committed[part] = offset

    def lag(self) -> Mapping[Partition, int]:
        """See `Consumer.lag`."""
        with self._log.change:
            return {part: len(self._log.lines[part]) - position for part, position in self.positions.items()}

    def close(self) -> None:
        """See `Consumer.close`."""
        if self._closed:
            return
        self._closed = True
        if held := set(self.positions):
            self._on_revoked(held)
        self.kill()

    def kill(self) -> None:
        """Leaves without a word, as a process does that is killed."""
        with self._log.change:
            self._closed = True
            self.group.leave(self)


class MemoryProducer:
    """See `sandcrawler.runtime.Producer`."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def publish(self, messages: Sequence[Message]) -> None:
        """See `Producer.publish`."""
        for topic in {message.topic for message in messages}:
            self._log.partitions(topic)
        with self._log.change:
            self._log.meet_fault("publish")
            refused = []
            for message in messages:
                if len(message.key or b"") + len(message.value or b"") > self._log.message_bytes:
                    refused.append(message)
                else:
                    self._log.append(message)
        if refused:
            raise MessageTooLarge(refused)

    def close(self) -> None:
        """See `Producer.close`."""
