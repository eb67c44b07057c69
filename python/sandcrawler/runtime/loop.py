"""The story of a worker, told once for all of them.

    poll ─► take (decode) ─► hands (work or write) ─► settle ─► publish ─► settle ─► commit

The loop's own thread polls, accounts and commits; it never waits for work, so the worker keeps its partitions
however slow a page or a server is. Work runs in one thread of `hands`, publishing in another. What ends the story:

    stop is set               finish what is in flight within `drain_seconds`, commit, return
    a flood of dead letters   the same up to where it stopped (see `deadletters`), then raise TooManyDeadLetters
    Unavailable for too long, or a bug   raise at once; nothing unfinished is committed
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict

import structlog

from sandcrawler.errors import InvalidMessage, SandcrawlerError, SkippedMessage, TooManyDeadLetters, Unavailable
from sandcrawler.runtime.commits import Commits
from sandcrawler.runtime.counts import Counts, Tally
from sandcrawler.runtime.deadletters import Flood, dead_letter
from sandcrawler.runtime.effects import Patience, publishing, writing
from sandcrawler.runtime.hands import Batches, Coroutines, Hands
from sandcrawler.runtime.records import Partition
from sandcrawler.runtime.steps import Concurrent
from sandcrawler.runtime.supervisor import Supervisor
from sandcrawler.runtime.window import Slot, Window
from sandcrawler.runtime.worker import Worker

log = structlog.get_logger()

# Seconds: the longest poll with nothing in flight, with something in flight, and between two looks at the lag.
IDLE_POLL, BUSY_POLL, LAG_EVERY = 0.25, 0.02, 5.0
# Seconds between two lines in the log on how it goes.
TELL_EVERY = 60.0
# Slots whose messages are published together.
PUBLISHED_TOGETHER = 1000


def run(worker: Worker, stop: threading.Event) -> Counts:
    """Runs the worker until `stop` is set, then drains it; closes its consumer and producer whatever happens.

    Raises TooManyDeadLetters, Unavailable (a server stayed away too long), or what a bug in the step raised.
    """
    try:
        loop = Loop(worker, stop)
    except BaseException:  # a session that cannot be opened
        worker.consumer.close()
        worker.producer.close()
        raise
    return loop.run()


class Loop:
    """One run of one worker. `hands` and `publisher` may be given by tests that decide what finishes when."""

    def __init__(
        self, worker: Worker, stop: threading.Event, hands: Hands | None = None, publisher: Hands | None = None
    ) -> None:
        self.window = Window()
        self.tally = Tally(worker.name)
        self._worker, self._limits, self._stop = worker, worker.limits, stop
        self._log = log.bind(worker=worker.name)
        self._returned: deque[Slot] = deque()
        self._bell = threading.Event()
        self._patience = Patience(worker.name, worker.limits.backoff, self.tally)
        self._commits = Commits(worker.consumer, self.window, self._patience, worker.limits.commit_seconds)
        self._outgoing: list[Slot] = []
        self._finished: list[Slot] = []
        # Two gates, since decoding and working see the records in two orders.
        self._decoding = Flood(self._limits.dead_letters_in_row, self._limits.dead_letters_of_200)
        self._working = Flood(self._limits.dead_letters_in_row, self._limits.dead_letters_of_200)
        self._deadline = float("inf")
        self._lag_due = 0.0
        self._told, self._told_due = self.tally.counts(), time.monotonic() + TELL_EVERY
        self._supervisor = Supervisor()
        self._hands = hands or self._make_hands()
        self._publisher = publisher or self._make_publisher()
        worker.consumer.listen(self._on_revoked, self._on_lost)

    def _make_hands(self) -> Hands:
        name, step = self._worker.name, self._worker.step
        if isinstance(step, Concurrent):
            return Coroutines(name, step, self._patience, self.give_back)
        return Batches(name, writing(step, self._patience), step.size, step.seconds, self.give_back)

    def _make_publisher(self) -> Hands:
        publish = publishing(self._worker.producer, self._patience, self.tally)
        return Batches(f"{self._worker.name}-publish", publish, PUBLISHED_TOGETHER, 0.0, self.give_back)

    # ── the story ────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self) -> Counts:
        """See the function `run`."""
        self._log.info("started")
        try:
            while not self._stop.is_set() and not self._flooded:
                self.turn()
                self._supervisor.polled()
            self._supervisor.stopping()
            self._drain()
        finally:
            self.close()
        if self._flooded:
            raise TooManyDeadLetters(
                f"{self._worker.name}: too many dead letters (decode: {self._decoding}; {self._worker.stage}: "
                f"{self._working}). They are in {self._worker.dead_letters}; what follows them is not committed."
            )
        self._log.info("stopped", **asdict(self.tally.counts()))
        return self.tally.counts()

    def turn(self) -> None:
        """Once around: poll, take, settle, commit."""
        window = self.window
        room = min(self._worker.room - window.in_flight, self._limits.waiting - window.waiting)
        if window.bytes >= self._limits.bytes_in_flight:
            room = 0
        if room > 0:
            self._take(room, BUSY_POLL if window.in_flight or window.ready else IDLE_POLL)
        else:
            self._take(0, 0.0)
            self._bell.wait(BUSY_POLL)
        self._settle()
        self._commits.when_due()
        self._observe()

    def _drain(self) -> None:
        """Finishes what is in flight, within bounds; the membership is kept meanwhile."""
        self._deadline = time.monotonic() + self._limits.drain_seconds
        self._commits.hurry()
        self._hands.flush()
        self._settle()
        while (self.window.unfinished() or self.window.ready) and time.monotonic() < self._deadline:
            self._take(0, 0.0)
            self._settle()
            self._commits.when_due()
            if self.window.unfinished() or self.window.ready:
                self._bell.wait(BUSY_POLL)
        self._commits.now()
        if left := self.window.unfinished():
            self._log.warning("left for the next worker", records=left)

    def close(self) -> None:
        """Forgets what is unfinished, and closes everything."""
        self.window.forget()
        self._patience.over.set()
        for part in (self._hands, self._publisher, self._worker.consumer, self._worker.producer):
            part.close()
        self.tally.in_flight(self.window.in_flight)

    # ── from poll to publish ─────────────────────────────────────────────────────────────────────────────────────

    def _take(self, limit: int, seconds: float) -> None:
        """Polls, decodes, and hands over what can be worked on."""
        decode, slots = self._worker.step.decode, []
        for record in self._worker.consumer.poll(limit, seconds):
            if self._flooded:
                break  # the rest of the poll is in no line, so no commit passes it
            slot = self.window.take(record)
            try:
                slot.value = decode(record)
            except (InvalidMessage, SkippedMessage) as error:
                slot.error = error
                self._judge(slot)
            else:
                self._decoding.count(False)
                slot.stage = self._worker.stage
                slots.append(slot)
        if slots:
            self._hands.submit(slots)

    def give_back(self, slots: Sequence[Slot]) -> None:
        """Called by the hands: these were worked on, or published."""
        self._returned.extend(slots)
        if not self._bell.is_set():
            self._bell.set()

    def _settle(self) -> None:
        """Sends what the hands gave back on its way: to the publisher, or out of the window."""
        self._bell.clear()
        while self._returned:
            slot = self._returned.popleft()
            if slot.forgotten:
                slot.fate = "forgotten"  # whatever became of it: its partition's next owner does it again
                self._finished.append(slot)
            elif slot.error is not None:
                self._judge(slot)
            elif slot.published:
                self._finished.append(slot)
            else:
                self._working.count(False)
                (self._outgoing if slot.messages else self._finished).append(slot)
        if self._outgoing:
            outgoing, self._outgoing = self._outgoing, []
            for slot in outgoing:
                slot.stage = "publish"
            self._publisher.submit(outgoing)
        if self._finished:
            finished, self._finished = self._finished, []
            self.window.finish(finished)
            for fate, number in Counter(slot.fate for slot in finished).items():
                self.tally.fate(fate, number)

    def _judge(self, slot: Slot) -> None:
        """Three failures, three fates: nothing to do is counted, the message's fault is kept, the rest is raised."""
        error, slot.error = slot.error, None
        match error:
            case SkippedMessage(reason=reason):
                slot.fate = f"skipped-{reason}"
                self._finished.append(slot)
            case InvalidMessage() if slot.fate == "dead-letter":
                raise SandcrawlerError(f"a dead letter cannot be published: {error}") from error
            case InvalidMessage():
                if self._flooded and not any(later.fate == "dead-letter" for later in self.window.behind(slot)):
                    # The flood stopped in front of it: neither it nor what follows is committed.
                    self.window.cut(slot)
                    slot.fate = "forgotten"
                    self._finished.append(slot)
                    return
                (self._decoding if slot.stage == "decode" else self._working).count(True)
                self._log.warning("dead letter", topic=slot.record.topic, offset=slot.record.offset, error=str(error))
                slot.messages = (dead_letter(slot, error, self._worker),)
                slot.fate = "dead-letter"
                self._outgoing.append(slot)
            case BaseException():
                raise error

    @property
    def _flooded(self) -> bool:
        return self._decoding.full or self._working.full

    # ── offsets and partitions ───────────────────────────────────────────────────────────────────────────────────

    def _on_revoked(self, partitions: AbstractSet[Partition]) -> None:
        """The partitions go to another worker: finish, commit, forget the rest."""
        deadline = min(time.monotonic() + self._limits.revoke_seconds, self._deadline)
        self._hands.flush()
        self._settle()
        while self.window.unfinished(partitions) and time.monotonic() < deadline:
            self._bell.wait(BUSY_POLL)
            self._settle()
        try:
            self._commits.now()
        except Unavailable as error:
            self._log.warning("not committed, will be done again", error=str(error))
        self._log.info("revoked", partitions=len(partitions), unfinished=self.window.unfinished(partitions))
        self.window.forget(partitions)

    def _on_lost(self, partitions: AbstractSet[Partition]) -> None:
        """The partitions are another worker's already: forget them."""
        self._log.warning("lost", partitions=len(partitions), unfinished=self.window.unfinished(partitions))
        self.window.forget(partitions)

    def _observe(self) -> None:
        self.tally.in_flight(self.window.in_flight)
        if (now := time.monotonic()) >= self._lag_due:
            self._lag_due = now + LAG_EVERY
            self.tally.lag(self._worker.consumer.lag())
            counts = self.tally.counts()
            self._supervisor.observe(counts)
            self._tell(counts, now)

    def _tell(self, counts: Counts, now: float) -> None:
        """A line in the log, where anything was done since the last."""
        if now >= self._told_due and counts != self._told:
            self._told, self._told_due = counts, now + TELL_EVERY
            self._log.info("so far", **asdict(counts))
