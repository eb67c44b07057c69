"""Look-ups in an index as large as the published one: building it, opening it, and finding rows. JSON lines.

    python -m benchmarks.lookup [--rows 17000]

Limits: build < 5 s, open < 50 ms, look-up < 1 ms. Exit code 1 where one of them is missed.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sandcrawler.sources.w3c.index import Index, Row, dump_rows
from sandcrawler.sources.w3c.lookup import find
from sandcrawler.sources.w3c.pubid import LEVELS, Pubid
from sandcrawler.sources.w3c.reference import read

LIMITS_MS = {"build": 5000.0, "open": 50.0, "lookup": 1.0}
LOOKUPS = 5000
# As published: one number in nine rows, the largest with a hundred.
LARGEST = 100


def rows(count: int) -> list[Row]:
    """Invented rows."""
    chance, made = random.Random(17), dict[str, Row]()
    kinds = list(LEVELS.values())
    number = 0
    while len(made) < count:
        number += 1
        name = f"format-{number}"
        made[name] = Row(Pubid("standard", name), f"data/{name}.yaml")
        for _ in range(LARGEST if number % 200 == 0 else chance.randrange(16)):
            day = f"{chance.randrange(1997, 2026)}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}"
            pubid = Pubid(chance.choice(kinds), name, day)
            made[str(pubid)] = Row(pubid, f"data/{str(pubid).lower().removeprefix('w3c ')}.yaml")
    return list(made.values())[:count]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds, and the result."""
    started = time.perf_counter()
    value = work()
    return (time.perf_counter() - started) * 1000, value


def look(index: Index, reference: str) -> Row | None:
    return find(index, read(reference))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=17_000)
    made = rows(options.parse_args().rows)
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder) / "index-v2.yaml", Path(folder) / "cache"
        path.write_text(dump_rows(made))
        figures = {"build": timed(lambda: Index.open(path, cache).close())[0]}
        figures["open"], index = timed(lambda: Index.open(path, cache))
        chance = random.Random(4)
        references = [str(row.pubid) for row in chance.choices(made, k=LOOKUPS)]
        # A quarter undated, a quarter in other letters, some misses.
        wanted = [
            (reference, reference.rpartition("-")[0] or reference, reference.swapcase(), reference + "x")[place % 4]
            for place, reference in enumerate(references)
        ]
        times = [timed(partial(look, index, reference))[0] for reference in wanted]
        index.close()
    # 99 of 100: the slowest few fall into another process's turn.
    figures["lookup"] = sorted(times)[-LOOKUPS // 100]
    for name, spent in figures.items():
        print(json.dumps({"what": name, "rows": len(made), "ms": round(spent, 3), "limit_ms": LIMITS_MS[name]}))
    print(json.dumps({"what": "lookup, median", "ms": round(statistics.median(times), 4)}))
    return int(any(spent > LIMITS_MS[name] for name, spent in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
