"""`fetch`: the whole harvest into a folder, with prune and ledger as asked, and what came of it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandcrawler.errors import Unavailable
from sandcrawler.fetch.pacing import Pacer
from sandcrawler.sources.failures import HttpError
from sandcrawler.sources.w3c.api import Api
from sandcrawler.sources.w3c.bibliography import client
from sandcrawler.sources.w3c.crawl import Crawl, Progress, unseen
from sandcrawler.sources.w3c.keep import Form, Keeper
from sandcrawler.sources.w3c.settings import Settings, settings
from sandcrawler.sources.w3c.stop import Stop


@dataclass(frozen=True, slots=True)
class Harvest:
    """What came of a harvest: counts, the report's messages, the files that were pruned, whether it was cut short."""

    counts: Mapping[str, int]
    messages: tuple[str, ...]
    pruned: tuple[Path, ...]
    interrupted: bool


def fetch(  # noqa: PLR0913  (the options of the command)
    output: Path,
    form: Form = "yaml",
    *,
    prune: bool = False,
    ledger: bool = False,
    chosen: Settings | None = None,
    progress: Progress = unseen,
) -> Harvest:
    """Harvest the W3C's publications into a folder: records, index-v2.yaml, errors.json, and the ledger if asked.

    CrawlIncomplete where the data set would be truncated; Unavailable where the API cannot be reached or the folder
    takes no more: records may have been written then, but index, ledger and old files are as they were. An interrupted
    harvest saves index and ledger, and prunes nothing.
    """
    chosen = chosen or settings(os.environ)
    stop = Stop()
    asking = client(Pacer(chosen.gap, sleeper=stop.sleep), stop.sleep)
    try:
        keeper = Keeper(output, form, ledger)
    except OSError as error:
        raise Unavailable(f"{output} cannot be written: {error.strerror or error}") from error
    crawl = Crawl(Api(asking, chosen.api), keeper, chosen, stop=stop, progress=progress)
    try:
        crawl.run()
        pruned = keeper.prune() if prune and not stop.interrupted else []
        keeper.save_index()
        keeper.ledger.save(partial=stop.interrupted)
        messages = keeper.save_report()
    except HttpError as error:
        raise Unavailable(f"the API of the W3C cannot be read: {error}") from error
    except OSError as error:
        raise Unavailable(f"{output} cannot be written: {error.strerror or error}") from error
    return Harvest(dict(keeper.counts), tuple(messages), tuple(pruned), stop.interrupted)
