"""`sandcrawler source NAME requests` and the worker of release updates, from the outside."""

import asyncio
import gzip
import json
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sandcrawler.cli import app, source_output, source_requests
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, InvalidMessage, Unavailable
from sandcrawler.names import ForeignTopic
from sandcrawler.runtime import Concurrent, Record
from sandcrawler.sources import oai, oai_state
from sandcrawler.sources.makers import MAKERS
from sandcrawler.workers import WORKERS
from tests.sources.documents import DOAJ, FATCAT
from tests.sources.repository import Repository, serving


def run(*arguments: str, given: str | bytes | None = None) -> tuple[int, list[dict[str, Any]], str]:
    done = CliRunner().invoke(app, ["source", *arguments], input=given)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_every_maker_has_its_command() -> None:
    assert tuple(MAKERS) == source_requests.NAMES
    for name in (*MAKERS, "list", "oai", "w3c"):
        assert CliRunner().invoke(app, ["source", name, "--help"]).exit_code == 0


def test_a_dump_becomes_requests(tmp_path: Path) -> None:
    file = tmp_path / "dump.jsonl.gz"
    file.write_bytes(gzip.compress(json.dumps(DOAJ).encode() + b"\nnot json\n" + json.dumps(DOAJ).encode()))
    code, requests, said = run("doaj", "requests", str(file))
    assert code == 1
    assert [(one["ingest_type"], one["link_source"]) for one in requests] == [
        ("html", "doaj"),
        ("pdf", "doaj"),
        ("pdf", "doaj"),
    ]
    assert f"{file}:2: not JSON" in said
    assert "3 requests from 3 rows; 3 duplicates; 0 rows without a link to ask for; 1 left out" in said


def test_types_and_askers_can_be_chosen() -> None:
    code, requests, _ = run("doaj", "requests", "-", "--type", "html", "--request-source", "me", given=json.dumps(DOAJ))
    assert code == 0
    assert [(one["ingest_type"], one["ingest_request_source"]) for one in requests] == [("html", "me")]


def test_files_share_what_was_seen(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("https://journal.example.org/1\n")
    assert len(run("list", "requests", str(tmp_path / "a"), str(tmp_path / "b"))[1]) == 1


def test_columns_of_a_list() -> None:
    given = "Key,Full text\nk,https://journal.example.org/1\n"
    code, (one,), _ = run(
        "list", "requests", "-", "--column", "base_url=Full text", "--column", "link_source_id=Key", "--type", "xml",
        "--link-source", "theses", given=given,
    )  # fmt: skip
    assert code == 0
    assert (one["ingest_type"], one["link_source"], one["link_source_id"]) == ("xml", "theses", "k")


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[dict[str, Any]]]]:
    sent: list[tuple[str, list[dict[str, Any]]]] = []

    def publish(values: Iterable[dict[str, Any]], queue: str, _: Config) -> int:
        sent.append((queue, list(values)))
        return len(sent[-1][1])

    monkeypatch.setattr(source_output, "publish", publish)
    return sent


def test_requests_can_go_straight_to_kafka(published: list[tuple[str, list[dict[str, Any]]]]) -> None:
    code, counts, _ = run("doaj", "requests", "-", "--publish", "--queue", "daily", given=json.dumps(DOAJ))
    assert (code, counts) == (0, [{"published": 3, "rows": 1, "duplicates": 0, "without_links": 0, "left_out": 0}])
    assert [(queue, len(values)) for queue, values in published] == [("daily", 3)]


def test_all_files_are_there_before_the_first_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("https://journal.example.org/1\n")
    done = CliRunner().invoke(app, ["source", "list", "requests", str(tmp_path / "a"), str(tmp_path / "none")])
    assert isinstance(done.exception, ConfigurationError)
    assert done.stdout == ""


@pytest.mark.parametrize("error", [Unavailable("gone"), KeyboardInterrupt()])
def test_what_was_made_before_an_error_is_given_out(
    error: BaseException,
    capfdbinary: pytest.CaptureFixture[bytes],
    published: list[tuple[str, list[dict[str, Any]]]],
) -> None:
    def failing() -> Iterator[dict[str, Any]]:
        yield {"a": 1}
        raise error

    with pytest.raises(type(error)):
        source_output.emit(failing(), None)
    assert capfdbinary.readouterr().out == b'{"a":1}\n'
    with pytest.raises(type(error)):
        source_output.emit(failing(), "bulk")
    assert published == [("bulk", [{"a": 1}])]


def test_a_live_input_is_answered_at_once() -> None:
    """The answer comes while the pipe is open."""
    command = "import sys; from sandcrawler.cli import app; app(sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", command, "source", "list", "requests", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as child:  # fmt: skip
        assert child.stdin
        assert child.stdout
        try:
            child.stdin.write(b"https://journal.example.org/1\n")
            child.stdin.flush()
            assert select.select([child.stdout], [], [], 60)[0]
            assert json.loads(child.stdout.readline())["base_url"] == "https://journal.example.org/1"
        finally:
            child.stdin.close()
            child.wait(60)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oai, "RETRIES", {})


