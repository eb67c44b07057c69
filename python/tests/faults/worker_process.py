"""A worker in a process of its own, to be signalled and killed by tests.

    python worker_process.py BROKERS GROUP_SUFFIX KIND IN OUT DEAD FILE SECONDS

KIND concurrent: each record's value goes to the topic OUT after SECONDS. KIND batched: each value becomes a line of
FILE, a batch takes SECONDS. Prints a line when it starts and one when it has work, and exits as `sandcrawler run` does.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sandcrawler.config import Config
from sandcrawler.kafka import open_consumer, open_producer
from sandcrawler.runtime import Batched, Concurrent, Limits, Message, Record, Worker, run, stop_on_signals


def main(words: Sequence[str]) -> None:
    brokers, suffix, kind, source, out, dead, file, pause = words
    seconds = float(pause)
    polled: list[int] = []

    def decode(record: Record) -> bytes:
        if not polled:
            print("working", flush=True)
            polled.append(record.offset)
        return record.value or b""

    async def work(value: bytes) -> Sequence[Message]:
        await asyncio.sleep(seconds)
        return [Message(out, value, value)]

    def write(values: Sequence[bytes]) -> None:
        with Path(file).open("ab") as lines:
            for value in values:
                lines.write(value + b"\n")
                lines.flush()
                time.sleep(seconds / len(values))

    step = Concurrent(decode, work, 16) if kind == "concurrent" else Batched(decode, write, 50, 0.1)
    config = Config(kafka_brokers=brokers, kafka_group_suffix=suffix)
    stop = stop_on_signals()
    consumer = open_consumer(config, "faults", [source], heartbeat_interval_ms=300, session_timeout_ms=3000)
    worker = Worker("faults", consumer, open_producer(config), step, dead, Limits(drain_seconds=10, commit_seconds=0.1))
    print("running", flush=True)
    run(worker, stop)


if __name__ == "__main__":
    main(sys.argv[1:])
