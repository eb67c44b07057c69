"""A pipeline's workers as processes of their own, as an operator runs them: started, killed, started again, stopped.

The demo, the fault tests and the benchmarks drive the pipeline with it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import psycopg

from sandcrawler.config import PREFIX, Config
from sandcrawler.errors import Unavailable
from sandcrawler.kafka import open_producer
from sandcrawler.names import REQUEST_TOPICS, request_key
from sandcrawler.runtime import Message
from sandcrawler.wire import encode

Worker = subprocess.Popen[bytes]

# The settings that lead a worker to the servers, and to its own environment's names there.
PASSED_ON = ("env", "kafka_brokers", "kafka_partitions", "postgres_url", "s3_url", "s3_access_key", "s3_bucket")

ARRIVED = """
SELECT count(*) FROM ingest_file_result
WHERE (ingest_type, base_url) IN (SELECT * FROM unnest(%s::text[], %s::text[])) AND updated >= %s
"""


class Pipeline:
    """Workers on these servers. `settings`: more environment variables for the workers; `log`: where they write."""

    def __init__(self, config: Config, settings: Mapping[str, str], log: Path) -> None:
        self.config, self.log = config, log
        self.environment = {
            **os.environ,
            **{f"{PREFIX}{name.upper()}": str(getattr(config, name)) for name in PASSED_ON},
            f"{PREFIX}S3_SECRET_KEY": config.s3_secret_key.get_secret_value(),
            **settings,
        }
        self.workers: list[tuple[str, Worker]] = []
        log.parent.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, *names: str) -> None:
        """Start a worker for each name; a name given twice runs twice."""
        with self.log.open("ab") as output:
            for name in names:
                # A session of its own: Ctrl-C is for whoever drives the pipeline, who then stops it in order.
                worker = subprocess.Popen(
                    [sys.executable, "-m", "sandcrawler", "run", name],
                    env=self.environment,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
                self.workers.append((name, worker))

    def kill(self, name: str) -> None:
        """SIGKILL one worker of this name, children and all: what a machine that loses power does."""
        found = next(each for each in self.workers if each[0] == name)
        self.workers.remove(found)
        os.killpg(found[1].pid, signal.SIGKILL)
        found[1].wait()

    def stop(self) -> list[int]:
        """Ask every worker to finish, and wait for it; their exit codes."""
        for _, worker in self.workers:
            worker.terminate()
        codes = [worker.wait(timeout=self.config.drain_seconds + 30) for _, worker in self.workers]
        self.workers.clear()
        return codes

    def check(self) -> None:
        """Unavailable when a worker has ended by itself."""
        for name, worker in self.workers:
            if worker.poll() is not None:
                raise Unavailable(f"{name} has ended with exit code {worker.returncode}; {self.log} says why")

    def publish(self, requests: Iterable[Mapping[str, Any]], queue: str = "daily") -> None:
        """Requests into their topic."""
        producer, topic = open_producer(self.config), REQUEST_TOPICS[queue].named(self.config.env)
        producer.publish([Message(topic, request_key(one["base_url"]), encode(dict(one))) for one in requests])
        producer.close()

    def arrivals(self, asked: Sequence[Mapping[str, Any]], since: datetime, seconds: float) -> Iterator[int]:
        """How many of these requests have a result's row from since then, again and again until all have.

        Unavailable after `seconds` in which none came, or when a worker has ended.
        """
        keys = [[one["ingest_type"] for one in asked], [one["base_url"] for one in asked]]
        with psycopg.connect(self.config.postgres_url or "", autocommit=True) as database:
            last, patience = -1, time.monotonic() + seconds
            while last < len(asked):
                row = database.execute(ARRIVED, (*keys, since)).fetchone()
                arrived = row[0] if row else 0
                yield arrived
                if arrived > last:
                    last, patience = arrived, time.monotonic() + seconds
                if time.monotonic() > patience:
                    raise Unavailable(f"{arrived} of {len(asked)} results, and none for {seconds:g} s; see {self.log}")
                self.check()
                time.sleep(0.1)
