"""Settings: where they come from, and what is said of wrong ones."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from sandcrawler import config
from sandcrawler.errors import ConfigurationError


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in config.Config.model_fields:
        monkeypatch.delenv(f"SANDCRAWLER_{name.upper()}", raising=False)
    monkeypatch.delenv("SANDCRAWLER_CONFIG", raising=False)
    monkeypatch.setenv("SANDCRAWLER_DIR", str(tmp_path))


def test_the_design_s_limits_are_the_defaults() -> None:
    got = config.load()
    assert (got.ingest_hops, got.fetch_redirects, got.ingest_resources, got.ingest_seconds) == (8, 25, 200, 300)
    assert (got.fetch_body_bytes, got.message_bytes) == (128 << 20, 32 << 20)
    assert (got.fetch_host_gap, got.fetch_host_parallel) == (1.0, 1)
    assert (got.dead_letters_in_row, got.dead_letters_of_200) == (20, 100)


def test_environment_beats_file_beats_stack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text('kafka_brokers = "stack:1"\npostgres_url = "stack"\ns3_url = "stack"\n')
    (tmp_path / "own.toml").write_text('kafka_brokers = "file:1"\npostgres_url = "file"\n')
    monkeypatch.setenv("SANDCRAWLER_CONFIG", str(tmp_path / "own.toml"))
    monkeypatch.setenv("SANDCRAWLER_KAFKA_BROKERS", "env:1")
    got = config.load()
    assert (got.kafka_brokers, got.postgres_url, got.s3_url) == ("env:1", "file", "stack")


def test_lists_and_tables_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDCRAWLER_FETCH_CONNECT_TO", "Journal.example.org:443:127.0.0.1:8443,[x]:80:[::1]:81")
    monkeypatch.setenv("SANDCRAWLER_FETCH_ALLOW_ADDRESSES", "127.0.0.0/8, ::1/128")
    monkeypatch.setenv("SANDCRAWLER_FETCH_ALLOW_PORTS", "81,82")
    got = config.load()
    assert got.fetch_connect_to[("journal.example.org", 443)] == ("127.0.0.1", 8443)
    assert got.fetch_allow_addresses == (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    assert got.fetch_allow_ports == (81, 82)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SANDCRAWLER_ENV", "production"),
        ("SANDCRAWLER_FETCH_HOST_GAP", "-1"),
        ("SANDCRAWLER_FETCH_CONNECT_TO", "journal.example.org"),
        ("SANDCRAWLER_FETCH_ALLOW_ADDRESSES", "10.0.0.0/99"),
        ("SANDCRAWLER_PERSIST_BATCH", "many"),
        ("SANDCRAWLER_EXTRACT_BYTES", str(256 << 20)),
        ("SANDCRAWLER_FETCH_BODY_BYTES", str(4 << 30)),
        ("SANDCRAWLER_FETCH_BYTES_IN_FLIGHT", "0"),
        ("SANDCRAWLER_FETCH_USER_AGENT", "robot\r\nX: y"),
        ("SANDCRAWLER_FETCH_CA_FILE", "none.pem"),
        ("SANDCRAWLER_FETCH_CA_FILE", __file__),
        ("SANDCRAWLER_FETCH_CA_FILE", "/"),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable):
        config.load()


def test_a_missing_or_broken_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SANDCRAWLER_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigurationError, match=r"none\.toml"):
        config.load()
    (tmp_path / "none.toml").write_text("kafka_brokers = [")
    with pytest.raises(ConfigurationError, match="settings file"):
        config.load()


def test_a_misspelt_setting_in_a_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("fetch_hostgap = 3\n")
    monkeypatch.setenv("SANDCRAWLER_CONFIG", str(tmp_path / "own.toml"))
    with pytest.raises(ConfigurationError, match="SANDCRAWLER_FETCH_HOSTGAP"):
        config.load()


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDCRAWLER_FETCH_HOSTGAP", "3")
    monkeypatch.setenv("SANDCRAWLER_TEST_STACK", "/tmp/stack")
    assert config.unknown_variables() == ["SANDCRAWLER_FETCH_HOSTGAP"]
