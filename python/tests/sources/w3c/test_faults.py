"""The harvest against a server that fails in every way that it is known to."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandcrawler.sources.base import CrawlIncomplete
from sandcrawler.sources.failures import HttpError
from sandcrawler.sources.w3c.index import read_rows
from sandcrawler.sources.w3c.keep import Form
from tests.sources.w3c.server import Fault, Server, key, serving
from tests.sources.w3c.world import Harvest, names, world

VERSION = "/specifications/tide-1/versions/20010215"


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    with serving(world()) as running:
        yield running


def index(folder: Path) -> Path:
    return folder / "index-v2.yaml"


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names(folder)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with serving(world()) as running:
        Harvest(running.base, folder).run()
    return contents(folder)


@pytest.mark.parametrize("hint", [{}, {"Retry-After": "2"}, {"Retry-After": "700"}, {"Retry-After": "soon"}])
@pytest.mark.parametrize("status", [429, 403])
def test_a_refusal_costs_time_and_nothing_else(
    server: Server, tmp_path: Path, undisturbed: dict[str, bytes], status: int, hint: dict[str, str]
) -> None:
    # More refusals than the client's own retries take, so that the back-off of all workers has its turn.
    server.fail(VERSION, *[Fault(status, hint)] * (2 if hint == {"Retry-After": "700"} else 7))
    harvest = Harvest(server.base, tmp_path).run()
    assert contents(tmp_path) == undisturbed
    assert harvest.keeper.counts["throttled"] == 0
    # A 403 that asks for more than a minute goes to the back-off of all at once; a 429 only after its own retries.
    assert (max(harvest.clock.slept) >= 700) == (status == 403 and hint == {"Retry-After": "700"})


def test_bursts_of_403(server: Server, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    # Each burst outlasts the client's own retries twice, and the third try of the resource has its answer.
    server.on_request = lambda _: server.burst.extend([Fault(403)] * 14) if len(server.asked) in {5, 30} else None
    harvest = Harvest(server.base, tmp_path, concurrency=1).run()
    assert harvest.governor.throttle_count == 4
    assert contents(tmp_path) == undisturbed


def test_a_ban_is_latched_and_nothing_is_asked_after_it(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path).run()
    before = index(tmp_path).read_bytes()
    harvest = Harvest(server.base, tmp_path, concurrency=1)
    asked_at_latch: list[int] = []

    def ban(path: str) -> None:
        if harvest.governor.exhausted and not asked_at_latch:
            asked_at_latch.append(len(server.asked))

    server.on_request = ban
    for path in list(server.answers):
        if path[0] != "/specifications":
            server.always[path] = Fault(403)
    with pytest.raises(
        CrawlIncomplete, match=r"gave up after 5 consecutive backoffs \(\d+ rate-limited responses\); refusing to save"
    ):
        harvest.run()
    assert asked_at_latch == []
    assert index(tmp_path).read_bytes() == before


def test_too_much_lost_to_throttling_is_not_saved(server: Server, tmp_path: Path) -> None:
    for number in range(3):
        server.always[key(f"/specifications/tide-{number}/versions/20010115/editors")] = Fault(429)
    limits = {"RELATON_W3C_THROTTLE_GIVEUP": "1000"}
    with pytest.raises(CrawlIncomplete, match=r"3 resources were dropped to rate limiting \(budget 2\); refusing"):
        Harvest(server.base, tmp_path / "a", environ=limits, max_throttled=2).run()
    assert not index(tmp_path / "a").exists()
    Harvest(server.base, tmp_path / "b", environ=limits, max_throttled=3).run()
    assert index(tmp_path / "b").exists()


def test_one_persistent_500_costs_one_record(server: Server, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    server.always[key(VERSION)] = Fault(500)
    Harvest(server.base, tmp_path).run()
    assert names(tmp_path) == set(undisturbed) - {"cr-tide-1-20010215.yaml"}
    # Once and five retries, although five records name it.
    assert server.count(VERSION) == 6


def test_an_editor_who_is_gone(server: Server, tmp_path: Path) -> None:
    server.answers[key("/users/bo")] = None
    harvest = Harvest(server.base, tmp_path).run()
    assert len(names(tmp_path)) == 16
    assert server.count("/users/bo") == 1
    assert harvest.keeper.counts["skipped"] == 1


def test_a_cut_connection(server: Server, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    server.fail(VERSION, Fault(0), Fault(0))
    server.fail("/specifications?embed=true&page=2", Fault(0))
    Harvest(server.base, tmp_path).run()
    assert contents(tmp_path) == undisturbed


def test_the_first_page_is_not_there(server: Server, tmp_path: Path) -> None:
    server.always[key("/specifications?embed=true")] = Fault(500)
    with pytest.raises(HttpError):
        Harvest(server.base, tmp_path).run()
    assert not index(tmp_path).exists()


def test_page_seven_fails(tmp_path: Path) -> None:
    with serving(world(16, 1, page_size=2)) as server:
        server.always[key("/specifications?embed=true&page=7")] = Fault(500)
        harvest = Harvest(server.base, tmp_path)
        harvest.client.retries = {}
        with pytest.raises(CrawlIncomplete, match="stopped at page 6: failed to fetch page 7"):
            harvest.run()
        assert server.count("/specifications?embed=true&page=7") == 3
        assert harvest.clock.slept == [2, 4]
        assert server.count("/specifications?embed=true&page=8") == 0
    assert not index(tmp_path).exists()


def test_page_seven_is_refused_for_a_while(tmp_path: Path) -> None:
    with serving(world(16, 1, page_size=2)) as server:
        server.fail("/specifications?embed=true&page=7", *[Fault(429)] * 4)
        harvest = Harvest(server.base, tmp_path)
        harvest.client.retries = {}
        harvest.run()
        assert harvest.governor.throttle_count == 4
    assert len(names(tmp_path)) == 32


def test_a_full_disk_stops_everything_and_leaves_the_index(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Harvest(server.base, tmp_path, versions=False).run()
    before, index_before = contents(tmp_path), index(tmp_path).read_bytes()
    server.asked.clear()
    room, real = [3], os.fdopen

    def limited(handle: int, *how: Any) -> Any:
        room[0] -= 1
        if room[0] < 0:
            os.close(handle)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, *how)

    monkeypatch.setattr(os, "fdopen", limited)
    with pytest.raises(OSError, match="No space left"):
        Harvest(server.base, tmp_path, ledger=True).run()
    monkeypatch.undo()
    after = contents(tmp_path)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 3
    assert index(tmp_path).read_bytes() == index_before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    # It did not go on asking for what it could not keep.
    assert len(server.asked) < 60


TWICE = """
import sys
from pathlib import Path
from sandcrawler.sources.w3c.harvest import fetch
from sandcrawler.sources.w3c.settings import settings
fetch(Path(sys.argv[2]), ledger=True, chosen=settings(api=sys.argv[1]))
"""


def test_two_processes_on_one_folder(server: Server, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    both = [subprocess.Popen([sys.executable, "-c", TWICE, server.base, str(tmp_path)]) for _ in range(2)]
    assert [each.wait(120) for each in both] == [0, 0]
    assert contents(tmp_path) == undisturbed
    assert {row.file for row in read_rows(index(tmp_path))} == set(undisturbed)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".draft")]


def test_a_second_run_with_the_ledger_saves_requests(
    server: Server, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    Harvest(server.base, tmp_path, ledger=True).run()
    first = len(server.asked)
    server.asked.clear()
    again = Harvest(server.base, tmp_path, ledger=True).run()
    # The index, the histories and the versions are looked at; their lists and people are not.
    assert len(server.asked) == 2 + 4 + 12 == again.keeper.counts["requests"]
    assert again.keeper.counts["unchanged"] == 16
    assert again.keeper.counts["requests_saved_by_ledger"] == 40 == first - len(server.asked) - 2
    assert contents(tmp_path) == undisturbed
    assert len(list(read_rows(index(tmp_path)))) == 16


def test_the_ledger_sees_what_changed_and_what_is_gone(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path, ledger=True).run()
    server.answers[key(VERSION)]["title"] = "Another title"
    (tmp_path / "wd-tide-0-20010115.yaml").unlink()
    again = Harvest(server.base, tmp_path, ledger=True).run()
    assert again.keeper.counts["documents"] == 2
    assert "Another title" in (tmp_path / "cr-tide-1-20010215.yaml").read_text()
    assert (tmp_path / "wd-tide-0-20010115.yaml").is_file()


def test_a_record_that_lost_a_part_is_harvested_again(
    server: Server, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    editors = f"{VERSION}/editors"
    server.fail(editors, *[Fault(0)] * 6)
    Harvest(server.base, tmp_path, ledger=True).run()
    assert contents(tmp_path) != undisturbed
    Harvest(server.base, tmp_path, ledger=True).run()
    assert contents(tmp_path) == undisturbed


def test_a_record_that_lost_a_part_does_not_take_a_better_ones_place(
    server: Server, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    Harvest(server.base, tmp_path).run()
    server.fail(f"{VERSION}/editors", *[Fault(0)] * 6)
    again = Harvest(server.base, tmp_path).run(prune=True)
    assert again.keeper.counts["incomplete"] == 1
    assert contents(tmp_path) == undisturbed


def test_the_ledger_of_one_form_says_nothing_of_another(server: Server, tmp_path: Path) -> None:
    forms: tuple[Form, ...] = ("yaml", "xml", "bibxml")
    for form in forms:
        assert Harvest(server.base, tmp_path, form, ledger=True).run().keeper.counts["documents"] == 16
    assert (tmp_path / "tide-0.xml").read_text().startswith("<bibitem")


def test_prune_deletes_what_the_source_no_longer_has(tmp_path: Path) -> None:
    with serving(world(12, 1)) as server:
        Harvest(server.base, tmp_path).run()
    with serving(world(11, 1)) as server:
        Harvest(server.base, tmp_path).run(prune=True)
    assert len(names(tmp_path)) == 22
    assert len(list(read_rows(index(tmp_path)))) == 22


def test_prune_deletes_nothing_under_the_ratio(tmp_path: Path) -> None:
    with serving(world(12, 1)) as server:
        Harvest(server.base, tmp_path).run()
    with serving(world(6, 1)) as server:
        Harvest(server.base, tmp_path).run(prune=True)
    assert len(names(tmp_path)) == 24
    assert len(list(read_rows(index(tmp_path)))) == 24


def test_prune_spares_what_the_ledger_passed_over(server: Server, tmp_path: Path) -> None:
    Harvest(server.base, tmp_path, ledger=True).run()
    Harvest(server.base, tmp_path, ledger=True).run(prune=True)
    assert len(names(tmp_path)) == 16
