"""Records that cannot be used: how they are kept, and when there are too many of them.

A dead letter has the record's own key, value and headers, and headers that say where it came from and what was wrong,
named as Kafka Connect names them (KIP-298), so that tools which read its dead letters read ours.

What holds after a flood, when the worker has ended with TooManyDeadLetters (exit code 4):

- Nothing is lost: every record has had its effect, or is a dead letter, or is not committed.
- A restart goes on behind it: what was in flight is finished within `drain_seconds` and committed up to the record
  where the flood stopped, so the dead letters of this run do not come a second time, and the good records among them
  are done. (Only a record that takes longer than the drain, or a server that is away, holds the commit back; then
  they do come again: at least once, as everywhere.)
- Not one dead letter more than the limit is written, but for records that were in flight in front of others that are
  dead letters already: left out, they would hold these back for ever.
"""

import os
from collections import deque

from sandcrawler.errors import InvalidMessage
from sandcrawler.runtime.records import Message
from sandcrawler.runtime.window import Slot
from sandcrawler.runtime.worker import Worker

PREFIX = "__connect.errors."
# Our stages, in Kafka Connect's words.
STAGES = {"decode": "VALUE_CONVERTER", "work": "TRANSFORMATION", "write": "TASK_PUT", "publish": "KAFKA_PRODUCE"}
# Characters of the error's text: a message of megabytes must not come twice.
LONGEST_TEXT = 1600


def dead_letter(slot: Slot, error: InvalidMessage, worker: Worker) -> Message:
    """The dead letter of a record that this error stopped."""
    record = slot.record
    context = {
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "connector.name": worker.name,
        "task.id": str(os.getpid()),
        "stage": STAGES[slot.stage],
        "class.name": _name(worker.culprit(slot.stage)),
        "exception.class.name": _name(type(error)),
        "exception.message": str(error)[:LONGEST_TEXT],
    }
    headers = tuple((PREFIX + name, text.encode("utf-8", "replace")) for name, text in context.items())
    kept = tuple(header for header in record.headers if not header[0].startswith(PREFIX))
    return Message(worker.dead_letters, record.key, record.value, kept + headers)


def _name(thing: object) -> str:
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"


class Flood:
    """Watches the share of dead letters: `in_row` without a good record between, or `of_200` in the last 200.

    `full` says that the worker must stop.
    """

    def __init__(self, in_row: int, of_200: int) -> None:
        self._in_row = in_row
        self._of_200 = of_200
        self._row = 0
        self._last: deque[bool] = deque(maxlen=200)
        self._dead = 0
        self.full = False

    def count(self, dead: bool) -> None:
        """The next record in order was dead, or good. Once full it stays full: good records end no flood."""
        if self.full:
            return
        if len(self._last) == self._last.maxlen:
            self._dead -= self._last[0]
        self._last.append(dead)
        self._dead += dead
        self._row = self._row + 1 if dead else 0
        self.full = self._row >= self._in_row or self._dead >= self._of_200

    def __str__(self) -> str:
        return f"{self._row} in a row, {self._dead} of the last {len(self._last)}"
