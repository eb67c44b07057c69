"""The bodies in the bucket, through the S3 API (SeaweedFS, or anything that speaks it).

Objects are overwritten with identical bytes, never skipped (a look before every put would cost as much as the put)
and never deleted. Content-MD5 goes along, so that a body that was cut or changed on its way is refused.
boto3 is slow for small objects (some 2 ms of Python each), and waits for the network: hence the threads.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config as BotoConfig
from botocore.exceptions import ClientError, EndpointResolutionError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as BotoConnectionError

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.persist.bodies import Blob

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

THREADS = 16
CONNECT_SECONDS = 5
READ_SECONDS = 30
ATTEMPTS = 4

# Error codes of S3. What is in neither set is told by the HTTP status, or is a bug.
OPERATOR_CODES = frozenset(
    {"NoSuchBucket", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidBucketName", "403"}
)
CUT_CODES = frozenset({"BadDigest", "IncompleteBody", "RequestTimeout", "XAmzContentChecksumMismatch"})


def client(config: Config) -> "S3Client":
    """An S3 client with every time limit set; no other place of the project makes one."""
    if not config.s3_url:
        raise ConfigurationError("SANDCRAWLER_S3_URL is not set: name an S3 gateway, or start one: sandcrawler up")
    try:
        return boto3.client(
            "s3",
            endpoint_url=config.s3_url,
            region_name="us-east-1",
            aws_access_key_id=config.s3_access_key,
            aws_secret_access_key=config.s3_secret_key.get_secret_value(),
            config=BotoConfig(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
                max_pool_connections=THREADS,
                # Content-MD5 does the same, and older gateways know it.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )
    except ValueError as error:
        raise ConfigurationError(f"SANDCRAWLER_S3_URL: {error}") from error


class BlobSink:
    """Writes bodies to the bucket, several at a time."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @cached_property
    def _client(self) -> "S3Client":
        return client(self.config)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, thread_name_prefix="put")

    def write(self, values: Sequence[Blob]) -> None:
        """Every body is in the bucket when this returns. Of one key the last is written, as Kafka's order has it."""
        self._client  # noqa: B018  (made here, once: making clients is not safe in threads)
        puts = [self._pool.submit(self.put, blob) for blob in {blob.key: blob for blob in values}.values()]
        try:
            for put in puts:
                put.result()
        finally:
            for put in puts:
                put.cancel()
            # None is left under way: it might overtake the next version of its key.
            wait(puts)

    def put(self, blob: Blob) -> None:
        """One body, whole or not at all."""
        with faults(self.config):
            self._client.put_object(
                Bucket=self.config.s3_bucket,
                Key=blob.key,
                Body=blob.body,
                ContentType=blob.content_type,
                ContentMD5=base64.b64encode(hashlib.md5(blob.body, usedforsecurity=False).digest()).decode(),
            )

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def faults(config: Config) -> Iterator[None]:
    """The client's errors as ours, with a text that names the gateway and what to do."""
    where = f"S3 at {config.s3_url}, bucket {config.s3_bucket}"
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in OPERATOR_CODES or status == 403:
            advice = "check SANDCRAWLER_S3_BUCKET and the keys SANDCRAWLER_S3_ACCESS_KEY and SANDCRAWLER_S3_SECRET_KEY"
            raise ConfigurationError(f"{where}: {error}: {advice}, and run `sandcrawler setup`") from error
        if status >= 500 or status == 429 or code in CUT_CODES:
            # "No free volumes left" comes as InternalError: a full store, which an operator can make room in.
            raise Unavailable(f"{where}: {error}: is it healthy, has it room left (`sandcrawler ps`)?") from error
        raise
    except EndpointResolutionError as error:
        raise ConfigurationError(f"SANDCRAWLER_S3_URL: {error}") from error
    except (BotoConnectionError, HTTPClientError, IncompleteReadError) as error:
        raise Unavailable(f"{where}: {error}: is it running (`sandcrawler ps`)?") from error


def make(config: Config) -> dict[str, bool]:
    """The bucket's name, and whether it was made now."""
    if not differences(config):
        return {config.s3_bucket: False}
    try:
        with faults(config):
            client(config).create_bucket(Bucket=config.s3_bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
            raise
    return {config.s3_bucket: True}


def differences(config: Config) -> list[str]:
    """A line if the bucket is missing."""
    try:
        with faults(config):
            client(config).head_bucket(Bucket=config.s3_bucket)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
            raise
        return [f"S3 at {config.s3_url}: bucket {config.s3_bucket} is missing: sandcrawler setup"]
    return []
