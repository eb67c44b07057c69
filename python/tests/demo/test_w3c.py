"""The demo of a source: what its small web says, and that source, pipeline and tables fit together."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sandcrawler.config import Config, load
from sandcrawler.demo.run import WORKERS
from sandcrawler.demo.server import running
from sandcrawler.demo.w3c.__main__ import harvest, joined
from sandcrawler.demo.w3c.site import site, table
from sandcrawler.ingest.describe import describe_bytes
from sandcrawler.sources.w3c.bibliography import get
from tests.pipelines import pipeline


def test_its_pages_are_articles() -> None:
    pages = [answer for answer in site() if answer.url.startswith("http://www.w3.org/")]
    assert len(pages) == sum(len(one.versions) for one in table()[0]) == 6
    for answer in pages:
        outcome, _ = describe_bytes("html", answer.body, answer.url, answer.type, load())
        assert outcome.result.status == "success", answer.url


def test_its_api_is_harvested_and_makes_requests(tmp_path: Path) -> None:
    with running(tuple(site())) as web:
        asked = harvest(web, tmp_path)
    assert len(asked) == 6
    record = get("https://www.w3.org/TR/tide-tables/", tmp_path)
    assert record is not None
    assert len(record["relation"]) == 3
    draft = get("W3C WD-tide-tables", tmp_path)
    assert draft is not None
    assert len(draft["contributor"]) == 3, "publisher, one editor, one group: the other editor has left"


def test_from_the_source_to_the_tables(stack_config: Callable[..., Config], tmp_path: Path) -> None:
    config = stack_config(env="qa", kafka_partitions=4)
    with running(tuple(site())) as web, pipeline(config, web, tmp_path / "workers.log") as made:
        asked = harvest(web, tmp_path / "records")
        made.start(*WORKERS)
        made.publish(asked)
        for _ in made.arrivals(asked, datetime(2000, 1, 1, tzinfo=UTC), 120):
            pass
    rows = joined(tmp_path / "records", config)
    assert [row["docid"] for row in rows] == [
        "W3C WD-tide-tables-20170209",
        "W3C CR-tide-tables-20180621",
        "W3C REC-tide-tables-20190314",
        "W3C WD-vocab-saltmarsh-20201006",
        "W3C NOTE-vocab-saltmarsh-20211130",
        "W3C WD-buoy-metadata-20220517",
    ]
    assert all(row["result"] == "success" and row["same_title"] for row in rows)
    assert [row["stage"] for row in rows] == ["draft", "draft", "published", "draft", "published", "draft"]
