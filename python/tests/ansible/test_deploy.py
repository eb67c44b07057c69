"""The deployment, for real, in the words of `ansible/README.md`: from a bare Debian machine to its removal.

One machine goes through all tests, in this order; each begins where the one before has left it.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from sandcrawler.config import Config
from sandcrawler.demo.documents import Document, documents, requests
from sandcrawler.demo.pipeline import Pipeline
from sandcrawler.demo.run import ROWS
from sandcrawler.model import IngestType
from sandcrawler.names import Folder, blob_key
from sandcrawler.persist.blobs import client
from tests.ansible.conftest import SLOW_SECONDS, SLOW_URL
from tests.ansible.deployment import INSTANCES, Deployment, lag, results
from tests.ansible.readme import DOCUMENT, README, commands

# `stack` too: `-m "not stack"` is the quick half of the tests, whoever asks for it.
pytestmark = [pytest.mark.machine, pytest.mark.stack, pytest.mark.timeout(900)]
README_COMMANDS = commands()
DEPLOY = "../.venv/bin/ansible-playbook -i inventories/mine site.yml"
TYPES: tuple[IngestType, ...] = ("html", "xml", "pdf")
BODIES = {"html": (Folder.HTML, ".tei.xml"), "xml": (Folder.XML, ".jats.xml"), "pdf": (Folder.TEXT, ".txt")}
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
PATIENCE = 90.0
# Requests in a second while the deployment is upgraded.
PACE = 5.0


def wait(what: str, done: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Until it is so. AssertionError after some time."""
    patience = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < patience, f"not within {seconds:g} s: {what}"
        time.sleep(0.2)


def follow(place: Deployment, section: str, before: Mapping[str, Callable[[], Any]] = {}) -> None:
    """Run a section's commands. `before`: what to do ahead of the command that has this text in it."""
    for command in README_COMMANDS[section]:
        for text, act in before.items():
            if text in command:
                act()
        run = place.controller.run(command)
        if run.counts:
            place.runs[f"{section}: {command.rpartition('ansible-playbook -i inventories/mine ')[2]}"] = run


def answered(place: Deployment, asked: Sequence[Mapping[str, Any]], config: Config) -> None:
    """Wait until each of these requests has its row."""
    with Pipeline(config, {}, Path(place.controller.folder / "no-workers.log")) as pipeline:
        for _ in pipeline.arrivals(asked, LONG_AGO, PATIENCE):
            pass


def publish(place: Deployment, asked: Sequence[Mapping[str, Any]], config: Config) -> None:
    Pipeline(config, {}, place.controller.folder / "no-workers.log").publish(asked)


@pytest.fixture(scope="module")
def place(bare: Deployment, figures: list[str]) -> Iterator[Deployment]:
    """The machine after the README's first section. Every run of a playbook becomes a figure."""
    follow(bare, "The first host")
    yield bare
    figures += [
        f"{name}: {run.seconds:.0f} s, changed={run.changed}, ok={sum(each['ok'] for each in run.counts.values())}"
        for name, run in bare.runs.items()
    ]


@pytest.fixture(scope="module")
def config(place: Deployment) -> Config:
    return place.config()


def test_a_bare_machine_becomes_a_host(place: Deployment) -> None:
    check, first = place.runs.values()
    assert check.changed > 0, "the check foresees changes, and fails on nothing that is not there yet"
    assert first.changed > 0
    for instance in INSTANCES:
        assert place.unit(instance)["ActiveState"] == "active", instance
    assert place.machine.run("systemctl", "--failed", "--no-legend").stdout == ""


