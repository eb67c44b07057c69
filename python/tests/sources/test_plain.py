"""Lists of links in the forms that people have them in."""

import hashlib
import io
from typing import Any

import pytest

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.forms import by_name, guess
from sandcrawler.sources.makers import Maker, requests
from sandcrawler.sources.plain import Options, drafts, own_id, rows
from sandcrawler.sources.requests import Report, Request

A, B = "https://a.example.org/1,2", "https://b.example.org/"


def run(data: str, **options: Any) -> tuple[list[Request], list[int | str]]:
    bad: list[int | str] = []
    chosen = Options(**options)
    maker = Maker("list", rows(chosen), lambda row: drafts(row, chosen), "")
    stream = io.BufferedReader(io.BytesIO(data.encode()))  # type: ignore[arg-type]
    return list(requests(maker, stream, Report(lambda _, where, __: bad.append(where)))), bad


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (f"{A}\n{B}\n", "lines"),
        (f"# mine\r\n{A}\r\n\r\n  {B}  \r\n", "lines"),
        (f'url,note\n"{A}",x\n{B},\n', "csv"),
        (f'"{A}",x\n{B},\n', "csv"),
        (f"note\turl\nx\t{A}\n\t{B}\n", "tsv"),
        (f"x\t{A}\ny\t{B}\n", "tsv"),
        (f'{{"url": "{A}"}}\n{{"base_url": "{B}"}}\n', "jsonl"),
        (f'[{{"url": "{A}"}},\n"{B}"]', "jsonl"),
        (f'url\n"{A}"\n{B}\n', "csv"),
        (f'note;URL\nx;"{A}"\n;{B}\n', "csv"),
        (f'"url";"note"\r"{A}";x\r{B};\r', "csv"),
        (f"{A}\r{B}\r", "lines"),
        (f"note\turl\rx\t{A}\r\t{B}\r", "tsv"),
        (f"{A}\r\n{B}\r\n", "lines"),
        (f'{{"url": "{A}"}}\r{{"base_url": "{B}"}}', "jsonl"),
        (f'{{"url": "{A}"}} {{"base_url": "{B}"}}', "jsonl"),
    ],
)
def test_forms(data: str, form: str) -> None:
    assert guess(data.encode()) == form
    found, bad = run(data)
    assert [one["base_url"] for one in found] == [A, B]
    assert not bad
    assert found[0] == {
        "ingest_type": "html",
        "base_url": A,
        "link_source": "list",
        "link_source_id": A,
        "ingest_request_source": "list",
    }


def test_columns_by_their_own_names() -> None:
    data = f"id,doi,stage,url,rel\n7,https://doi.org/10.1234/A,accepted,{B},repository\n"
    (one,), bad = run(data, kinds=("pdf",), link_source="thesis", by="me")
    assert one == {
        "ingest_type": "pdf",
        "base_url": B,
        "link_source": "thesis",
        "link_source_id": "7",
        "ingest_request_source": "me",
        "release_stage": "accepted",
        "rel": "repository",
        "ext_ids": {"doi": "10.1234/a"},
    }
    assert not bad


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (f"Full text,Key\n{B},k\n", {"base_url": "full text", "link_source_id": "Key"}),
        (f"k,{B}\n", {"base_url": "2", "link_source_id": "1"}),
        (f'{{"Full text": "{B}", "Key": "k"}}\n', {"base_url": "Full text", "link_source_id": "Key"}),
    ],
)
def test_columns_that_the_caller_names(data: str, columns: dict[str, str]) -> None:
    (one,), _ = run(data, columns=columns, format=None if data.startswith("{") else "csv")
    assert (one["base_url"], one["link_source_id"]) == (B, "k")


def test_whole_requests_keep_what_they_say() -> None:
    data = f'{{"ingest_type": "xml", "base_url": "{B}", "link_source": "pmc", "link_source_id": "PMC1", "mine": [1]}}'
    (one,), _ = run(data, kinds=("html", "pdf"))
    assert (one["ingest_type"], one["link_source"], one["link_source_id"], one["mine"]) == ("xml", "pmc", "PMC1", [1])


@pytest.mark.parametrize(
    "data",
    [
        f'{{"base_url": "{B}", "link_source_id": "k", "url": "{A}", "id": "other", "link": "{A}"}}',
        f'{{"id": "other", "url": "{A}", "base_url": "{B}", "link_source_id": "k"}}',
        f'{{"id": "other", "url": "{A}", "Base_URL": "{B}", "link_source_id": "k"}}',
        f'{{"url": "{B}", "link": "{A}", "identifier": "k", "base_url": null, "link_source_id": ""}}',
        f"id\turl\tbase_url\tlink_source_id\nother\t{A}\t{B}\tk\n",
        f"link_source_id\tbase_url\tid\turl\nk\t{B}\tother\t{A}\n",
    ],
)
def test_a_fields_own_name_goes_before_others(data: str) -> None:
    (one,), _ = run(data)
    assert (one["base_url"], one["link_source_id"]) == (B, "k")


