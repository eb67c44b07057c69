"""run.py: the name of the run of ansible-playbook that this is part of; `run.py NAME` fails if that one has ended.

A name is `USER@HOST, process PID since TIME`. Of a run on another machine nobody here can say that it has ended.
"""

import getpass
import platform
import re
import sys
from datetime import datetime
from pathlib import Path

import psutil

PLACE = re.compile(r"@(?P<host>\S+), (?P<process>process (?P<pid>\d+) since .+)$")


def describe(process: psutil.Process) -> str:
    """A process, and no later one of its number."""
    since = datetime.fromtimestamp(process.create_time()).astimezone()
    return f"process {process.pid} since {since:%Y-%m-%d %H:%M:%S%z}"


def own() -> str:
    """The outermost ansible-playbook above."""
    runs = [each for each in psutil.Process().parents() if "ansible-playbook" in map(_file, each.cmdline())]
    return f"{getpass.getuser()}@{platform.node()}, {describe(runs[-1])}"


def lives(name: str) -> bool:
    """Whether the run of this name may still be at work."""
    found = PLACE.search(name)
    if not found or found["host"] != platform.node():
        return True
    try:
        return describe(psutil.Process(int(found["pid"]))) == found["process"]
    except psutil.NoSuchProcess:
        return False


def _file(argument: str) -> str:
    return Path(argument).name


if __name__ == "__main__":
    match sys.argv[1:]:
        case [name]:
            sys.exit(not lives(name))
        case _:
            sys.stdout.write(own() + "\n")
