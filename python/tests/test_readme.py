"""What the README claims is so: commands, exit codes, files. Its queries run in `test_pipeline`."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from sandcrawler import cli
from sandcrawler.config import Config
from sandcrawler.fetch import blocklist, target
from sandcrawler.names import Topic
from sandcrawler.status import Status
from tests.extract import pages
from tests.fetch.savepage import Archive, Saved
from tests.fetch.web import Web, reply
from tests.ingest.replays import replaying

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = {page: (ROOT / page).read_text("utf-8") for page in ("README.md", "kafka/README.md", "sql/queries.md")}

# In code only: after a backtick, in an indented block, or by its path.
COMMAND = re.compile(r"(?:^ {4,}(?:\w+=\S+ )?|`|\.venv/bin/)sandcrawler ((?:[a-z0-9-]+ ?)+)([^`\n#]*)", re.MULTILINE)


def commands(group: Any = None, before: str = "") -> dict[str, Any]:
    """Every command with its words, sub-commands as `source doaj requests`."""
    found = {}
    for name, command in (group or typer.main.get_command(cli.app)).commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, f"{before}{name} ")
        else:
            found[f"{before}{name}"] = command
    return found


def used(text: str) -> list[tuple[str, list[str]]]:
    """The commands that a page shows, each with its options."""
    known, found = commands(), []
    for words, rest in COMMAND.findall(text):
        parts = words.split()
        beginnings = [" ".join(parts[:count]) for count in range(len(parts), 0, -1)]
        name = next((each for each in beginnings if each in known), parts[0])
        found.append((name, re.findall(r"(?<!\S)--[a-z-]+", f"{words} {rest}")))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_command_shown_exists_with_its_options(page: str) -> None:
    known = commands()
    shown = used(PAGES[page])
    assert shown or page != "README.md"
    for name, options in shown:
        assert name in known, f"{page}: sandcrawler {name}"
        accepted = {option for parameter in known[name].params for option in parameter.opts}
        assert set(options) <= accepted | {"--help"}, f"{page}: sandcrawler {name} {options}"


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    table = dict(re.findall(r"^\| (\d+) \| (.+?) \|$", README, re.MULTILINE))
    assert {int(code): meaning for code, meaning in table.items()} == cli.EXIT_CODES


def test_every_variable_is_a_setting() -> None:
    known = {f"SANDCRAWLER_{name.upper()}" for name in Config.model_fields}
    known |= {"SANDCRAWLER_CONFIG", "SANDCRAWLER_DIR", "SANDCRAWLER_TEST_STACK"}
    for page, text in PAGES.items():
        assert set(re.findall(r"SANDCRAWLER_[A-Z0-9_]+[A-Z0-9]", text)) <= known, page


def test_every_file_named_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    table = re.findall(
        r"^\| .* \| ((?:`[^`]+`(?: and )?)+)", README[README.index("| to change | open |") :], re.MULTILINE
    )
    inside = [name for cell in table for name in re.findall(r"`([^`]+)`", cell)]
    assert len(inside) >= 8
    for name in [*links, *inside]:
        package = ROOT / "python" / "sandcrawler"
        assert (ROOT / name).exists() or (package / name).exists() or (package / "ingest" / name).exists(), name


def test_the_lists_shown_are_read_as_the_readme_says() -> None:
    lines = next(block for block in README.split("```") if "skip-wall" in block)
    rules = blocklist.Blocklist(blocklist.read(lines, "README.md"))
    for url, verdict in {
        "https://www.archive.example.org/x": Status.SKIP_URL_BLOCKLIST,
        "https://sso.example.net/login/a?target=x": Status.SKIP_WALL,
        "https://sso.example.net/login": None,
    }.items():
        found = rules.find(target.read(url))
        assert (found and found.status) == verdict, url
    own = blocklist.read(blocklist.OWN.read_text("utf-8") + lines, "both")
    blocklist.Blocklist(own).check(target.read("https://orcid.org/0000-0002-1825-0097"))


def test_every_topic_is_named() -> None:
    for topic in Topic:
        tail = topic.value.removeprefix("ingest-file-requests")
        assert topic.value in README or f"`{tail}`" in README, topic


def test_statuses_in_examples_are_statuses() -> None:
    for status in re.findall(r"--status ([a-z-]+)", "".join(PAGES.values())):
        assert status in set(Status)


DLIB = "https://www.dlib.org/dlib/july17/williams/07williams.html"
ARTICLE = pages.page(
    f"<article>{pages.HEADLINE}{pages.sections('Introduction', 'Methods', 'Results', words=400)}</article>",
    pages.metas(),
)


def shown(heading: str) -> Iterator[list[str]]:
    """The commands of each block of a section."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL):
        yield block.splitlines()


async def pasted(command: str, folder: Path, settings: dict[str, str]) -> str:
    """What a command says on stdout, run by a shell in a folder whose `.venv` is this one."""
    process = await asyncio.create_subprocess_shell(
        command, cwd=folder, env=settings, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complained = await process.communicate()
    assert process.returncode == 0, complained.decode()
    return said.decode()


def test_warcs_are_kept_replayed_and_read_again_as_shown(tmp_path: Path) -> None:
    pytest.importorskip("pywb", reason="replay needs the extra `test`")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    keeping, reading = shown("WARCs and web archives")

    async def work() -> None:
        web = Web({DLIB: reply(ARTICLE)}, hosts=("www.dlib.org",))
        async with web, Archive({DLIB: [Saved("20180101000000", ARTICLE)]}) as archive:
            web.ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
            settings = {
                "PATH": "/usr/bin:/bin",
                "SANDCRAWLER_DIR": str(tmp_path / "none"),
                "SANDCRAWLER_FETCH_CONNECT_TO": f"www.dlib.org:443:127.0.0.1:{web.https}",
                "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
                "SANDCRAWLER_FETCH_CA_FILE": str(tmp_path / "ca.pem"),
                "SANDCRAWLER_FETCH_HOST_GAP": "0",
                "SANDCRAWLER_FETCH_WAYBACK_CDX": f"{archive.url}/cdx",
                "SANDCRAWLER_FETCH_WAYBACK_REPLAY": f"{archive.url}/web",
                "SANDCRAWLER_FETCH_WAYBACK_GAP": "0",
            }
            said = [await pasted(command, tmp_path, settings) for command in (*keeping[:-1], *reading)]
        results = [json.loads(text) for text in said if text.startswith("{")]
        assert [result["status"] for result in results] == [Status.SUCCESS] * 5
        moments.append(results[0]["cdx"]["datetime"])

    moments: list[str] = []
    asyncio.run(work())
    assert keeping[-1] == ".venv/bin/pywb -b 127.0.0.1 -p 8090"
    with replaying(tmp_path) as replay:
        assert replay.raw(DLIB, moments[0]) == (200, ARTICLE)
