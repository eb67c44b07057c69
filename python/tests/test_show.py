"""What `sandcrawler show` finds, from whatever end one starts."""

import io
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import psycopg
import pytest
import typer

from sandcrawler.cli import look
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.model import CdxRow
from sandcrawler.names import Table
from sandcrawler.persist import migrations, results
from sandcrawler.persist.blobs import BlobSink
from sandcrawler.persist.bodies import decode_html_teixml
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.persist.warcs import BucketStore
from sandcrawler.show import BY_SHA1, BY_SURT, BY_URL, is_warc, keep, show
from tests.persist.documents import record, result, sha1, tei

URL = "https://journal.example.org/articles/1"


@pytest.fixture
def config(stack_config: Callable[..., Config]) -> Config:
    made = stack_config()
    migrations.make(made)
    moved = result(9)
    moved["terminal"] |= {"terminal_url": URL, "terminal_sha1hex": sha1(1)}
    sink, values = PostgresSink(made), [result(1), result(2), {**moved, "status": "terminal-bad-status", "hit": False}]
    sink.write([results.decode(record(value)) for value in values])
    sink.close()
    BlobSink(made).write([decode_html_teixml(tei(1)), decode_html_teixml(tei(2))])
    return made


@pytest.mark.parametrize("what", [URL, sha1(1), sha1(1).upper(), "org,example,journal)/articles/1", f" {URL}\n"])
def test_all_of_one_document(config: Config, what: str) -> None:
    found = list(show(config, what))
    tables = Counter(item["table"] for item in found if "table" in item)
    assert tables["cdx"] == tables["file_meta"] == tables["html_meta"] == 1
    assert tables["ingest_file_result"] == 2
    assert tables["ingest_request"] == (1 if URL in what else 0)
    objects = [item for item in found if "object" in item]
    key = f"html/{sha1(1)[:2]}/{sha1(1)[2:4]}/{sha1(1)}.tei.xml"
    assert objects == [{"object": key, "size_bytes": 12, "content_type": "application/xml"}]
    html = next(item["row"] for item in found if item.get("table") == "html_meta")
    assert html["updated"] == "2024-05-06T07:08:09.123456+00:00"
    assert html["biblio"]["title"] == "On the flight of terns"


def test_all_warcs_of_a_document_and_any_object_in_a_file(config: Config, tmp_path: Path) -> None:
    store, cdx = BucketStore(config), CdxRow(**{**result(1)["cdx"], "sha1hex": sha1(1)})
    first = store.put(cdx, io.BytesIO(b"first"))
    store.put_revisit(cdx, "20250101000000", io.BytesIO(b"still there"))
    again = store.put(cdx.model_copy(update={"datetime": "20250202000000"}), io.BytesIO(b"again"))
    warcs = [item["object"] for item in show(config, sha1(1)) if item.get("object", "").startswith("warc/")]
    assert warcs[0] == first
    assert set(warcs[1:]) == {again, next(key for key in warcs if key.endswith(".revisit.warc.gz"))}
    assert [key for key in warcs if is_warc(key)] == [first, again]
    (item,) = show(config, again)
    assert (item["object"], item["size_bytes"], item["content_type"]) == (again, 5, "application/warc")
    keep(config, again, tmp_path / "again.warc.gz")
    assert (tmp_path / "again.warc.gz").read_bytes() == b"again"
    with pytest.raises(ConfigurationError, match="cannot be written"):
        keep(config, again, tmp_path / "nowhere" / "x")


def test_the_command_writes_body_and_warc(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(look, "load", lambda: config)
    body, warc = tmp_path / "body.tei.xml", tmp_path / "page.warc.gz"
    with pytest.raises(typer.Exit):
        look.show(sha1(2), body, warc)
    assert (body.stat().st_size, warc.exists()) == (12, False)
    assert "nothing for" in capsys.readouterr().err
    BucketStore(config).put(CdxRow(**{**result(2)["cdx"], "sha1hex": sha1(2)}), io.BytesIO(b"warc"))
    look.show(sha1(2), body, warc)
    assert warc.read_bytes() == b"warc"


@pytest.mark.parametrize(
    "what",
    [
        "https://example.org/",
        f"html/aa/bb/{sha1('no')}.tei.xml",
        sha1("nothing"),
        "org,example)/",
        "",
        "' OR 1=1 --",
        "a\x00b",
    ],
)
def test_nothing_is_found_of_nothing(config: Config, what: str) -> None:
    assert list(show(config, what)) == []


@pytest.mark.parametrize("looked_up", [BY_URL, BY_SURT, BY_SHA1])
def test_every_look_up_has_its_index(stack_config: Callable[..., Config], looked_up: Mapping[Table, str]) -> None:
    config = stack_config()
    migrations.make(config)
    given = {"what": "x", "types": ["html"], "hashes": ["x"]}
    with psycopg.connect(config.postgres_url or "") as connection:
        connection.execute("SET enable_seqscan = off")
        for table, condition in looked_up.items():
            plan = connection.execute(f"EXPLAIN SELECT * FROM {table} WHERE {condition}".encode(), given).fetchall()
            assert "Seq Scan" not in str(plan), f"{table}: {plan}"


def test_a_surt_and_a_time_have_an_index(stack_config: Callable[..., Config]) -> None:
    config = stack_config()
    migrations.make(config)
    with psycopg.connect(config.postgres_url or "") as connection:
        connection.execute("SET enable_seqscan = off")
        asked = "EXPLAIN SELECT * FROM cdx WHERE surt = 'x' AND datetime >= '2020' ORDER BY datetime DESC LIMIT 1"
        plan = str(connection.execute(asked).fetchall())
        assert "cdx_surt_datetime_idx" in plan
        assert "Sort" not in plan
