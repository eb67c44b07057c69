"""The commands of `ansible/README.md`, by the section that they stand in."""

import re
from collections.abc import Mapping
from pathlib import Path

README = Path(__file__).resolve().parents[3] / "ansible/README.md"
SECTION = re.compile(r"^## (.+)\n((?:(?!^## ).*\n?)*)", re.MULTILINE)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A line, and those that it goes on in.
COMMAND = re.compile(r"^(?:.*\\\n)*.*\S.*$", re.MULTILINE)

# What the test puts in place of an address that is not its own: a document of the example site.
DOCUMENT = "http://moorkunde.example.org/1998/heft4.html"
REPLACED = {"https://www.dlib.org/dlib/july17/williams/07williams.html": DOCUMENT}


def commands() -> Mapping[str, list[str]]:
    """Section → its commands, in order, with the test's addresses."""
    text = README.read_text("utf-8")
    for theirs, ours in REPLACED.items():
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return {
        title: [command for block in BLOCK.findall(body) for command in COMMAND.findall(block)]
        for title, body in SECTION.findall(text)
    }
