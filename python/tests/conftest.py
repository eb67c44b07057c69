"""The real servers for tests: one local stack for the whole run, started when the first test asks for it.

A test that asks for `stack` (or for anything below it) is marked `stack` by itself. Each test gets a database and a
bucket of its own; topics are the test's own affair: give them unique names, or a unique `kafka_group_suffix`.

SANDCRAWLER_TEST_STACK=DIR uses the stack that runs in DIR (`sandcrawler up --dir DIR`) instead of starting one.
"""

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql

from sandcrawler.config import Config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from sandcrawler.stack import Addresses

NAMED = "SANDCRAWLER_TEST_STACK"
# The speed of the machine decides nothing, and a commit always tries the same examples; others are tried with
# `--hypothesis-profile=explore`.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("repeat", settings.get_profile("explore"), derandomize=True, database=None)
settings.load_profile("repeat")

# A run in the background of a shell ignores Ctrl-C, and so would the programs that it starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REAL = {"stack", "stack_config", "fresh_database", "fresh_bucket", "s3"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs real servers, so that `-m 'not stack'` is the quick half of the tests."""
    for item in items:
        if REAL & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session", autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test sees the settings or the stack of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SANDCRAWLER_") and name != NAMED]:
            patch.delenv(name)
        patch.setenv("SANDCRAWLER_DIR", str(tmp_path_factory.getbasetemp() / "no-stack"))
        yield


@pytest.fixture(scope="session")
def stack(_own_settings: None) -> "Iterator[Addresses]":
    """The addresses of real servers: kafka_brokers, postgres_url, s3_url, s3_access_key, s3_secret_key."""
    pytest.importorskip("jgo", reason="the local stack needs: pip install 'sandcrawler[stack]'")
    from sandcrawler.stack import running  # noqa: PLC0415

    named = os.environ.get(NAMED)
    with running(Path(named) if named else None, Config()) as addresses:
        yield addresses


@pytest.fixture
def fresh_database(stack: "Addresses") -> Iterator[str]:
    """The URL of an empty database that goes away after the test."""
    name = f"test_{uuid.uuid4().hex}"
    quoted = sql.Identifier(name)
    with psycopg.connect(stack.postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(quoted))
    yield stack.postgres_url.rpartition("/")[0] + "/" + name
    with psycopg.connect(stack.postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(quoted))


@pytest.fixture
def s3(stack: "Addresses") -> "Iterator[S3Client]":
    """A client of the real bucket server."""
    client = boto3.client(
        "s3",
        endpoint_url=stack.s3_url,
        aws_access_key_id=stack.s3_access_key,
        aws_secret_access_key=stack.s3_secret_key,
        region_name="us-east-1",
    )
    yield client
    client.close()


@pytest.fixture
def fresh_bucket(s3: "S3Client") -> Iterator[str]:
    """The name of an empty bucket that goes away after the test."""
    name = f"test-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=name)
    yield name
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
        if keys := [{"Key": found["Key"]} for found in page.get("Contents", ())]:
            s3.delete_objects(Bucket=name, Delete={"Objects": keys})  # type: ignore[typeddict-item]
    s3.delete_bucket(Bucket=name)


@pytest.fixture
def stack_config(stack: "Addresses", fresh_database: str, fresh_bucket: str) -> Callable[..., Config]:
    """Makes a Config that points to the real servers, with this test's own database, bucket and group suffix."""
    suffix = f"-{uuid.uuid4().hex[:12]}"

    def make(**overrides: Any) -> Config:
        own = {
            "kafka_brokers": stack.kafka_brokers,
            "postgres_url": fresh_database,
            "s3_url": stack.s3_url,
            "s3_access_key": stack.s3_access_key,
            "s3_secret_key": stack.s3_secret_key,
            "s3_bucket": fresh_bucket,
            "kafka_group_suffix": suffix,
        }
        return Config(**(own | overrides))

    return make
