"""Imports point one way: each part may know only those named for it (the table of proposal 0001)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sandcrawler

ROOT = Path(sandcrawler.__file__).parent
BASE = {"names", "status", "model", "errors", "wire", "config"}
STORES = BASE | {"runtime", "persist"}
SPINE = BASE | {
    "runtime",
    "kafka",
    "memory",
    "extract",
    "fetch",
    "ingest",
    "persist",
    "workers",
    "again",
    "topics",
    "setup",
    "show",
    "export",
    "sources",
    "stack",
}

# part -> the parts that it may import, itself aside
MAY_IMPORT: dict[str, set[str]] = {
    "names": set(),
    "errors": set(),
    "status": set(),
    "model": {"status"},
    "wire": {"errors", "model"},
    "config": {"errors", "names"},
    "schemas": BASE,
    "extract": {"names", "status", "model"},
    "fetch": BASE | {"extract"},
    "ingest": BASE | {"extract", "fetch"},
    "persist": BASE | {"runtime"},
    "runtime": {"names", "errors"},
    "kafka": BASE | {"runtime"},
    "memory": BASE | {"runtime"},
    "topics": BASE,
    "setup": STORES | {"kafka", "topics"},
    "show": STORES | {"fetch"},
    "export": STORES | {"fetch"},
    "sources": BASE | {"extract", "fetch"},
    "again": BASE | {"runtime", "kafka", "persist"},
    "workers": SPINE,
    "stack": BASE,
    "demo": SPINE,
    "cli": SPINE | {"demo"},
    "__main__": {"cli"},
}

# extract is pure: nothing that talks to a network, a database or other processes.
NO_IO = {
    "aiohttp",
    "socket",
    "asyncio",
    "subprocess",
    "requests",
    "urllib.request",
    "psycopg",
    "boto3",
    "confluent_kafka",
}


def part_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} is new: give it a row in MAY_IMPORT"
    used = {name.split(".")[1] for name in imports(path) if name.startswith("sandcrawler.")} - {part, "__version__"}
    assert used <= MAY_IMPORT[part], f"{part} must not import {sorted(used - MAY_IMPORT[part])}"


@pytest.mark.parametrize("path", [m for m in MODULES if part_of(m) == "extract"], ids=lambda path: path.name)
def test_extract_does_no_io(path: Path) -> None:
    assert not NO_IO & set(imports(path))
