"""What every command shares: closed streams are errors and no tracebacks; nothing from outside rules the terminal."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import structlog

from sandcrawler.cli.screen import fail, log_to_stderr, printable, say

ESCAPE = "\x1b]0;owned\x07\x9b2J\u202egpj"
COMMAND = [sys.executable, "-m", "sandcrawler"]


def closing(*numbers: int) -> Callable[[], None]:
    def close() -> None:
        for number in numbers:
            with suppress(OSError):
                os.close(number)

    return close


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        (["statuses"], 1),
        (["topics"], 1),
        (["--help"], 1),
        (["source", "list", "requests", "LIST"], 1),
        (["source", "list", "requests", "-"], 0),
        (["source", "arxiv", "requests", "-"], 0),
        (["source", "w3c", "get", "REC-x", "--index", "/dev/null"], 1),
        (["extract", "LIST", "--url", "https://journal.example.org/"], 1),
        (["export", "fatcat"], 1),
        (["requests", "-"], 0),
    ],
)
def test_a_closed_stream_is_an_error_and_no_traceback(words: list[str], closed: int, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.write_text("https://journal.example.org/1\n")
    written = [str(links) if word == "LIST" else word for word in words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDCRAWLER_")}
    done = subprocess.run(
        [*COMMAND, *written], preexec_fn=closing(closed), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
        check=False, timeout=60, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert done.returncode in {1, 2}, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_all_streams_closed_end_in_a_code(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "source", "list", "requests", "-"], preexec_fn=closing(0, 1, 2), check=False, timeout=60,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2


def test_control_characters_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    assert printable("a\tb\n" + ESCAPE) == "a\tb\n\\x1b]0;owned\\x07\\x9b2J\\u202egpj"
    log_to_stderr()
    say(ESCAPE)
    structlog.get_logger().warning(ESCAPE, url=ESCAPE)
    with pytest.raises(SystemExit):
        fail(ESCAPE, 2)
    said = capsys.readouterr().err
    assert said.count("owned") == 4
    assert not {"\x07", "\x9b", "\u202e"} & set(said)
    assert "\x1b]" not in said


def test_ctrl_c_is_told() -> None:
    """The server accepts, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with subprocess.Popen([*COMMAND, "source", "oai", "requests", url], stderr=subprocess.PIPE) as child:
            server.settimeout(60)
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                child.send_signal(signal.SIGINT)
                _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert said.decode().splitlines()[-1] == "sandcrawler: interrupted"