def test_every_type_that_is_asked_for() -> None:
    assert [one["ingest_type"] for one in run(B, kinds=("html", "pdf"))[0]] == ["html", "pdf"]


def test_bad_rows_by_line() -> None:
    data = f"{B}\n\nftp://c.example.org/\nnonsense\n{B}{'x' * 1500}\n{A}\n"
    found, bad = run(data)
    assert ([one["base_url"] for one in found], bad) == ([B, A], [3, 4, 5])
    found, bad = run(f"url,doi\n,10.1/x\n{B},\n", format="csv")
    assert (len(found), bad) == (1, [2])


@pytest.mark.parametrize("first", ["base_url", '"url": "x"}', "a,b", "a\tb"])
def test_json_lines_with_a_broken_first_line(first: str) -> None:
    found, bad = run(f'{first}\n{{"url": "{A}"}}\n')
    assert ([one["base_url"] for one in found], bad) == ([A], [1])


@pytest.mark.parametrize("value", ["1e999", "[[-1e999]]", '{"x": 1e999}'])
@pytest.mark.parametrize("form", ["%s", "[%s]"])
def test_numbers_beyond_all_readers_are_bad(value: str, form: str) -> None:
    assert run(form % f'{{"url": "{B}", "mine": {value}}}') == ([], [1])


@pytest.mark.parametrize(
    "row", ['{"url": 3}', '{"url": ["x"]}', f'{{"url": "{B}", "type": 1, "ext_ids": 3, "rel": {{}}}}']
)
def test_rows_of_other_types_are_bad(row: str) -> None:
    assert run(row)[1] == [1]


@pytest.mark.parametrize(
    ("data", "options", "reason"),
    [
        ("title,doi\nx,y\n", {}, "no column is known"),
        (f"url\n{B}\n", {"columns": {"doi": "DOI"}}, "no column 'DOI'"),
        ("x", {"columns": {"nothing": "x"}}, "'nothing' is not one of"),
        ("x", {"format": "xlsx"}, "'xlsx' is not one of"),
    ],
)
def test_wrong_usage_is_said(data: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        run(data, **({"format": "csv"} | options))


@pytest.mark.parametrize(
    ("file", "form"),
    [("a.csv", "csv"), ("A.TSV.gz", "tsv"), ("x.jsonl.zst", "jsonl"), ("links.txt", None), ("-", None)],
)
def test_a_files_name_may_tell(file: str, form: str | None) -> None:
    assert by_name(file) == form


def test_long_urls_are_their_own_identifier_by_hash() -> None:
    long = B + "x" * 600
    assert own_id(B) == B
    assert own_id(long) == hashlib.sha1(long.encode()).hexdigest()


def test_one_page_is_asked_for_once_however_it_is_written() -> None:
    assert [one["base_url"] for one in run(f"{B}#a\n{B}#b\n")[0]] == [B]


def told(data: str, **options: Any) -> list[str]:
    said: list[str] = []
    run(data, notice=said.append, **options)
    return said


def test_columns_that_nothing_is_made_of_are_told() -> None:
    assert told(f"url,Title,abstract,doi\n{B},x,y,10.1234/a\n") == [
        "columns that nothing is made of: Title, abstract (see --column)"
    ]
    assert told(f"Title,Full text\nx,{B}\n", columns={"base_url": "full text", "link_source_id": "title"}) == []
    assert told(f"k,{B}\nl,{A}\n", format="csv") == []  # without a header there are no names
    assert told(f"url,\n{B},\n") == []


def test_semicolons_in_links_part_no_cells() -> None:
    for data in (
        "https://a.example.org/;s=1\nhttps://a.example.org/;s=2\n",
        "url,x\nhttps://a.example.org/;s=1;t=2,y\n",
    ):
        assert all(";s=" in one["base_url"] for one in run(data)[0])


def test_of_two_columns_with_one_name_the_first_counts() -> None:
    (one,), _ = run(f"url,doi,url\n{B},10.1234/a,{A}\n")
    assert one["base_url"] == B


def test_passwords_stay_where_they_are() -> None:
    said: list[str] = []
    chosen = Options()
    maker = Maker("list", rows(chosen), lambda row: drafts(row, chosen), "")
    data = b"https://ada:secret@a.example.org/1\nhttps://ada@a.example.org/2\nhttps://a.example.org/@3\n"
    stream = io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]
    found = list(requests(maker, stream, Report(lambda _, __, why: said.append(why))))
    assert [one["base_url"] for one in found] == ["https://a.example.org/@3"]
    assert said == ["a user's name or password in the URL, at a.example.org"] * 2
