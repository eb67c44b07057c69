"""What a stack's folder remembers, and what the settings read of it."""

import errno
import os
import stat
from pathlib import Path

import pytest

from sandcrawler import config
from sandcrawler.errors import ConfigurationError
from sandcrawler.stack import state
from sandcrawler.stack.kafka import Kafka
from sandcrawler.stack.postgres import Postgres
from sandcrawler.stack.seaweedfs import SeaweedFS

ADDRESSES = {
    "kafka_brokers": "127.0.0.1:20001",
    "postgres_url": "postgresql://sandcrawler:p%40ss@127.0.0.1:20002/sandcrawler",
    "s3_url": "http://127.0.0.1:20003",
    "s3_access_key": "key",
    "s3_secret_key": 'with "quotes" and \\',
}


def test_published_addresses_are_what_the_settings_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDCRAWLER_DIR", str(tmp_path))
    state.publish(tmp_path, ADDRESSES)
    loaded = config.load()
    assert loaded.s3_secret_key.get_secret_value() == ADDRESSES["s3_secret_key"]
    assert {name: getattr(loaded, name) for name in ADDRESSES if name != "s3_secret_key"} == {
        name: value for name, value in ADDRESSES.items() if name != "s3_secret_key"
    }
    state.withdraw(tmp_path)
    assert config.load().kafka_brokers is None


def test_the_environment_goes_before_a_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDCRAWLER_DIR", str(tmp_path))
    monkeypatch.setenv("SANDCRAWLER_KAFKA_BROKERS", "broker.example:9092")
    state.publish(tmp_path, ADDRESSES)
    assert config.load().kafka_brokers == "broker.example:9092"


def test_servers_speak_of_real_settings(tmp_path: Path) -> None:
    known = state.State()
    for server in (Kafka(), Postgres(), SeaweedFS("key", "secret")):
        settings = server.settings(state.place(tmp_path, server, known.entry(server)))
        assert next(iter(settings)) == server.setting
        assert set(settings) <= set(config.Config.model_fields)


def test_ports_and_secrets_are_kept(tmp_path: Path) -> None:
    first = state.State()
    before = [first.entry(server).model_copy() for server in (Kafka(), Postgres(), SeaweedFS("a", "b"))]
    state.save(tmp_path, first)
    second = state.load(tmp_path)
    assert [second.entry(server) for server in (Kafka(), Postgres(), SeaweedFS("a", "b"))] == before
    used = [port for entry in before for port in entry.ports.values()]
    assert len(used) == len(set(used))


@pytest.mark.parametrize("name", [state.STATE, state.ADDRESSES])
def test_files_are_private(tmp_path: Path, name: str) -> None:
    state.save(tmp_path, state.State())
    state.publish(tmp_path, ADDRESSES)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state.publish(tmp_path, ADDRESSES)
    before = (tmp_path / state.ADDRESSES).read_bytes()

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        state.publish(tmp_path, ADDRESSES | {"s3_url": "http://127.0.0.1:1"})
    assert [path.name for path in tmp_path.iterdir()] == [state.ADDRESSES]
    assert (tmp_path / state.ADDRESSES).read_bytes() == before


def test_a_damaged_state_is_said(tmp_path: Path) -> None:
    (tmp_path / state.STATE).write_text('{"servers": {"kafka": {"ports": "none"}}}')
    with pytest.raises(ConfigurationError, match=r"servers\.json is damaged"):
        state.load(tmp_path)


def test_a_folder_without_a_stack_has_no_addresses(tmp_path: Path) -> None:
    assert state.load(tmp_path) == state.State()
    assert state.addresses(tmp_path) == {}
    state.withdraw(tmp_path)