def test_requests_become_rows_and_bodies(place: Deployment, config: Config, tmp_path: Path) -> None:
    row = [{"ingest_type": "html", "base_url": DOCUMENT}]
    follow(place, "The first document", {"sandcrawler show": lambda: answered(place, row, config)})
    asked = list(requests(1, *TYPES))
    publish(place, asked, config)
    answered(place, asked, config)
    with psycopg.connect(config.postgres_url or "", row_factory=dict_row) as database:
        rows = database.execute(ROWS, ([one["base_url"] for one in asked],)).fetchall()
    got = {(row["ingest_type"], row["base_url"]): row for row in rows}
    for document in documents(*TYPES):
        row_, expected = got[document.ingest_type, document.url], document.expected
        assert row_["status"] == expected.status, document.name
        if expected.status == "success" and document.ingest_type == "html":
            assert (row_["scope"], row_["missing"]) == (expected.scope, expected.missing), document.name
    for document in (next(each for each in documents(kind) if each.expected.status == "success") for kind in TYPES):
        folder, suffix = BODIES[document.ingest_type]
        key = blob_key(folder, got[document.ingest_type, document.url]["terminal_sha1hex"], suffix)
        assert body(config, key) == local(place, document, tmp_path), document.name


def body(config: Config, key: str) -> bytes:
    """What is in the bucket, as soon as it is."""
    bucket = client(config)
    wait(f"{key} in the bucket", lambda: "Contents" in bucket.list_objects_v2(Bucket=config.s3_bucket, Prefix=key))
    return bucket.get_object(Bucket=config.s3_bucket, Key=key)["Body"].read()


def local(place: Deployment, document: Document, folder: Path) -> bytes:
    """The body that a run without any deployment gives."""
    file = folder / document.name
    settings = {
        f"SANDCRAWLER_{name.upper()}": str(value) for name, value in place.settings["sandcrawler_settings"].items()
    }
    command = [sys.executable, "-m", "sandcrawler", "ingest", document.url, "--type", document.ingest_type]
    subprocess.run([*command, "--body-out", str(file)], env=settings, check=True, capture_output=True)
    return file.read_bytes()


def test_a_second_run_changes_nothing(place: Deployment) -> None:
    for name, options in (("second run", ""), ("check of it", " --check")):
        place.runs[name] = run = place.controller.run(DEPLOY + options)
        assert run.changed == 0, run.changes


def test_the_commands_of_every_day(place: Deployment) -> None:
    before = place.unit("ingest")["MainPID"]
    follow(place, "Day to day")
    run = list(place.runs.values())[-1]
    assert run.changed == 0, run.changes
    assert place.unit("ingest")["MainPID"] not in {before, "0"}
    for instance in INSTANCES:
        assert place.unit(instance)["ActiveState"] == "active", instance


def test_a_killed_worker_comes_back_and_works(place: Deployment, config: Config) -> None:
    before = place.unit("ingest")
    for instance in ("ingest", "ingest-2"):
        place.machine.run("systemctl", "kill", "--signal=KILL", f"sandcrawler@{instance}")
    asked = list(requests(2))[-10:]
    publish(place, asked, config)
    answered(place, asked, config)
    wait("the killed one is there again", lambda: place.unit("ingest")["ActiveState"] == "active")
    after = place.unit("ingest")
    assert int(after["NRestarts"]) == int(before["NRestarts"]) + 1
    assert after["MainPID"] not in {before["MainPID"], "0"}


def test_a_stopped_worker_finishes_what_it_has_and_commits(place: Deployment, config: Config) -> None:
    asked = [{"ingest_type": "html", "base_url": SLOW_URL}]

    def fetched() -> int:
        return sum(access.url == SLOW_URL for access in place.log)

    publish(place, asked, config)
    wait("the slow page is asked for", fetched)
    began = time.monotonic()
    place.machine.run("systemctl", "stop", "sandcrawler@ingest", "sandcrawler@ingest-2")
    seconds = time.monotonic() - began
    assert SLOW_SECONDS / 5 < seconds < 30
    for instance in ("ingest", "ingest-2"):
        unit = place.unit(instance)
        assert (unit["ActiveState"], unit["Result"], unit["ExecMainStatus"]) == ("inactive", "success", "0"), instance
    assert lag(config, "ingest") == 0
    answered(place, asked, config)
    place.machine.run("systemctl", "start", "sandcrawler@ingest", "sandcrawler@ingest-2")
    again = list(requests(3))[-5:]
    publish(place, again, config)
    answered(place, again, config)
    assert fetched() == 1, "it was not done again"


