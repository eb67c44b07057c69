"""A broker in memory with the promises of the real one: for tests, and to run the pipeline without servers.

It keeps what matters to a worker: partitions by key, offsets, consumer groups whose partitions move cooperatively
(a partition changes hands only after its owner let go), committed offsets fenced by ownership, a message size limit.
Faults are asked for by name: `fail_publish`, `fail_commit`, `lose`, `kill`.
"""

import threading
import time
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.runtime.records import Message, MessageTooLarge, Partition, Record

Callback = Callable[[AbstractSet[Partition]], None]


def _nothing(_partitions: AbstractSet[Partition]) -> None:
    pass


class MemoryBroker:
    """Topics by name with their number of partitions; messages up to `message_bytes` (key and value)."""

    def __init__(self, topics: Mapping[str, int], message_bytes: int = 32 << 20) -> None:
        self.message_bytes = message_bytes
        self.change = threading.Condition(threading.RLock())
        self.logs: dict[Partition, list[Record]] = {}
        self._sizes: dict[str, int] = {}
        self._groups: dict[str, _Group] = defaultdict(lambda: _Group(self))
        self._publish_faults: deque[Exception] = deque()
        self._commit_faults: deque[Exception] = deque()
        for topic, partitions in topics.items():
            self.create(topic, partitions)

    def create(self, topic: str, partitions: int) -> None:
        """Adds a topic."""
        with self.change:
            self._sizes[topic] = partitions
            self.logs.update({(topic, number): [] for number in range(partitions)})

    # ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────

    def consumer(self, group: str, topics: Sequence[str]) -> "MemoryConsumer":
        """A new member of the group. Missing topics are a ConfigurationError, as on the real broker."""
        for topic in topics:
            self.partitions(topic)
        with self.change:
            return MemoryConsumer(self, self._groups[group], topics)

    def producer(self) -> "MemoryProducer":
        """A producer; several may publish at once."""
        return MemoryProducer(self)

    # ── looking inside ───────────────────────────────────────────────────────────────────────────────────────────

    def partitions(self, topic: str) -> list[Partition]:
        """The topic's partitions."""
        if topic not in self._sizes:
            raise ConfigurationError(f"there is no topic {topic}: run `sandcrawler setup`")
        return [(topic, number) for number in range(self._sizes[topic])]

    def records(self, topic: str) -> list[Record]:
        """Everything in the topic, partition after partition."""
        with self.change:
            return [record for partition in self.partitions(topic) for record in self.logs[partition]]

    def latest(self, topic: str) -> dict[bytes | None, bytes]:
        """The topic as compaction leaves it: the last value of each key, without those that a tombstone ended."""
        last = {record.key: record.value for record in self.records(topic)}
        return {key: value for key, value in last.items() if value is not None}

    def committed(self, group: str) -> dict[Partition, int]:
        """Where the group goes on."""
        with self.change:
            return dict(self._groups[group].committed)

    def owners(self, group: str) -> dict[Partition, "MemoryConsumer"]:
        """Who holds which partition now."""
        with self.change:
            return dict(self._groups[group].owners)

    # ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────

    def fail_publish(self, times: int = 1, error: Exception | None = None) -> None:
        """The next publishes fail (Unavailable unless said otherwise) and leave nothing in the log."""
        self._publish_faults.extend([error or Unavailable("the memory broker was told to fail")] * times)

    def fail_commit(self, times: int = 1, error: Exception | None = None) -> None:
        """The next commits fail and store nothing."""
        self._commit_faults.extend([error or Unavailable("the memory broker was told to fail")] * times)

    def forget_faults(self) -> None:
        """Everything works again."""
        self._publish_faults.clear()
        self._commit_faults.clear()

    def lose(self, consumer: "MemoryConsumer", partitions: AbstractSet[Partition]) -> None:
        """Takes partitions from a member without asking it, as when it did not answer for too long."""
        with self.change:
            consumer.group.seize(consumer, partitions)

    def revoke(self, consumer: "MemoryConsumer", partitions: AbstractSet[Partition]) -> None:
        """Asks a member to give partitions up at its next poll; another member gets them, if there is one."""
        with self.change:
            consumer.group.redirect(consumer, partitions)

    # ── what the clients call ────────────────────────────────────────────────────────────────────────────────────

    def append(self, message: Message) -> Record:
        """Writes one message to the partition of its key; no key goes by turns."""
        count = len(self.partitions(message.topic))
        with self.change:
            turn = sum(len(self.logs[(message.topic, number)]) for number in range(count))
            number = (turn if message.key is None else zlib.crc32(message.key)) % count
            line = self.logs[(message.topic, number)]
            record = Record(message.topic, number, len(line), message.key, message.value, message.headers, time.time())
            line.append(record)
            self.change.notify_all()
            return record

    def meet_fault(self, kind: str) -> None:
        """Raises the next fault that a test asked for."""
        faults = self._publish_faults if kind == "publish" else self._commit_faults
        if faults:
            raise faults.popleft()


