"""Kafka's jars: which ones, by their hashes, and how they come from Maven Central into the user's cache.

`kafka-jars.toml` pins every jar by SHA-256, so a start is the same everywhere and nothing else is ever run; jgo worked
the list out and fetches the files. Each file is downloaded beside the cache, checked, and moved in: a break leaves no
half of a jar behind, and two stacks may fetch at the same time.

    python -m sandcrawler.stack.jars                 prints the list anew
    python -m sandcrawler.stack.jars archive FILE    writes all jars into one tar, for a machine that has no network
"""

import hashlib
import sys
import tarfile
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from sandcrawler.errors import Unavailable

KAFKA_VERSION = "4.4.0"
ENDPOINT = f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}"
# Kafka logs through slf4j 1.7 and leaves its backend to the one who runs it: without this one it starts mute.
LOGGING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.5"
# Kafka's commands for operators (TopicCommand and its like). Of what it needs in turn, they use only what is there.
TOOLS = f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}"
LIST = Path(__file__).with_name("kafka-jars.toml")
ARCHIVE = ".aot"  # ends the name of what Java remembers of the jars
PARALLEL = 8
STEP = 1_000_000  # bytes between two words on the download


@dataclass(frozen=True)
class Jar:
    """One jar of Maven Central. `coordinate` is group:artifact:version."""

    coordinate: str
    sha256: str

    @property
    def file(self) -> str:
        """Its name in the cache."""
        return "{1}-{2}.jar".format(*self.coordinate.split(":"))


def pinned() -> list[Jar]:
    """The jars that Kafka needs."""
    return [Jar(name, digest) for name, digest in tomllib.loads(LIST.read_text("utf-8"))["jars"].items()]


def folder() -> Path:
    """Where the jars are kept."""
    return user_cache_path("sandcrawler") / f"kafka-{KAFKA_VERSION}"


def digest(path: Path) -> str | None:
    """SHA-256 of a file; None when there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def fetch(report: Callable[[str], None]) -> list[Path]:
    """All jars, whole and checked; what is not yet in the cache is downloaded. Unavailable says what failed."""
    target, jars = folder(), pinned()
    target.mkdir(parents=True, exist_ok=True)
    missing = [jar for jar in jars if digest(target / jar.file) != jar.sha256]
    if missing:
        report(f"downloading Kafka {KAFKA_VERSION}: {len(missing)} files from Maven Central")
        _download(missing, target, report)
        for archive in target.glob(f"*{ARCHIVE}*"):  # made from other files than these
            archive.unlink(missing_ok=True)
    return [target / jar.file for jar in jars]


def _download(jars: list[Jar], target: Path, report: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".download-") as name:
        context = _maven(Path(name), report)
        with ThreadPoolExecutor(PARALLEL) as pool:
            waiting = [pool.submit(_download_one, context, jar, target) for jar in jars]
            try:
                for future in as_completed(waiting):
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _download_one(context: Any, jar: Jar, target: Path) -> None:
    group, artifact, version = jar.coordinate.split(":")
    try:
        path: Path = context.project(group, artifact).at_version(version).artifact().resolve()
    except (OSError, RuntimeError) as error:  # requests' errors are OSErrors; jgo raises RuntimeError for a 404
        raise Unavailable(f"download of {jar.coordinate} from Maven Central failed: {error}") from error
    if digest(path) != jar.sha256:
        raise Unavailable(f"download of {jar.coordinate}: the file is not the one that is pinned in {LIST.name}")
    path.replace(target / jar.file)


def _maven(cache: Path, report: Callable[[str], None]) -> Any:
    """jgo's view of Maven Central and of the mirrors that the user's jgo settings name."""
    from jgo.config import GlobalSettings  # noqa: PLC0415  (half a second that a warm start does not need)
    from jgo.constants import MAVEN_CENTRAL_URL  # noqa: PLC0415
    from jgo.maven import MavenContext, PythonResolver  # noqa: PLC0415

    received = 0
    lock = threading.Lock()

    @contextmanager
    def progress(_file: str, _size: int) -> Iterator[Callable[[int], None]]:
        def update(size: int) -> None:
            nonlocal received
            with lock:
                before, received = received, received + size
            if before // STEP != received // STEP:
                report(f"downloading Kafka {KAFKA_VERSION}: {received // STEP} MB")

        yield update

    repositories = {"central": MAVEN_CENTRAL_URL} | (GlobalSettings.load().repositories or {})
    return MavenContext(
        resolver=PythonResolver(progress_callback=progress), repo_cache=cache, remote_repos=repositories, timeout=60
    )


def resolve() -> list[Jar]:
    """Work the list out anew: Kafka and what it needs at run time, the logging backend, and the tools."""
    import jgo  # noqa: PLC0415

    wanted = [f"{a.groupId}:{a.artifactId}:{a.version}" for a in jgo.resolve(ENDPOINT)]
    with tempfile.TemporaryDirectory() as name:
        context = _maven(Path(name), lambda _text: None)
        jars = []
        for coordinate in sorted([*wanted, LOGGING, TOOLS]):
            group, artifact, version = coordinate.split(":")
            path = context.project(group, artifact).at_version(version).artifact().resolve()
            jars.append(Jar(coordinate, digest(path) or ""))
        return jars


def pack(file: Path, report: Callable[[str], None]) -> None:
    """Write all jars into one tar, whole or not at all; the same jars make the same bytes. Unavailable: as `fetch`."""
    paths = fetch(report)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".archive-") as name:
        fresh = Path(name, file.name)
        with tarfile.open(fresh, "w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(paths):
                entry = tarfile.TarInfo(path.name)  # root's, readable by all, as old as time
                entry.size = path.stat().st_size
                with path.open("rb") as content:
                    archive.addfile(entry, content)
        fresh.replace(file)


def main(arguments: Sequence[str]) -> int:
    """The commands that the head of this file names; their exit code."""
    match arguments:
        case []:
            import tomli_w  # noqa: PLC0415

            sys.stdout.write(f"# Made by `python -m sandcrawler.stack.jars`: what {ENDPOINT} needs")
            sys.stdout.write(", as group:artifact:version.\n\n")
            sys.stdout.write(tomli_w.dumps({"jars": {jar.coordinate: jar.sha256 for jar in resolve()}}))
            return 0
        case ["archive", file]:
            try:
                pack(Path(file), lambda text: print(text, file=sys.stderr))  # noqa: T201
            except Unavailable as error:
                print(error, file=sys.stderr)  # noqa: T201
                return 3
            return 0
    print("usage: python -m sandcrawler.stack.jars [archive FILE]", file=sys.stderr)  # noqa: T201
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
