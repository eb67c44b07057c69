"""The playbooks as text: they parse with every inventory, and every name is known. (`make lint` runs the linters.)"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Template

from sandcrawler.config import PREFIX, Config
from sandcrawler.workers import WORKERS
from tests.ansible.readme import commands

ANSIBLE = Path(__file__).resolve().parents[3] / "ansible"
ROLES = sorted(path.name for path in (ANSIBLE / "roles").iterdir())
PLAYBOOKS = sorted(path.name for path in ANSIBLE.glob("*.yml"))
INVENTORIES = sorted(path.name for path in (ANSIBLE / "inventories").iterdir())
NAME = re.compile(rf"(?<![\w./@-])(?:{'|'.join(ROLES)}|vault|pip)_[a-z0-9_]+\b(?!\()")


def texts(*folders: str) -> Iterator[tuple[Path, str]]:
    """The YAML files and templates of these folders, without their comments."""
    for folder in folders:
        for path in sorted((ANSIBLE / folder).rglob("*")):
            if path.suffix in {".yml", ".j2"}:
                yield path, re.sub(r"^\s*#.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)


def settings() -> dict[str, Path]:
    """Every setting of group_vars; those that have no value stand there as a comment (`# service_address: …`)."""
    found: dict[str, Path] = {}
    for path in (ANSIBLE / "group_vars/all").glob("*.yml"):
        found |= dict.fromkeys(re.findall(r"^(?:# )?([a-z]\w*):(?: |$)", path.read_text("utf-8"), re.MULTILINE), path)
        found |= dict.fromkeys(re.findall(r"\bvault_\w+", path.read_text("utf-8")), path)
    return found


def specified(role: str) -> set[str]:
    """What a role's argument_specs.yml asks for."""
    specs: dict[str, Any] = yaml.safe_load((ANSIBLE / f"roles/{role}/meta/argument_specs.yml").read_text("utf-8"))
    return {name for entry in specs["argument_specs"].values() for name in entry["options"]}


@pytest.mark.parametrize("inventory", INVENTORIES)
def test_every_playbook_parses(inventory: str) -> None:
    done = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            f"inventories/{inventory}",
            "--syntax-check",
            *PLAYBOOKS,
        ],
        cwd=ANSIBLE,
        env=os.environ | {"ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not re.search(r"WARNING|DEPRECATION", done.stderr), done.stderr


def made(value: Any) -> Iterator[str]:
    """The names that tasks make: registered, set as facts, of a loop, and of their own `vars`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"register", "loop_var", "index_var"}:
                yield inner
            if key in {"vars", "ansible.builtin.set_fact"}:
                yield from inner
            yield from made(inner)
    if isinstance(value, list):
        for each in value:
            yield from made(each)


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_that_a_role_uses_is_a_setting_or_its_own(role: str) -> None:
    own = set(yaml.safe_load((ANSIBLE / f"roles/{role}/vars/main.yml").read_text("utf-8")) or ())
    used: dict[str, Path] = {}
    for path, text in texts(f"roles/{role}"):
        used |= dict.fromkeys(NAME.findall(text), path)
        if path.suffix == ".yml" and path.parent.name != "meta":
            own |= set(made(yaml.safe_load(text)))
    unknown = {name: path.name for name, path in used.items() if name not in own | settings().keys()}
    assert not unknown
    assert all(name.startswith(f"{role}_") for name in own), "a role's own names have its prefix"


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_asks_for_is_a_documented_setting(role: str) -> None:
    assert specified(role) <= settings().keys()


def test_every_setting_is_used() -> None:
    used = "".join(text for _, text in texts("roles", "group_vars"))
    for name, path in settings().items():
        assert len(re.findall(rf"\b{name}\b", used)) > (not name.startswith("vault_")), f"{name} of {path.name}"


def test_the_settings_that_the_workers_get_are_settings() -> None:
    role = ANSIBLE / "roles/sandcrawler"
    names = set(yaml.safe_load((role / "vars/main.yml").read_text("utf-8"))["sandcrawler_deduced"])
    for path in (role / "templates").iterdir():
        names |= {name.lower() for name in re.findall(rf"\b{PREFIX}([A-Z0-9_]+)=", path.read_text("utf-8"))}
    assert {"kafka_brokers", "postgres_url", "s3_secret_key"} <= names
    assert names - {"config"} <= Config.model_fields.keys()


def test_every_example_inventory_has_what_every_play_needs() -> None:
    groups = {play["hosts"] for file in PLAYBOOKS for play in yaml.safe_load((ANSIBLE / file).read_text("utf-8"))}
    for inventory in INVENTORIES:
        done = subprocess.run(
            [Path(sys.executable).with_name("ansible-inventory"), "-i", f"inventories/{inventory}", "--list", "--yaml"],
            cwd=ANSIBLE,
            capture_output=True,
            text=True,
            check=True,
        )
        named = re.findall(r"^\s+(\w+):$", done.stdout, re.MULTILINE)
        assert groups - {"all", "localhost"} <= set(named), inventory


def test_the_readme_has_commands_for_every_part_of_a_life() -> None:
    assert {"The first host", "The first document", "Upgrade", "Rollback", "Remove"} <= commands().keys()


def test_an_environment_that_was_broken_off_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)  # as far as one came that was killed: there is no pip
    (tmp_path / "half").touch()
    make = ["sh", "-s", str(tmp_path)]
    for _ in range(2):  # the second finds it complete
        subprocess.run(make, input=(ANSIBLE / "files/venv").read_text("utf-8"), text=True, check=True)
        assert (tmp_path / "bin/pip").is_file()
        assert (tmp_path / "complete").is_file()
        assert not (tmp_path / "half").exists()


def test_what_makes_an_environment_goes_on_from_nothing_but_its_last_word() -> None:
    for path, text in texts("roles"):
        for task in re.split(r"\n(?=\s*- name: )", text):
            if "'venv'" in task:
                assert "flock" in task, f"{path.parent.parent.name}: two runs at once would fill one folder"
                assert re.search(r"creates: \S*.*/complete\"", task), path.parent.parent.name
            assert "-m, venv" not in task, f"{path.parent.parent.name}: what is killed on the way stays half"


def test_the_role_knows_every_worker() -> None:
    known = yaml.safe_load((ANSIBLE / "roles/sandcrawler/vars/main.yml").read_text("utf-8"))["sandcrawler_known"]
    assert known == list(WORKERS)


def ports(workers: dict[str, dict[str, int]]) -> dict[str, int]:
    """The metrics port of each instance of a host that is in all groups."""
    own = yaml.safe_load((ANSIBLE / "roles/sandcrawler/vars/main.yml").read_text("utf-8"))
    known = {"sandcrawler_known": own["sandcrawler_known"], "sandcrawler_metrics_port": 9300}
    text = Template(own["sandcrawler_instances"]).render(sandcrawler_workers=workers, group_names=[*workers], **known)
    return {each["name"]: each["metrics_port"] for each in ast.literal_eval(text)}


def test_one_more_instance_moves_no_other() -> None:
    few = ports({"ingest": {"ingest": 1}, "persist": {"persist-results": 1, "persist-xml-doc": 1}})
    more = ports({"ingest": {"ingest": 3}, "persist": {name: 2 for name in WORKERS if name != "ingest"}})
    assert few["ingest"] == 9300
    assert few.items() <= more.items()
    assert len(set(more.values())) == len(more)
