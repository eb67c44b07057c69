"""Doing things again: dead letters back to where they came from, and requests whose status says that it may help.

Nothing is lost by asking twice: every effect of a request or message is idempotent.
"""

import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.kafka import open_consumer, open_producer, scan, unread
from sandcrawler.names import REPLAYED, REQUEST_TOPICS, Topic, request_key
from sandcrawler.persist.database import reading, stream
from sandcrawler.runtime import Message, Record
from sandcrawler.status import Status
from sandcrawler.wire import encode

BATCH = 500
# The group that remembers what was sent back.
REPLAY = "dead-letters-replay"
# Seconds that another replay gets to end or, if it was killed, to be given up by the broker (15 s); and between two
# looks whether it has done our work.
OTHERS_SECONDS, LOOK_EVERY = 30.0, 2.0
HEADER = "__connect.errors."
MARK = ((REPLAYED, b"1"),)
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

FAILED = """
SELECT r.ingest_type, r.base_url, q.request
FROM ingest_file_result r
LEFT JOIN LATERAL (
    SELECT request FROM ingest_request q
    WHERE q.ingest_type = r.ingest_type AND q.base_url = r.base_url ORDER BY created DESC LIMIT 1
) q ON true
WHERE r.status = %(status)s AND r.updated < now() - %(older_than)s
"""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that could not be used: where it was, who met it, what was wrong, and its own bytes."""

    topic: str
    partition: int
    offset: int
    worker: str
    error: str
    key: bytes | None
    value: bytes | None


def dead_letters(config: Config) -> Iterator[DeadLetter]:
    """Every dead letter that is kept, from the oldest."""
    yield from map(_letter, scan(config, Topic.DEAD_LETTERS.named(config.env)))


def replay(config: Config) -> int:
    """Publish the dead letters that came since the last replay to their topics; how many.

    Raises Unavailable when another replay keeps them.
    """
    count = 0
    with closing(open_producer(config)) as producer:
        for records in _batches(config):
            letters = list(map(_letter, records))
            producer.publish([Message(one.topic, one.key, one.value, MARK) for one in letters if one.topic])
            count += len(letters)
    return count


def failed(config: Config, status: Status, older_than: timedelta) -> Generator[dict[str, Any]]:
    """The requests that ended with this status before then, each as it was last made. Streams, of any number."""
    with reading(config.postgres_url) as database:
        for row in stream(database, FAILED.encode(), {"status": status.value, "older_than": older_than}):
            yield row["request"] or {"ingest_type": row["ingest_type"], "base_url": row["base_url"]}


def requeue(config: Config, status: Status, older_than: timedelta, queue: str) -> int:
    """Publish again the requests that `failed` names; how many."""
    topic, producer, count = REQUEST_TOPICS[queue].named(config.env), open_producer(config), 0
    with closing(producer), closing(failed(config, status, older_than)) as requests:
        while batch := list(islice(requests, BATCH)):
            producer.publish([Message(topic, request_key(one["base_url"]), encode(one)) for one in batch])
            count += len(batch)
    return count


def age(text: str) -> timedelta:
    """`90m`, `12h`, `7d` or `4w` as a time."""
    match = re.fullmatch(r"(\d{1,5})([mhdw])", text.strip())
    if match is None:
        raise ConfigurationError(f"{text!r} is no age: write 90m, 12h, 7d or 4w")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def _letter(record: Record) -> DeadLetter:
    said = {name.removeprefix(HEADER): value.decode("utf-8", "replace") for name, value in record.headers}
    return DeadLetter(
        topic=said.get("topic", ""),
        partition=_number(said.get("partition", "")),
        offset=_number(said.get("offset", "")),
        worker=said.get("connector.name", ""),
        error=said.get("exception.message", ""),
        key=record.key,
        value=record.value,
    )


def _number(text: str) -> int:
    """A header's number; -1 where there is none, since others may write to the topic too."""
    return int(text) if re.fullmatch(r"[0-9]{1,19}", text) else -1


def _batches(config: Config) -> Iterator[Sequence[Record]]:
    """The dead letters that no replay has sent back, in batches; each is committed after it was used.

    The end is where the topic ends now and the group has committed, never a silence: while another member has the
    partitions, as one that was killed has for a while, a poll says nothing.
    """
    topic = Topic.DEAD_LETTERS.named(config.env)
    ends = unread(config, REPLAY, topic)
    if not ends:
        return
    with closing(open_consumer(config, REPLAY, [topic])) as consumer:
        patience, look = time.monotonic() + OTHERS_SECONDS, time.monotonic() + LOOK_EVERY
        while ends:
            if records := consumer.poll(BATCH, 0.2):
                yield records
                done = {(record.topic, record.partition): record.offset + 1 for record in records}
                consumer.commit(done)
                ends = {part: end for part, end in ends.items() if done.get(part, 0) < end}
                patience, look = time.monotonic() + OTHERS_SECONDS, time.monotonic() + LOOK_EVERY
            elif time.monotonic() > patience:
                raise Unavailable(
                    f"dead letters wait in {topic}, but another `dead-letters replay` holds them: "
                    "let it end, or try again in a minute if it was killed"
                )
            elif time.monotonic() > look:
                left = unread(config, REPLAY, topic)
                ends = {part: end for part, end in ends.items() if part in left}
                look = time.monotonic() + LOOK_EVERY