def test_an_upgrade_in_the_middle_of_a_run_loses_nothing(place: Deployment, config: Config, figures: list[str]) -> None:
    place.controller.publish("python/sandcrawler/__init__.py", "# A newer release.")
    supply = list(requests(400))[300:]
    asked: list[Mapping[str, Any]] = []
    stop = threading.Event()

    def feed() -> None:
        while not stop.wait(1 / PACE) and len(asked) < len(supply):
            publish(place, [supply[len(asked)]], config)
            asked.append(supply[len(asked)])

    feeder = threading.Thread(target=feed)
    feeder.start()
    began = time.time()
    try:
        follow(place, "Upgrade")
    finally:
        stop.set()
        feeder.join()
    answered(place, asked, config)
    counts = results(config)
    repeated = {one["base_url"] for one in asked if counts[one["base_url"]] != 1}
    assert not repeated, "each request has one result"
    away = place.away(began)
    assert {instance for _, _, instance in away} == set(INSTANCES)
    for (_, back, first), (gone, _, second) in pairwise(away):
        assert back <= gone, f"{first} and {second} were away at once"
    longest = max(back - gone for gone, back, _ in away)
    figures.append(
        f"upgrade: {len(asked)} documents through meanwhile; an instance was away for {longest:.1f} s at most"
    )
    assert release(place) == place.controller.run("git rev-parse HEAD").output.strip()[:12]


def release(place: Deployment) -> str:
    """The commit that the link points to; every instance runs it."""
    current = place.machine.run("readlink", "/opt/sandcrawler/current").stdout.strip()
    for instance in INSTANCES:
        program = place.machine.run("cat", f"/proc/{place.unit(instance)['MainPID']}/cmdline").stdout
        assert f"{current}/" in program, instance
    return Path(current).name


def test_a_release_that_does_not_start_stops_the_rolling(place: Deployment) -> None:
    good = release(place)
    before = {instance: place.unit(instance)["MainPID"] for instance in INSTANCES}
    place.controller.publish("python/sandcrawler/workers.py", 'raise RuntimeError("this release does not start")')
    place.controller.run("git pull --quiet")
    with pytest.raises(AssertionError, match=r"(?s)ingest does not become ready.*RuntimeError") as refused:
        place.controller.run(f"{DEPLOY} --tags sandcrawler")
    assert f"go back: -e sandcrawler_version={good}" in str(refused.value)
    assert Path(place.machine.run("readlink", "/opt/sandcrawler/current").stdout.strip()).name == good
    for instance in INSTANCES.keys() - {"ingest"}:
        unit = place.unit(instance)
        assert unit["MainPID"] == before[instance], instance
        assert f"/{good}/" in unit["ExecStart"], f"{instance} would be broken too after a reboot"


def test_the_release_before_is_a_command_away(place: Deployment, config: Config) -> None:
    follow(place, "Rollback")
    assert release(place) == place.controller.run("git rev-parse HEAD~1").output.strip()[:12]
    asked = list(requests(5))[-5:]
    publish(place, asked, config)
    answered(place, asked, config)


def test_a_reboot_brings_all_back(place: Deployment, config: Config, figures: list[str]) -> None:
    began = time.monotonic()
    place.machine.reboot()
    wait("all are there", lambda: {place.unit(each)["ActiveState"] for each in INSTANCES} == {"active"})
    asked = list(requests(6))[-5:]
    publish(place, asked, config)
    answered(place, asked, config)
    figures.append(f"reboot: {time.monotonic() - began:.0f} s until new documents are through")


def test_removal_leaves_no_unit_and_no_process(place: Deployment) -> None:
    follow(place, "Remove")
    # Not slices: systemd makes and forgets an instance's by itself.
    kinds = "--type=service,target,timer,socket"
    left = place.machine.run("systemctl", "list-units", "--all", "--no-legend", "--plain", kinds).stdout
    files = place.machine.run("systemctl", "list-unit-files", "--no-legend").stdout
    processes = place.machine.run("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
    for name in ("sandcrawler", "kafka", "seaweedfs"):
        assert name not in left + files + processes, name


def test_every_command_of_the_readme_was_run() -> None:
    run = {"The first host", "The first document", "Day to day", "Upgrade", "Rollback", "Remove"}
    assert {section for section, lines in README_COMMANDS.items() if lines} == run
    assert README.read_text("utf-8").count("```sh") >= len(run)
