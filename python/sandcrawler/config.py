"""All settings: one frozen value, read once at the start, checked, and handed down as an argument.

Order, first wins: environment (`SANDCRAWLER_…`), the TOML file named by `SANDCRAWLER_CONFIG`, the addresses of a
running local stack (`stack.toml` in the data folder), the defaults below.
"""

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from sandcrawler import __version__, names
from sandcrawler.errors import ConfigurationError

PREFIX = "SANDCRAWLER_"
MIB = 1 << 20
GIB = 1 << 30
# Variables that are read elsewhere.
ELSEWHERE = ("CONFIG", "DIR", "TEST_STACK")
CORES = os.cpu_count() or 1
# What an extraction child needs for itself (measured: 90 MiB), and for each body: as sent, as received, and parsed.
CHILD_BYTES = 256 * MIB
BODIES_IN_CHILD = 3


def data_dir() -> Path:
    """Where the local stack keeps its data: `SANDCRAWLER_DIR`, else the user's data folder."""
    return Path(os.environ.get(PREFIX + "DIR") or user_data_path("sandcrawler"))


def _split(value: object) -> object:
    """A comma-separated string as a list; anything else as it is."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _connect_to(value: object) -> object:
    """curl's --connect-to: "HOST:PORT:ADDR:PORT,…" → {(host, port): (address, port)}. IPv6 addresses in brackets."""
    if not isinstance(value, str):
        return value
    table = {}
    for part in _split(value):  # type: ignore[attr-defined]
        try:
            host, port, rest = part.split(":", 2)
            address, to_port = rest.rsplit(":", 1)
            table[(host.lower(), int(port))] = (address.strip("[]"), int(to_port))
        except ValueError as error:
            raise ValueError(f"{part!r} is not HOST:PORT:ADDRESS:PORT") from error
    return table


def _networks(value: object) -> object:
    return [ip_network(part, strict=False) for part in _split(value)] if isinstance(value, str) else value  # type: ignore[attr-defined]


def _certificates(file: Path | None) -> Path | None:
    """A file that TLS can trust, so that it is said here if it is none."""
    import ssl  # noqa: PLC0415  (it is slow to import)

    if file is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
        except OSError as error:  # ssl.SSLError is one
            raise ValueError(f"{file} cannot be read as certificates (PEM): {error.strerror or error}") from error
    return file


Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)]
ConnectTo = Annotated[dict[tuple[str, int], tuple[str, int]], NoDecode, BeforeValidator(_connect_to)]
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Paths = Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_split)]
Ports = Annotated[tuple[int, ...], NoDecode, BeforeValidator(_split)]


