"""2,000 requests through the pipeline while workers are killed: is the end state that of a quiet run?

    python -m benchmarks.kills [--requests 2000] [--kills 4] [--seed N]

Two ingest workers and one of each persist worker, on a stack of their own. Prints one JSON line: requests, seconds of
both runs, kills, and whether rows, keys and bytes are equal (moments of capture aside).
"""

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import psycopg

from sandcrawler import stack
from sandcrawler.config import Config
from sandcrawler.demo.documents import requests
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.server import running
from tests.pipelines import Snapshot, pipeline, settled

WORKERS = ("ingest", "ingest", "persist-results", "persist-html-teixml")
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
PATIENCE = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--requests", type=int, default=2000, help="distinct links to the example site's documents")
    parser.add_argument("--kills", type=int, default=4, help="rounds; in each, one worker of each kind is killed")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    asked = list(islice(requests(options.requests), options.requests))
    log = Path(tempfile.mkdtemp(prefix="kills-")) / "workers.log"
    say(f"{len(asked)} requests; the workers' log: {log}")
    with stack.running() as addresses, running(distinct=True) as web:
        states: list[Snapshot] = []
        seconds: list[float] = []
        for kills in (0, options.kills):
            config = fresh(Config(**asdict(addresses), kafka_partitions=8), kills)
            with pipeline(config, web, log) as made:
                began = time.monotonic()
                made.start(*WORKERS)
                made.publish(asked)
                moments = random.Random(options.seed)
                due = sorted(moments.uniform(2, seconds[0] * 0.9) for _ in range(kills)) if kills else []
                for arrived in made.arrivals(asked, LONG_AGO, PATIENCE):
                    if due and time.monotonic() - began > due[0]:
                        due.pop(0)
                        strike(made, moments, arrived)
                seconds.append(time.monotonic() - began)
                states.append(settled(config))
    quiet, struck = states
    print(
        json.dumps(
            {
                "benchmark": "kills",
                "requests": len(asked),
                "seed": options.seed,
                "killed": options.kills * len(set(WORKERS)),
                "seconds_quiet": round(seconds[0], 1),
                "seconds_killed": round(seconds[1], 1),
                "rows": {name: len(rows) for name, rows in quiet.items() if isinstance(rows, set)},
                "objects": sum(isinstance(value, bytes) for value in quiet.values()),
                "equal": quiet == struck,
            }
        )
    )
    return 0 if quiet == struck else 1


def fresh(config: Config, kills: int) -> Config:
    """The same servers, with a database, a bucket and topics of their own."""
    name = f"kills{kills}"
    with psycopg.connect(config.postgres_url or "", autocommit=True) as database:
        database.execute(f"CREATE DATABASE {name}")
    url = (config.postgres_url or "").rpartition("/")[0] + f"/{name}"
    return config.model_copy(update={"postgres_url": url, "s3_bucket": name, "env": "prod" if kills else "qa"})


def strike(made: Pipeline, moments: random.Random, arrived: int) -> None:
    """Kill one worker of each kind and start it again."""
    for name in sorted(set(WORKERS), key=lambda _: moments.random()):
        say(f"{arrived} results: SIGKILL to {name}")
        made.kill(name)
        made.start(name)


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
