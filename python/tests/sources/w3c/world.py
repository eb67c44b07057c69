"""Invented publications for the tests, and a harvest of them that needs no time."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandcrawler.demo.w3c.api import Person, Specification, Version, answers
from sandcrawler.sources.http import Client
from sandcrawler.sources.w3c.api import Api
from sandcrawler.sources.w3c.crawl import Crawl
from sandcrawler.sources.w3c.keep import Form, Keeper
from sandcrawler.sources.w3c.settings import Settings, W3cGovernor

PEOPLE = (
    Person(key="ada", given="Ada", family="Fernhill"),
    Person(key="bo", given="Bo", family="Marsh"),
    Person(key="gone", given="Cy", family="Left", gone=True),
)
LEVELS = (("WD", "Working Draft"), ("CR", "Candidate Recommendation Snapshot"), ("REC", "Recommendation"))


def specification(name: str, versions: int = 3, editors: tuple[str, ...] = ("ada", "bo")) -> Specification:
    made = []
    for number in range(versions):
        level, status = LEVELS[min(number * len(LEVELS) // versions, 2)]
        date = f"{2001 + number // 12}-{number % 12 + 1:02}-15"
        made.append(Version(date=date, level=level, status=status, editors=editors, groups=("Tidal Data Group",)))
    return Specification(name=name, title=f"The {name} format", versions=tuple(made))


def world(names: int = 4, versions: int = 3, page_size: int = 2, list_size: int = 100) -> dict[str, Any]:
    made = [specification(f"tide-{number}", versions) for number in range(names)]
    return answers(made, PEOPLE, page_size=page_size, list_size=list_size)


class Clock:
    """Time that passes only when somebody sleeps. (Several threads may sleep at once; then it passes for each.)"""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Harvest:
    """A crawl with a clock of its own."""

    def __init__(
        self,
        base: str,
        folder: Path,
        form: Form = "yaml",
        ledger: bool = False,
        environ: Mapping[str, str] = {},
        **chosen: Any,
    ) -> None:
        self.clock = Clock()
        self.client = Client("tests", sleeper=self.clock.sleep)
        self.governor = W3cGovernor(clock=self.clock, sleeper=self.clock.sleep, jitter=lambda _: 0.0, environ=environ)
        self.keeper = Keeper(folder, form, ledger)
        self.crawl = Crawl(
            Api(self.client, base),
            self.keeper,
            replace(Settings(api=base, gap=0), **chosen),
            governor=self.governor,
            sleeper=self.clock.sleep,
        )

    def run(self, prune: bool = False) -> "Harvest":
        self.crawl.run()
        if prune:
            self.keeper.prune()
        self.keeper.save_index()
        self.keeper.ledger.save(partial=self.crawl.stop.interrupted)
        return self


def names(folder: Path) -> set[str]:
    """The records in a folder."""
    return {path.name for path in folder.glob("*.yaml") if path.name != "index-v2.yaml" and path.name[0] != "."}
