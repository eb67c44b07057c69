"""The real servers: what starts, stays, stops, and comes back."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import psycopg

from sandcrawler.config import Config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def test_fixture_gives_fresh_servers(stack_config: Callable[..., Config], s3: "S3Client") -> None:
    config = stack_config()
    assert config.postgres_url
    with psycopg.connect(config.postgres_url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,)
    s3.put_object(Bucket=config.s3_bucket, Key="a/b", Body=b"body")
    assert s3.get_object(Bucket=config.s3_bucket, Key="a/b")["Body"].read() == b"body"
