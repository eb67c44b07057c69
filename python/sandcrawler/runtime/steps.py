"""The two shapes of work that a worker can do.

`decode` raises InvalidMessage (the record becomes a dead letter) or SkippedMessage (it is counted). It runs in the
loop's own thread, so it is pure and quick. `work` and `write` may raise both too, and Unavailable, which is tried
again; anything else that they raise is a bug and stops the worker.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sandcrawler.runtime.records import Message, Record

T = TypeVar("T")


@dataclass(frozen=True)
class Concurrent(Generic[T]):
    """Work that waits: `work(value)` gives the messages to publish, and `window` of them run at a time.

    All run in one asyncio loop in a thread of its own. `session` is entered in that loop before the first and left
    after the last, for what they share (an HTTP session). `work` bounds its own time.
    """

    decode: Callable[[Record], T]
    work: Callable[[T], Awaitable[Sequence[Message]]]
    window: int
    session: Callable[[], AbstractAsyncContextManager[Any]] = nullcontext


@dataclass(frozen=True)
class Batched(Generic[T]):
    """Effects that are cheaper together: `write(values)` gets up to `size` of them, none older than `seconds`.

    Runs in one thread of its own, one batch at a time, in the order of the records. Where it raises InvalidMessage
    nothing of the batch may be kept: the batch is halved until the culprit stands alone.
    """

    decode: Callable[[Record], T]
    write: Callable[[Sequence[T]], None]
    size: int
    seconds: float