class _Group:
    """A consumer group: who owns which partition, who should, and the committed offsets."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.committed: dict[Partition, int] = {}
        self.owners: dict[Partition, MemoryConsumer] = {}
        self.members: list[MemoryConsumer] = []
        self._targets: dict[Partition, MemoryConsumer] = {}
        self._broker = broker

    def rebalance(self) -> None:
        """Decides who should own what: fair shares, the same partition of all topics together, and few that move."""
        self._targets = {}
        wanted = {part: [m for m in self.members if part in m.wanted] for m in self.members for part in m.wanted}
        share: dict[MemoryConsumer, int] = defaultdict(int)
        fair = -(-len(wanted) // max(1, len(self.members)))
        for number in sorted({number for _, number in wanted}):
            together = sorted(part for part in wanted if part[1] == number)
            for members, parts in _by_members(together, wanted):
                owner = self.owners.get(parts[0])
                if owner in members and share[owner] + len(parts) <= max(fair, len(parts)):
                    chosen = owner
                else:
                    chosen = min(members, key=lambda member: (share[member], self.members.index(member)))
                share[chosen] += len(parts)
                self._targets |= dict.fromkeys(parts, chosen)
        self._broker.change.notify_all()

    def due(self, member: "MemoryConsumer") -> set[Partition]:
        """What the member holds and should give up."""
        return {p for p, owner in self.owners.items() if owner is member and self._targets.get(p) is not member}

    def claim(self, member: "MemoryConsumer") -> None:
        """Gives the member what it should own and nobody holds."""
        for part, target in self._targets.items():
            if target is member and part not in self.owners:
                self.owners[part] = member
                member.positions[part] = self.committed.get(part, 0)

    def release(self, member: "MemoryConsumer", partitions: AbstractSet[Partition]) -> None:
        """The member holds these no more."""
        for part in partitions:
            if self.owners.get(part) is member:
                del self.owners[part]
            member.positions.pop(part, None)
        self._broker.change.notify_all()

    def redirect(self, member: "MemoryConsumer", partitions: AbstractSet[Partition]) -> None:
        """From now on these should be owned by another member than this."""
        other = next((other for other in self.members if other is not member), None)
        for part in partitions:
            if self._targets.pop(part, None) and other is not None:
                self._targets[part] = other
        self._broker.change.notify_all()

    def seize(self, member: "MemoryConsumer", partitions: AbstractSet[Partition]) -> None:
        """Takes partitions from the member, which learns of it at its next poll."""
        taken = {part for part in partitions if self.owners.get(part) is member}
        self.redirect(member, taken)
        self.release(member, taken)
        member.lost |= taken

    def leave(self, member: "MemoryConsumer") -> None:
        """The member is gone; the others share what it had."""
        if member in self.members:
            self.members.remove(member)
        self.release(member, set(member.positions))
        self.rebalance()


def _by_members(
    parts: Sequence[Partition], wanted: Mapping[Partition, list["MemoryConsumer"]]
) -> list[tuple[list["MemoryConsumer"], list[Partition]]]:
    """The partitions that the same members want."""
    groups: list[tuple[list[MemoryConsumer], list[Partition]]] = []
    for part in parts:
        known = next((group for group in groups if group[0] == wanted[part]), None)
        if known is None:
            groups.append((wanted[part], [part]))
        else:
            known[1].append(part)
    return groups


class MemoryConsumer:
    """See `sandcrawler.runtime.Consumer`."""

    def __init__(self, broker: MemoryBroker, group: _Group, topics: Sequence[str]) -> None:
        self.group = group
        self.wanted = {part for topic in topics for part in broker.partitions(topic)}
        self.positions: dict[Partition, int] = {}
        self.lost: set[Partition] = set()
        self._broker = broker
        self._on_revoked: Callback = _nothing
        self._on_lost: Callback = _nothing
        self._closed = False
        group.members.append(self)
        group.rebalance()

    def listen(self, on_revoked: Callback, on_lost: Callback) -> None:
        """See `Consumer.listen`."""
        self._on_revoked, self._on_lost = on_revoked, on_lost

    def poll(self, limit: int, seconds: float) -> list[Record]:
        """See `Consumer.poll`."""
        deadline = time.monotonic() + seconds
        while True:
            self._serve()
            with self._broker.change:
                self.group.claim(self)
                records = self._fetch(limit)
                left = deadline - time.monotonic()
                if records or left <= 0 or self._closed:
                    return records
                self._broker.change.wait(left)

    def _serve(self) -> None:
        """Calls the callbacks that are due, outside the broker's lock, as they may take their time."""
        with self._broker.change:
            lost, self.lost = self.lost, set()
            due = self.group.due(self)
        if lost:
            self._on_lost(lost)
        if due:
            self._on_revoked(due)
            with self._broker.change:
                self.group.release(self, due)

    def _fetch(self, limit: int) -> list[Record]:
        records: list[Record] = []
        for part, position in self.positions.items():
            found = self._broker.logs[part][position : position + limit - len(records)]
            self.positions[part] += len(found)
            records += found
        return records

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """See `Consumer.commit`."""
        with self._broker.change:
            self._broker.meet_fault("commit")
            for part, offset in offsets.items():
                if self.group.owners.get(part) is self:
                    self.group.committed[part] = offset

    def lag(self) -> Mapping[Partition, int]:
        """See `Consumer.lag`."""
        with self._broker.change:
            return {part: len(self._broker.logs[part]) - position for part, position in self.positions.items()}

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
        with self._broker.change:
            self._closed = True
            self.group.leave(self)


class MemoryProducer:
    """See `sandcrawler.runtime.Producer`."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker

    def publish(self, messages: Sequence[Message]) -> None:
        """See `Producer.publish`."""
        for topic in {message.topic for message in messages}:
            self._broker.partitions(topic)
        with self._broker.change:
            self._broker.meet_fault("publish")
            refused = []
            for message in messages:
                if len(message.key or b"") + len(message.value or b"") > self._broker.message_bytes:
                    refused.append(message)
                else:
                    self._broker.append(message)
        if refused:
            raise MessageTooLarge(refused)

    def close(self) -> None:
        """See `Producer.close`."""
