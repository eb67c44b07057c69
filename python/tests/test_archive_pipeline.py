"""WARCs from the command line and from a worker, and documents read out of them again without any web."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandcrawler import workers
from sandcrawler.config import Config
from sandcrawler.demo.documents import documents
from sandcrawler.demo.server import Web, running
from sandcrawler.errors import InvalidMessage
from sandcrawler.names import Topic
from sandcrawler.runtime import Message, Record
from sandcrawler.status import Status
from tests.fetch.warcs import checked, records
from tests.test_cli import sandcrawler

DOCUMENT = next(d for d in documents("html") if d.expected.status is Status.SUCCESS and "figure" in repr(d.answers))
# What two captures of one thing do not share.
MOMENTS = {"timestamp", "request", "cdx", "error_message"}


def settings(web: Web) -> dict[str, str]:
    return {
        "SANDCRAWLER_FETCH_CONNECT_TO": web.connect_to,
        "SANDCRAWLER_FETCH_ALLOW_ADDRESSES": "127.0.0.0/8",
        "SANDCRAWLER_FETCH_HOST_GAP": "0",
    }


def test_ingest_keeps_everything_and_reads_it_again(tmp_path: Path) -> None:
    with running() as web:
        done = sandcrawler("ingest", DOCUMENT.url, "--out", str(tmp_path / "out"), **settings(web))
    assert done.returncode == 0, done.stderr
    live = json.loads(done.stdout)
    assert live["status"] == "success"
    cdx, path = live["cdx"], Path(live["cdx"]["warc_path"])
    sha1 = cdx["sha1hex"]
    assert path == tmp_path / "out" / "warc" / sha1[:2] / sha1[2:4] / f"{sha1}.warc.gz"
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == live
    assert checked(path)
    (record,) = records(path.read_bytes()[cdx["warc_offset"] :][: cdx["warc_csize"]])
    assert record.url == live["terminal"]["terminal_url"]

    again = sandcrawler("ingest", DOCUMENT.url, "--backend", f"warc:{path}", "--body-out", str(tmp_path / "tei"))
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert {k: v for k, v in told.items() if k not in MOMENTS} == {k: v for k, v in live.items() if k not in MOMENTS}
    assert {k: told["cdx"][k] for k in cdx} == cdx
    kept = [path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()]
    assert (tmp_path / "tei").read_bytes() in kept


def test_a_back_end_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    for backend in (f"warc:{tmp_path}/none.warc", "gopher"):
        done = sandcrawler("ingest", DOCUMENT.url, "--backend", backend)
        assert (done.returncode, done.stdout) == (2, b"")
        assert backend.partition(":")[2].encode() in done.stderr


def worked(config: Config, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The results that an ingest worker's step publishes."""
    step = workers.ingest(config)

    async def work() -> list[Sequence[Message]]:
        async with step.session():
            return [await step.work(step.decode(record(request))) for request in requests]

    results = Topic.RESULTS.named(config.env)
    return [json.loads(m.value or b"") for each in asyncio.run(work()) for m in each if m.topic == results]


def record(request: dict[str, Any]) -> Record:
    return Record(topic="t", partition=0, offset=0, key=None, value=json.dumps(request).encode())


def test_a_worker_keeps_its_warc_in_the_bucket(
    stack_config: Callable[..., Config],
    s3,  # type: ignore[no-untyped-def]
    fresh_bucket: str,
    tmp_path: Path,
) -> None:
    with running() as web:
        config = stack_config(
            warc="bucket",
            fetch_backends=("live", "warc"),
            fetch_connect_to=web.connect_to,
            fetch_allow_addresses="127.0.0.0/8",
            fetch_host_gap=0,
        )
        (result,) = worked(config, {"ingest_type": "html", "base_url": DOCUMENT.url})
    cdx = result["cdx"]
    sha1 = cdx["sha1hex"]
    assert cdx["warc_path"] == f"warc/{sha1[:2]}/{sha1[2:4]}/{sha1}.warc.gz"
    last = cdx["warc_offset"] + cdx["warc_csize"] - 1
    found = s3.get_object(Bucket=fresh_bucket, Key=cdx["warc_path"], Range=f"bytes={cdx['warc_offset']}-{last}")
    assert found["ContentType"] == "application/warc"
    (record,) = records(found["Body"].read())
    assert (record.kind, record.url) == ("response", result["terminal"]["terminal_url"])
    whole = tmp_path / "whole.warc.gz"
    whole.write_bytes(s3.get_object(Bucket=fresh_bucket, Key=cdx["warc_path"])["Body"].read())
    assert checked(whole)

    again = {"ingest_type": "html", "base_url": DOCUMENT.url, "fetch_backend": f"warc:{whole}"}
    nowhere = {**again, "fetch_backend": f"warc:{tmp_path}/none.warc"}
    told, missing = worked(config, again, nowhere)
    assert told["html_resources"] == result["html_resources"]
    assert (told["status"], told["cdx"]["warc_path"]) == ("success", str(whole))
    assert missing["status"] == "no-capture"
    assert "no such file" in missing["error_message"]


def test_a_request_with_a_back_end_of_no_kind_is_a_dead_letter() -> None:
    with pytest.raises(InvalidMessage, match="fetch_backend"):
        workers.ingest(Config()).decode(
            record({"ingest_type": "html", "base_url": DOCUMENT.url, "fetch_backend": "gopher"})
        )


def test_a_request_may_not_read_this_machine_s_files_unless_the_operator_says_so(tmp_path: Path) -> None:
    asked = record({"ingest_type": "html", "base_url": DOCUMENT.url, "fetch_backend": f"warc:{tmp_path}/a.warc"})
    with pytest.raises(InvalidMessage, match="SANDCRAWLER_FETCH_BACKENDS"):
        workers.ingest(Config()).decode(asked)
    workers.ingest(Config(fetch_backends=("live", "warc"))).decode(asked)
