"""A member of a consumer group.

A consumer must go on polling while its window is full, but a poll gives records. So while the limit is 0 the client is
asked only now and then, for one record, which is kept in `_ahead` for later: that serves the callbacks too, since
librdkafka puts rebalances before the messages it has fetched. Only when `_ahead` has grown all the same are the
partitions paused; what librdkafka had fetched for a paused partition is fetched again, so that is the last resort.

Who reads several topics reads them because their keys belong together: one host's requests, whatever their queue. So
the same partition of each is with the same member (`MEMBERSHIP`).
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from sandcrawler.errors import Unavailable
from sandcrawler.kafka.client import FORBIDDEN, MISSING, OPEN_SECONDS, Setting, check, common, raised, spelled
from sandcrawler.kafka.notes import Notes
from sandcrawler.runtime.records import Partition, Record

log = structlog.get_logger()

# A member that does not poll for this long loses its partitions; 0.2 of it is left to a flush at a rebalance.
MAX_POLL_MILLISECONDS = 300_000
SESSION_MILLISECONDS = 15_000
# How a group shares its partitions, by whether it reads several topics. The brokers' own `range` (Kafka 4) gives a
# member the same partitions of every topic, and moves those alone that must move; the client's would stop all at each
# change, and `cooperative-sticky` knows no such tie. Its session is the brokers' (group.consumer.session.timeout.ms).
MEMBERSHIP: Mapping[bool, Mapping[str, Setting]] = {
    False: {
        "partition.assignment.strategy": "cooperative-sticky",
        # Short, as librdkafka's own thread keeps the session: what a killed worker had is free soon.
        "session.timeout.ms": SESSION_MILLISECONDS,
    },
    True: {"group.protocol": "consumer", "group.remote.assignor": "range"},
}
# Seconds of silence from all brokers until the worker is told.
DOWN_SECONDS = 120.0
# Seconds between two questions whether they are back, and for the answer.
PROBE_EVERY, PROBE_SECONDS = 5.0, 0.5
# Seconds between two looks while the window is full; records, and bytes, kept ahead before the partitions are paused.
LOOK_EVERY = 0.5
AHEAD, AHEAD_BYTES = 200, 32 << 20

# A commit that is answered so came too late: the partition has another owner, or none.
GONE = {
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.FENCED_MEMBER_EPOCH,
    KafkaError.STALE_MEMBER_EPOCH,
    KafkaError._ASSIGNMENT_LOST,  # noqa: SLF001  (that is how the library spells its local codes)
    KafkaError._STATE,  # noqa: SLF001
    KafkaError._NO_OFFSET,  # noqa: SLF001
}

Callback = Callable[[AbstractSet[Partition]], None]


def _nothing(_partitions: AbstractSet[Partition]) -> None:
    pass


class KafkaConsumer:
    """See `sandcrawler.runtime.Consumer`."""

    def __init__(
        self, brokers: str, group: str, topics: Sequence[str], message_bytes: int, settings: Mapping[str, Setting]
    ) -> None:
        self._brokers = brokers
        self._log = log.bind(group=group)
        self._on_revoked: Callback = _nothing
        self._on_lost: Callback = _nothing
        self._held: set[Partition] = set()
        self._ahead: deque[Record] = deque()
        self._paused = False
        self._looked = 0.0
        self._notes = Notes(group)
        self._probed = 0.0
        self._client = Consumer(
            {
                **common(brokers, message_bytes, self._notes),
                "group.id": group,
                "enable.auto.commit": False,
                # A new group starts at the beginning: nothing that was asked for is skipped.
                "auto.offset.reset": "earliest",
                "max.poll.interval.ms": MAX_POLL_MILLISECONDS,
                # Few messages are fetched ahead, so the fetcher must not rest for its usual second once it has them.
                "queued.min.messages": 10_000,
                "fetch.queue.backoff.ms": 20,
                "queued.max.messages.kbytes": max(65_536, 2 * message_bytes >> 10),
                "fetch.wait.max.ms": 100,
                **MEMBERSHIP[len(topics) > 1],
                **spelled(settings),
            }
        )
        try:
            check(self._client, brokers, topics)
            self._client.subscribe(list(topics), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
        except BaseException:
            self._client.close()
            raise

    def listen(self, on_revoked: Callback, on_lost: Callback) -> None:
        """See `Consumer.listen`."""
        self._on_revoked, self._on_lost = on_revoked, on_lost

    # ── records ──────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, limit: int, seconds: float) -> list[Record]:
        """See `Consumer.poll`."""
        self._check_down()
        if limit == 0:
            self._look()
            return []
        if self._ahead:
            self._ahead.extend(self._consume(1, 0.0))  # serves the callbacks, which may take some of them away
            records = [self._ahead.popleft() for _ in range(min(limit, len(self._ahead)))]
        else:
            # `consume` would wait the whole time for a full batch: wait for one, take what else is there.
            records = self._consume(limit, 0.0) or self._consume(1, seconds)
        if self._paused and len(self._ahead) < AHEAD // 2:
            self._pause(False)
        return records

    def _look(self) -> None:
        """Serves the callbacks while no record is wanted."""
        if time.monotonic() - self._looked < LOOK_EVERY:
            return
        self._ahead.extend(self._consume(1, 0.0))
        if not self._paused and self._enough():
            self._pause(True)

    def _enough(self) -> bool:
        return len(self._ahead) >= AHEAD or sum(len(record.value or b"") for record in self._ahead) >= AHEAD_BYTES

    def _consume(self, limit: int, seconds: float) -> list[Record]:
        answers = self._client.consume(limit, seconds)
        self._looked = time.monotonic()
        records = [record for answer in answers if (record := self._record(answer)) is not None]
        if records:
            self._notes.answered()
        return records

    def _record(self, answer: Any) -> Record | None:  # Any: the stubs allow None where an answer without error has none
        if (error := answer.error()) is not None:
            self._judge(error, answer.topic())
            return None
        if (answer.topic(), answer.partition()) not in self._held:
            return None  # taken away while this batch was being gathered
        return record_of(answer)

    def _judge(self, error: KafkaError, topic: str | None) -> None:
        if error.code() in MISSING | FORBIDDEN:
            raise raised(error, topic)
        self._notes.error(error)

    def _pause(self, wanted: bool) -> None:
        parts = [TopicPartition(*part) for part in self._held]
        (self._client.pause if wanted else self._client.resume)(parts)
        self._paused = wanted

    # ── offsets ──────────────────────────────────────────────────────────────────────────────────────────────────

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """See `Consumer.commit`."""
        wanted = [TopicPartition(*part, offset) for part, offset in offsets.items() if part in self._held]
        if not wanted:
            return
        try:
            answers = self._client.commit(offsets=wanted, asynchronous=False) or []
            errors = [answer.error for answer in answers if answer.error is not None]
        except KafkaException as exception:
            errors = [exception.args[0]]
        for error in errors:
            if error.code() not in GONE:
                raise raised(error, wanted[0].topic)
            self._log.warning("late commit ignored", error=error.str())
        self._notes.answered()

    def lag(self) -> Mapping[Partition, int]:
        """See `Consumer.lag`."""
        ahead = Counter((record.topic, record.partition) for record in self._ahead)
        lags = {}
        for position in self._client.position([TopicPartition(*part) for part in self._held]):
            part = (position.topic, position.partition)
            marks = self._client.get_watermark_offsets(TopicPartition(*part), cached=True)
            if position.offset >= 0 and marks is not None and marks[1] >= 0:
                lags[part] = max(0, marks[1] - position.offset) + ahead[part]
        return lags

    # ── partitions ───────────────────────────────────────────────────────────────────────────────────────────────

    def _assigned(self, _client: Consumer, parts: list[TopicPartition]) -> None:
        taken = _partitions(parts)
        self._log.info("assigned", partitions=len(taken))
        self._client.incremental_assign(parts)
        self._held |= taken
        if self._paused:
            self._client.pause(parts)

    def _revoked(self, _client: Consumer, parts: list[TopicPartition]) -> None:
        taken = _partitions(parts)
        self._drop(taken)
        self._on_revoked(taken)
        self._held -= taken
        self._client.incremental_unassign(parts)

    def _lost(self, _client: Consumer, parts: list[TopicPartition]) -> None:
        taken = _partitions(parts)
        self._drop(taken)
        self._held -= taken
        self._on_lost(taken)

    def _drop(self, taken: AbstractSet[Partition]) -> None:
        self._ahead = deque(record for record in self._ahead if (record.topic, record.partition) not in taken)

    # ── the broker's absence ─────────────────────────────────────────────────────────────────────────────────────

    def _check_down(self) -> None:
        """A look now and then while the brokers are down; Unavailable once they have been for long enough."""
        down_since, now = self._notes.down_since, time.monotonic()
        if down_since is None or now - self._probed < PROBE_EVERY:
            return
        self._probed = now
        patient = now - down_since <= DOWN_SECONDS
        try:
            check(self._client, self._brokers, seconds=PROBE_SECONDS if patient else OPEN_SECONDS)
        except Unavailable:
            if not patient:
                raise
        else:
            self._notes.answered()

    def close(self) -> None:
        """See `Consumer.close`."""
        self._client.close()


def record_of(answer: Any) -> Record:  # Any: as above
    """A message without error, as the runtime knows it."""
    kind, milliseconds = answer.timestamp()
    headers = answer.headers()
    return Record(
        answer.topic(),
        answer.partition(),
        answer.offset(),
        answer.key(),
        answer.value(),
        tuple((name, value or b"") for name, value in headers) if headers else (),
        milliseconds / 1000 if kind else None,
    )


def _partitions(parts: Sequence[TopicPartition]) -> set[Partition]:
    return {(part.topic, part.partition) for part in parts}
