"""What the sinks see of the runtime, and what the runtime sees of a sink: two small protocols."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

Value_contra = TypeVar("Value_contra", contravariant=True)


class Record(Protocol):
    """A message as far as decoding cares: its key and value, as bytes or absent."""

    @property
    def key(self) -> bytes | None: ...

    @property
    def value(self) -> bytes | None: ...


class Sink(Protocol[Value_contra]):
    """Writes batches. The values of one key stand in Kafka order; a batch may come again, whole or in part.

    Raises InvalidMessage when a value cannot be stored (the caller halves the batch and tries again), Unavailable
    when the server cannot do it now; in both cases, and after any other exception, nothing of a table batch is kept.
    """

    def write(self, values: Sequence[Value_contra]) -> None: ...
