"""`docker-compose.yml` and the workers' image agree with the package, as far as that shows without an engine.

`test_servers.py` has what concerns the servers: their versions and settings.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandcrawler import names
from sandcrawler.config import PREFIX, Config
from sandcrawler.stack import kafka, seaweedfs

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
SERVERS = ("kafka", "postgres", "seaweedfs")
OURS = [name for name, service in SERVICES.items() if "build" in service]
WORKERS = [name for name in OURS if name != "setup"]


def test_every_service_is_a_server_a_worker_or_setup() -> None:
    assert set(SERVICES) == {*SERVERS, "setup", *WORKERS}


@pytest.mark.parametrize("name", OURS)
def test_variables_are_settings(name: str) -> None:
    variables = SERVICES[name]["environment"]
    assert {v.removeprefix(PREFIX).lower() for v in variables} <= set(Config.model_fields)
    config = Config(**{v.removeprefix(PREFIX).lower(): value for v, value in variables.items()})
    assert (config.env, config.s3_bucket) == ("dev", names.BUCKET)
    for host in (config.kafka_brokers, config.postgres_url, config.s3_url):
        assert host
        assert re.search(rf"(?:^|[/@])(?:{'|'.join(SERVERS)}):\d+", host), f"{host} names no service"


def test_workers_are_the_packages_workers() -> None:
    try:
        from sandcrawler.workers import WORKERS as KNOWN  # noqa: PLC0415
    except ImportError as error:
        pytest.skip(f"the workers are not there: {error}")
    assert {name: SERVICES[name]["command"] for name in WORKERS} == {name: ["run", name] for name in KNOWN}


def test_setup_runs_between_servers_and_workers() -> None:
    healthy = {name: {"condition": "service_healthy"} for name in SERVERS}
    assert SERVICES["setup"]["command"] == ["setup"]
    assert SERVICES["setup"]["depends_on"] == healthy
    for name in WORKERS:
        assert SERVICES[name]["depends_on"] == healthy | {"setup": {"condition": "service_completed_successfully"}}


@pytest.mark.parametrize("name", WORKERS)
def test_workers_have_time_to_drain(name: str) -> None:
    assert int(SERVICES[name]["stop_grace_period"].rstrip("s")) > Config().drain_seconds


@pytest.mark.parametrize("name", SERVERS)
def test_servers_are_checked_kept_and_on_loopback_only(name: str) -> None:
    service = SERVICES[name]
    assert {"test", "interval", "timeout", "retries"} <= set(service["healthcheck"])
    (volume,) = service["volumes"]
    assert volume.split(":")[0] in COMPOSE["volumes"]
    for port in service["ports"]:
        assert port.startswith("127.0.0.1:")


def test_kafka_takes_the_largest_message() -> None:
    assert Config().message_bytes < kafka.LARGEST_MESSAGE


def test_bucket_server_knows_the_keys_that_the_workers_have() -> None:
    identity = json.loads(COMPOSE["configs"]["s3"]["content"])["identities"][0]
    variables = SERVICES["setup"]["environment"]
    assert identity["credentials"] == [
        {
            "accessKey": variables["SANDCRAWLER_S3_ACCESS_KEY"],
            "secretKey": variables["SANDCRAWLER_S3_SECRET_KEY"],
        }
    ]
    assert tuple(identity["actions"]) == seaweedfs.ACTIONS


def test_the_image_is_made_of_what_is_there() -> None:
    build = SERVICES["setup"]["build"]
    dockerfile = ROOT / build["context"] / build["dockerfile"]
    for source in re.findall(r"^COPY (\S+) ", dockerfile.read_text("utf-8"), re.MULTILINE):
        assert (ROOT / source).exists(), f"{dockerfile.name} copies {source}"


def compose() -> list[str]:
    """The command, as docker's plugin or on its own; empty where there is none."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is None:
            continue
        if subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0:
            return command
    return []


def test_docker_reads_it() -> None:
    if not (command := compose()):
        pytest.skip("there is no docker compose here")
    done = subprocess.run(
        [*command, "-f", str(FILE), "--profile", "*", "config", "--format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)["services"]
    assert set(read) == set(SERVICES)
    versions = dict(line.split("=", 1) for line in (ROOT / ".env").read_text("utf-8").splitlines() if "=" in line)
    for name in SERVERS:
        expected = re.sub(r"\$\{(\w+):[^}]*\}", lambda match: versions[match[1]], SERVICES[name]["image"])
        assert read[name]["image"] == expected
