"""Which records are in flight, and up to where each partition may be committed.

Each partition has a line of slots in the order of arrival. Slots finish in any order; only finished slots at the head
of the line leave it, and the offset after the last that left is what may be committed. So a commit can never pass an
unfinished record. Gaps between offsets (compaction, transactions) do not matter.

To forget a partition is to drop its line, to cut it is to drop the line's end: what still works on these slots
finishes into the void.
Only the loop's own thread touches the window; other threads touch the fields of a slot while they hold it.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandcrawler.runtime.records import Message, Partition, Record


@dataclass(slots=True, eq=False)
class Slot:
    """The place of one record in the window, from poll to commit."""

    record: Record
    value: Any = None
    messages: tuple[Message, ...] = ()
    error: BaseException | None = None
    stage: str = "decode"
    fate: str = "processed"
    published: bool = False
    done: bool = False
    forgotten: bool = False


class Window:
    """The records between poll and commit.

    `in_flight` counts those that are worked on, forgotten ones too; `waiting` and `bytes` (of values) those that stand
    in line, finished ones too.
    """

    def __init__(self) -> None:
        self.in_flight = 0
        self.waiting = 0
        self.bytes = 0
        self.ready: dict[Partition, int] = {}
        self._lines: dict[Partition, deque[Slot]] = {}

    def take(self, record: Record) -> Slot:
        """A slot at the end of the record's line."""
        slot = Slot(record)
        partition = (record.topic, record.partition)
        line = self._lines.get(partition)
        if line is None:
            line = self._lines[partition] = deque()
        line.append(slot)
        self.in_flight += 1
        self._count(slot, 1)
        return slot

    def finish(self, slots: Iterable[Slot]) -> None:
        """The slots had their effects, acknowledged; moves what may be committed into `ready`."""
        touched = set()
        for slot in slots:
            slot.done = True
            self.in_flight -= 1
            touched.add((slot.record.topic, slot.record.partition))
        for partition in touched:
            self._advance(partition)

    def _advance(self, partition: Partition) -> None:
        line = self._lines.get(partition)
        while line and line[0].done:
            slot = line.popleft()
            self.ready[partition] = slot.record.offset + 1
            self._count(slot, -1)

    def _count(self, slot: Slot, sign: int) -> None:
        self.waiting += sign
        self.bytes += sign * len(slot.record.value or b"")

    def committed(self, offsets: dict[Partition, int]) -> None:
        """These offsets are stored."""
        for partition, offset in offsets.items():
            if self.ready.get(partition) == offset:
                del self.ready[partition]

    def behind(self, slot: Slot) -> list[Slot]:
        """The slots behind this one, which stands in line, from the last."""
        behind = []
        for other in reversed(self._lines[slot.record.topic, slot.record.partition]):
            if other is slot:
                break
            behind.append(other)
        return behind

    def cut(self, slot: Slot) -> None:
        """Ends the line in front of this slot: it and those behind it are forgotten, those before it go on."""
        line = self._lines[slot.record.topic, slot.record.partition]
        while not slot.forgotten:
            last = line.pop()
            last.forgotten = True
            self._count(last, -1)

    def unfinished(self, partitions: Iterable[Partition] | None = None) -> int:
        """How many records (of these partitions, or of all) stand in line."""
        chosen = self._lines if partitions is None else partitions
        return sum(len(self._lines.get(partition, ())) for partition in chosen)

    def forget(self, partitions: Iterable[Partition] | None = None) -> None:
        """Drops the lines of these partitions, or all: nothing of theirs is committed from here on."""
        for partition in list(self._lines) if partitions is None else partitions:
            self.ready.pop(partition, None)
            for slot in self._lines.pop(partition, ()):
                slot.forgotten = True
                self._count(slot, -1)
