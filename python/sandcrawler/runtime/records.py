"""What the loop takes and gives, and what it asks of a broker.

Two brokers stand behind these protocols, `sandcrawler.kafka` and `sandcrawler.memory`; `tests/contract` holds both to
the promises written here.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from sandcrawler.errors import InvalidMessage

# Topic and partition number.
Partition = tuple[str, int]
Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One message as it came from the broker. `timestamp` is in seconds since 1970, UTC."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message to be published. A value of None is a tombstone."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class MessageTooLarge(InvalidMessage):
    """Some messages exceed what the broker takes; all others of the same `publish` were acknowledged."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = tuple(messages)
        first = self.messages[0]
        super().__init__(
            f"{len(first.value or b'')} bytes for {first.topic}, key {first.key!r}: over the broker's limit"
        )


class Consumer(Protocol):
    """One member of a consumer group. Used by one thread only."""

    def listen(
        self,
        on_revoked: Callable[[AbstractSet[Partition]], None],
        on_lost: Callable[[AbstractSet[Partition]], None],
    ) -> None:
        """Names the callbacks. Both are called inside `poll` or `close`, never at another time.

        While `on_revoked` runs the partitions are still ours, and offsets can be committed. At `on_lost` somebody
        else may have them already.
        """

    def poll(self, limit: int, seconds: float) -> list[Record]:
        """Up to `limit` records, in order within each partition; waits at most `seconds` for the first.

        Keeps the membership alive and serves the callbacks even with a limit of 0, which never returns a record.
        A partition that was taken away during the call has no record in the answer. Raises Unavailable after a
        bounded time without a broker.
        """

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Stores the offsets at which the group will go on; returns when they are stored.

        An offset of a partition that is ours no more is ignored. Raises Unavailable.
        """

    def lag(self) -> Mapping[Partition, int]:
        """Records not yet polled, for each partition held, as far as known without asking the broker."""

    def close(self) -> None:
        """Leaves the group; what was not committed goes to the next owner."""


class Producer(Protocol):
    """Publishes messages. May be shared by threads."""

    def publish(self, messages: Sequence[Message]) -> None:
        """Returns once the broker acknowledged every message, whole.

        Raises Unavailable when some were not (they may be published again: consumers see duplicates, never gaps),
        and MessageTooLarge with exactly those that can never be.
        """

    def close(self) -> None:
        """Ends the connection."""