@pytest.mark.usefixtures("quick")
def test_an_interrupted_harvest_goes_on(tmp_path: Path) -> None:
    state = str(tmp_path / "state.json")
    repository = Repository(faults={"6@": [(500, {}, b"")]})
    with serving(repository) as url:
        done = CliRunner().invoke(app, ["source", "oai", "requests", url, "--state", state])
        assert isinstance(done.exception, Unavailable)
        first = [json.loads(line)["link_source_id"] for line in done.stdout.splitlines()]
        code, rest, _ = run("oai", "requests", url, "--state", state)
    assert code == 0
    assert first + [one["link_source_id"] for one in rest] == [f"oai:x:{number}" for number in range(10)]


@pytest.mark.usefixtures("quick")
def test_a_page_is_published_before_it_counts_as_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, calls = tmp_path / "state.json", iter([3, 3])

    def publish(values: Iterable[dict[str, Any]], *_: object) -> int:
        count = len(list(values))
        if next(calls, None) is None:
            raise Unavailable("Kafka went away")
        return count

    monkeypatch.setattr(source_output, "publish", publish)
    with serving(Repository()) as url:
        done = CliRunner().invoke(app, ["source", "oai", "requests", url, "--state", str(state), "--publish"])
        assert isinstance(done.exception, Unavailable)
        assert oai_state.load(state, oai_state.Query(url)).pages == 2
        assert run("oai", "requests", url, "--state", str(state))[1][0]["link_source_id"] == "oai:x:6"


@pytest.mark.usefixtures("quick")
def test_a_broken_page_is_said_and_the_exit_code_is_1() -> None:
    page = Repository().page(list(range(10)), 0, "").decode()
    broken = page.replace("<dc:title>T</dc:title>", "<dc:title>T", 1).encode()
    with serving(Repository(faults={"first": [(200, {}, broken)] * 3})) as url:
        code, _, said = run("oai", "requests", url)
    assert code == 1
    assert f"{url}:page 1:" in said


def test_release_updates_become_requests() -> None:
    wiring = WORKERS["fatcat-releases"]
    assert wiring.reads == (ForeignTopic.FATCAT_RELEASES,)
    assert ForeignTopic.FATCAT_RELEASES.named("prod") == "fatcat-prod.release-updates-v03"
    step = wiring.step(Config())
    assert isinstance(step, Concurrent)

    def messages(value: bytes) -> Iterator[tuple[str, bytes | None, dict[str, Any]]]:
        for message in asyncio.run(step.work(step.decode(Record("t", 0, 0, None, value)))):  # type: ignore[arg-type]
            yield message.topic, message.key, json.loads(message.value or b"")

    sent = list(messages(json.dumps(FATCAT).encode()))
    assert [value["ingest_type"] for _, _, value in sent] == ["html", "xml", "pdf"]
    assert [key for _, key, _ in sent] == [b"doi.org", b"www.ebi.ac.uk", b"europepmc.org"]
    assert {topic for topic, _, _ in sent} == {"sandcrawler-dev.ingest-file-requests-daily"}
    assert list(messages(json.dumps(FATCAT | {"state": "deleted"}).encode())) == []
    for junk in (b"not json", b"[1]", b"{}"):
        with pytest.raises(InvalidMessage):
            list(messages(junk))


@pytest.mark.parametrize(
    "words",
    [
        ["list", "requests", "LIST", "--link-source", ""],
        ["list", "requests", "LIST", "--request-source", " "],
        ["list", "requests", "LIST", "--queue", "nope"],
        ["doaj", "requests", "LIST", "--queue", ""],
        ["w3c", "requests", "FOLDER", "--queue", "nope"],
        ["oai", "requests", "http://127.0.0.1:9/", "--from", "garbage"],
        ["oai", "requests", "http://127.0.0.1:9/", "--until", "2024-13-01"],
        ["oai", "requests", "http://127.0.0.1:9/", "--set", ""],
        ["oai", "requests", "http://127.0.0.1:9/", "--prefix", ""],
        ["oai", "requests", "nowhere"],
        ["oai", "requests", "http://127.0.0.1:9/", "--state", "/dev/null/state"],
    ],
)
def test_options_that_mean_nothing_are_refused(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "list").write_text("https://journal.example.org/1\n")
    places = {"LIST": str(tmp_path / "list"), "FOLDER": str(tmp_path)}
    done = CliRunner().invoke(app, ["source", *(places.get(word, word) for word in words)])
    assert isinstance(done.exception, ConfigurationError)
    assert done.stdout == ""


def test_what_strangers_wrote_does_not_rule_the_terminal() -> None:
    """A column's name, a URL and an identifier with escapes and line ends in them."""
    given = 'url,"x\x1b]0;owned\x07\nforged"\n"https://a.example.org/\x1b[2J\x9b\n forged:1: line",1\nftp://\u202e/,2\n'
    code, _, said = run("list", "requests", "-", given=given)
    assert code == 1
    assert len(said.splitlines()) == 4
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said)
    done = CliRunner().invoke(app, ["source", "list", "requests", "-"], input='"x\x1b]0;owned\x07",b\n1,2\n')
    assert isinstance(done.exception, ConfigurationError)  # its text goes through `fail`
