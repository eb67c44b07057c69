"""A machine with the deployment on it, for the tests that are marked `machine`; and the figures of a run.

Where a machine cannot be had, those tests are skipped with the reason. With SANDCRAWLER_TEST_MACHINE=required (so
`.ci/run`) they fail instead, but for one who is not root: nothing that broke on the way may look like a pass.
"""

import os
import shutil
from collections.abc import Iterator

import pytest

from sandcrawler.demo.documents import answers
from sandcrawler.demo.server import Access, running
from tests.ansible.base import UnfitError
from tests.ansible.controller import Controller
from tests.ansible.deployment import Deployment, variables
from tests.ansible.machine import Machine, booted

# Read here, since tests do not see the settings of who runs them.
REQUIRED = os.environ.get("SANDCRAWLER_TEST_MACHINE") == "required"
FIGURES = pytest.StashKey[list[str]]()
SLOW_URL = "http://slow.example.org/article"
SLOW_SECONDS = 5.0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the deployment took."""
    for line in config.stash.get(FIGURES, []):
        terminalreporter.write_line(f"deployment: {line}")


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> list[str]:
    """Lines to be printed at the end of the run."""
    return pytestconfig.stash.setdefault(FIGURES, [])


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A bare machine, booted."""
    folder = tmp_path_factory.mktemp("machine")
    try:
        opened = booted(folder)
        machine = opened.__enter__()
    except UnfitError as reason:
        if REQUIRED and not os.geteuid():
            raise
        pytest.skip(str(reason))
    try:
        yield machine
    finally:
        opened.__exit__(None, None, None)


@pytest.fixture(scope="session")
def bare(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A machine to which nothing is deployed yet, and all that it takes."""
    folder = tmp_path_factory.mktemp("operator")
    article = next(answer for answer in answers() if answer.file == "moorkunde/heft4.html")
    slow = article.model_copy(update={"url": SLOW_URL, "delay": SLOW_SECONDS})
    log: list[Access] = []
    with running([*answers(), slow], distinct=True, log=log.append) as web:
        settings = variables(web)
        yield Deployment(machine, Controller(folder, machine, settings), web, log, settings)
    shutil.rmtree(folder)
