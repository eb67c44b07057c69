"""What the hands do with slots: write a batch, publish messages; patiently, while a server is away."""

import threading
from collections.abc import Callable, Sequence

import structlog

from sandcrawler.errors import InvalidMessage, SkippedMessage, Unavailable
from sandcrawler.runtime.backoff import Backoff, retry
from sandcrawler.runtime.counts import Tally
from sandcrawler.runtime.records import MessageTooLarge, Producer
from sandcrawler.runtime.steps import Batched
from sandcrawler.runtime.window import Slot

log = structlog.get_logger()


class Patience:
    """Tries again while a server is Unavailable, as long as the back-off allows and the worker lives."""

    def __init__(self, worker: str, backoff: Backoff, tally: Tally) -> None:
        self.over = threading.Event()
        self.backoff = backoff
        self._log = log.bind(worker=worker)
        self._tally = tally

    def __call__(self, call: Callable[[], None]) -> None:
        """Calls, again and again; raises the last Unavailable."""
        retry(call, self.backoff.waits(), self.over.wait, self.note)

    def note(self, error: Unavailable) -> None:
        """Another try follows."""
        self._log.warning("unavailable, trying again", error=str(error))
        self._tally.retried()


def writing(step: Batched[object], patience: Patience) -> Callable[[Sequence[Slot]], None]:
    """The handler of batches: where a batch is refused each half by itself, down to the culprits."""

    def write(slots: Sequence[Slot]) -> None:
        values = [slot.value for slot in slots]
        try:
            patience(lambda: step.write(values))
        except (InvalidMessage, SkippedMessage) as error:
            if len(slots) == 1:
                slots[0].error = error
                return
            middle = len(slots) // 2
            write(slots[:middle])
            write(slots[middle:])

    return write


def publishing(producer: Producer, patience: Patience, tally: Tally) -> Callable[[Sequence[Slot]], None]:
    """The handler of slots with messages: `published` where all of a slot's messages were acknowledged."""

    def publish(slots: Sequence[Slot]) -> None:
        messages = [message for slot in slots for message in slot.messages]
        refused: set[int] = set()
        try:
            patience(lambda: producer.publish(messages))
        except MessageTooLarge as error:
            refused.update(map(id, error.messages))
        for slot in slots:
            if mine := [message for message in slot.messages if id(message) in refused]:
                slot.error = MessageTooLarge(mine)
            else:
                slot.published = True
        tally.published(len(messages) - len(refused))

    return publish
