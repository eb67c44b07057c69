"""The broker: its log, its groups, and the clients that it opens."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from sandcrawler.memory.clients import MemoryConsumer, MemoryProducer
from sandcrawler.memory.group import Group, Member
from sandcrawler.memory.log import Log
from sandcrawler.runtime.records import Partition


class MemoryBroker(Log):
    """See `Log` for what it holds."""

    def __init__(self, topics: Mapping[str, int], message_bytes: int = 32 << 20) -> None:
        super().__init__(topics, message_bytes)
        self._groups: dict[str, Group] = defaultdict(lambda: Group(self))

    def consumer(self, group: str, topics: Sequence[str]) -> MemoryConsumer:
        """A new member of the group. Missing topics are a ConfigurationError, as on the real broker."""
        with self.change:
            return MemoryConsumer(self, self._groups[group], topics)

    def producer(self) -> MemoryProducer:
        """A producer; several may publish at once."""
        return MemoryProducer(self)

    def committed(self, group: str) -> dict[Partition, int]:
        """Where the group goes on."""
        with self.change:
            return dict(self._groups[group].committed)

    def owners(self, group: str) -> dict[Partition, Member]:
        """Who holds which partition now."""
        with self.change:
            return dict(self._groups[group].owners)

    def lose(self, consumer: MemoryConsumer, partitions: AbstractSet[Partition]) -> None:
        """Takes partitions from a member without asking it, as when it did not answer for too long."""
        with self.change:
            consumer.group.seize(consumer, partitions)

    def revoke(self, consumer: MemoryConsumer, partitions: AbstractSet[Partition]) -> None:
        """Asks a member to give partitions up at its next poll; another member gets them, if there is one."""
        with self.change:
            consumer.group.redirect(consumer, partitions)