class Config(BaseSettings):
    """Every setting with its default. The description is what `sandcrawler config` prints."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    env: Annotated[Literal["dev", "qa", "prod"], Field(description="Which environment's topics and groups")] = "dev"

    kafka_brokers: Annotated[str | None, Field(description="host:port,… of the brokers")] = None
    postgres_url: Annotated[str | None, Field(description="postgresql://user:password@host:port/database")] = None
    s3_url: Annotated[str | None, Field(description="http(s)://host:port of the S3 gateway")] = None
    s3_access_key: Annotated[str, Field(description="S3 access key")] = "sandcrawler"
    s3_secret_key: Annotated[SecretStr, Field(description="S3 secret key")] = SecretStr("sandcrawler")
    s3_bucket: Annotated[str, Field(description="Bucket of the bodies")] = names.BUCKET

    kafka_replication: Annotated[int, Field(ge=1, description="Replication factor of topics that setup creates")] = 1
    kafka_partitions: Annotated[int, Field(ge=1, description="Partitions of topics that setup creates")] = 12
    kafka_group_suffix: Annotated[str, Field(description="Added to consumer group names, to read all again")] = ""

    fetch_user_agent: Annotated[
        str, Field(pattern=r"^[^\x00-\x1f\x7f]+$", description="One honest User-Agent with a contact")
    ] = f"sandcrawler/{__version__} (+https://example.org/sandcrawler; set SANDCRAWLER_FETCH_USER_AGENT)"
    fetch_connect_to: Annotated[ConnectTo, Field(description="HOST:PORT:ADDRESS:PORT,…, as curl's --connect-to")] = {}
    fetch_ca_file: Annotated[
        Path | None, AfterValidator(_certificates), Field(description="More trusted root certificates (PEM)")
    ] = None
    fetch_allow_addresses: Annotated[Networks, Field(description="Networks exempt from the address guard")] = ()
    fetch_allow_ports: Annotated[Ports, Field(description="Ports allowed beside 80, 443, 8080, 8443")] = ()
    fetch_host_gap: Annotated[float, Field(ge=0, description="Seconds between two requests to one host")] = 1.0
    fetch_host_parallel: Annotated[int, Field(ge=1, description="Requests to one host at a time")] = 1
    fetch_host_patience: Annotated[float, Field(ge=0, description="Longest cooldown of a host that is sat out")] = 10.0
    fetch_robots: Annotated[bool, Field(description="Whether robots.txt is obeyed")] = True
    fetch_robots_exempt: Annotated[Words, Field(description="Hosts whose robots.txt is not asked for")] = ()
    fetch_crawl_delay: Annotated[float, Field(ge=0, description="Longest Crawl-delay that is honoured, seconds")] = 30.0
    fetch_blocklist: Annotated[Paths, Field(description="More lists of URLs that are not fetched")] = ()
    fetch_connect_seconds: Annotated[float, Field(gt=0, description="Connecting, TLS included")] = 10.0
    fetch_read_seconds: Annotated[float, Field(gt=0, description="Between two reads")] = 30.0
    fetch_redirects: Annotated[int, Field(ge=0, description="HTTP redirects in a row")] = 25
    fetch_body_bytes: Annotated[int, Field(gt=0, description="Decompressed bytes of one body")] = 128 * MIB
    fetch_bytes_in_flight: Annotated[int, Field(gt=0, description="Bytes of large bodies in one worker")] = GIB

    ingest_hops: Annotated[int, Field(ge=0, description="Documents in a row (refresh, full-text links)")] = 8
    ingest_resources: Annotated[int, Field(ge=0, description="Sub-resources of one page")] = 200
    ingest_resources_parallel: Annotated[int, Field(ge=1, description="Sub-resources of one page at a time")] = 24
    ingest_seconds: Annotated[float, Field(gt=0, description="One request in all")] = 300.0
    ingest_known: Annotated[
        Literal["workers", "always", "never"],
        Field(
            description="Who looks up in PostgreSQL what is known of a link, to ask servers for changes only: "
            "workers (run ingest), always (the command ingest, too), never"
        ),
    ] = "workers"
    ingest_window: Annotated[int, Field(ge=1, description="Documents in flight in one worker")] = 128

    extract_processes: Annotated[int, Field(ge=1, description="Extraction children of one worker")] = CORES
    extract_seconds: Annotated[float, Field(gt=0, description="One extraction")] = 60.0
    extract_bytes: Annotated[
        int,
        Field(description="Memory of one extraction child; at least 256 MiB and three bodies", validate_default=True),
    ] = 2 * GIB
    extract_rules: Annotated[Path | None, Field(description="More filter-list rules for sub-resources")] = None

    fetch_backend: Annotated[
        str,
        Field(
            min_length=1,
            description="Where answers come from: live, wayback[:YYYYMMDDhhmmss], spn, live-then-wayback, "
            "wayback-then-live, warc:PATH|URL",
        ),
    ] = "live"
    fetch_backends: Annotated[Words, Field(description="Kinds of back end that a request may name")] = ("live",)
    fetch_wayback_cdx: Annotated[str, Field(description="Index of the web archive (a CDX API)")] = (
        "https://web.archive.org/cdx/search/cdx"
    )
    fetch_wayback_replay: Annotated[str, Field(description="Replay of the web archive: before /MOMENTid_/URL")] = (
        "https://web.archive.org/web"
    )
    fetch_wayback_gap: Annotated[float, Field(ge=0, description="Seconds between two requests to the archive")] = 1.0
    fetch_wayback_parallel: Annotated[int, Field(ge=1, description="Requests to the archive at a time")] = 1
    fetch_wayback_seconds: Annotated[float, Field(gt=0, description="One answer of the web archive")] = 60.0
    fetch_spn_url: Annotated[str, Field(description="Save Page Now 2")] = "https://web.archive.org/save"
    fetch_spn_access_key: Annotated[SecretStr | None, Field(description="Access key for Save Page Now")] = None
    fetch_spn_secret_key: Annotated[SecretStr | None, Field(description="Secret key for Save Page Now")] = None
    fetch_spn_within: Annotated[str, Field(description="Age of a capture that is not made again; empty: none")] = "14d"
    fetch_spn_seconds: Annotated[float, Field(gt=0, description="One capture by Save Page Now")] = 180.0
    warc: Annotated[str, Field(min_length=1, description="WARCs of all captures: off, bucket, or a folder")] = "off"
    warc_bytes: Annotated[int, Field(gt=0, description="Bytes of bodies in one WARC, as received")] = GIB

    message_bytes: Annotated[int, Field(gt=0, description="Largest Kafka message")] = 32 * MIB
    persist_batch: Annotated[int, Field(ge=1, description="Records in one batch of a persist worker")] = 500
    persist_seconds: Annotated[float, Field(gt=0, description="Oldest record in a batch before it is written")] = 1.0
    metrics_port: Annotated[int, Field(ge=0, le=65535, description="Port of the Prometheus metrics; 0 for none")] = 0
    metrics_host: Annotated[str, Field(description="Address that the metrics are served on")] = "127.0.0.1"
    drain_seconds: Annotated[float, Field(gt=0, description="To finish what is in flight on SIGTERM")] = 30.0
    dead_letters_in_row: Annotated[int, Field(ge=1, description="Dead letters in a row that stop a worker")] = 20
    dead_letters_of_200: Annotated[int, Field(ge=1, description="Dead letters in 200 records that stop a worker")] = 100

    @field_validator("extract_bytes")
    @classmethod
    def _room_to_extract(cls, value: int, info: ValidationInfo) -> int:
        """A child that cannot even receive a body ends before it can say whose."""
        least = CHILD_BYTES + BODIES_IN_CHILD * info.data.get("fetch_body_bytes", 0)
        if value < least:
            raise ValueError(f"with {PREFIX}FETCH_BODY_BYTES as it is, {least} is the least; this is {value}")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (the signature is the library's)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        named = os.environ.get(PREFIX + "CONFIG")
        files = [Path(named)] if named else []
        return (
            init_settings,
            env_settings,
            *(TomlConfigSettingsSource(settings_cls, file) for file in [*files, data_dir() / "stack.toml"]),
        )


def unknown_variables() -> list[str]:
    """Variables of the environment that look like settings and are none (a warning: a cluster may set its own)."""
    known = {PREFIX + name.upper() for name in Config.model_fields} | {PREFIX + name for name in ELSEWHERE}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def load(**overrides: Any) -> Config:
    """The settings of this process. ConfigurationError names the variable and what is wrong with it."""
    named = os.environ.get(PREFIX + "CONFIG")
    if named and not Path(named).is_file():
        raise ConfigurationError(f"{PREFIX}CONFIG: there is no file {named}")
    for name in unknown_variables():
        import structlog  # noqa: PLC0415  (it is slow to import)

        structlog.get_logger().warning("no such setting; `sandcrawler config` lists them", variable=name)
    try:
        return Config(**overrides)
    except ValidationError as error:
        lines = [f"{PREFIX}{'_'.join(map(str, e['loc'][:1])).upper()}: {e['msg']}" for e in error.errors()]
        raise ConfigurationError("\n".join(lines)) from error
    except ValueError as error:  # a TOML file that cannot be read
        raise ConfigurationError(f"settings file: {error}") from error
