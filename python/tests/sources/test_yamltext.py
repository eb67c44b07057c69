import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.sources import yamltext


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words", "plain words"),
        ("WebRTC: Real-Time", "'WebRTC: Real-Time'"),
        ("(X)HTML", '"(X)HTML"'),
        ("2024-10-08", "'2024-10-08'"),
        ("01", "'01'"),
        ("1,000", "'1,000'"),
        ("1.5", "'1.5'"),
        ("12:30", "'12:30'"),
        ("true", "'true'"),
        ("Yes", "'Yes'"),
        ("n", '"n"'),
        ("", "''"),
        ("~", '"~"'),
        ("null", "'null'"),
        ("07-WebData", "07-WebData"),
        ("C++ #1", "'C++ #1'"),
        ("it's", "it's"),
        ("é漢", "é漢"),
    ],
)
def test_quotes_stand_where_the_published_files_have_them(text: str, written: str) -> None:
    assert yamltext.scalar(text) == written
    assert yamltext.dump({"k": text}) == f"---\nk: {written}\n"


def test_layout_of_lists_and_maps() -> None:
    value = {"z": [{"b": True, "a": ["x"]}], "a": {"k": "two\nlines"}, "e": []}
    assert yamltext.dump(value) == "---\nz:\n- b: true\n  a:\n  - x\na:\n  k: |-\n    two\n    lines\ne: []\n"


def test_dates_stay_texts() -> None:
    assert yamltext.load("a: 2024-10-08\nb: '01'\nc: true") == {"a": "2024-10-08", "b": "01", "c": True}


@pytest.mark.parametrize("text", ["a: [", "a: !!python/object/apply:os.system [id]", "\x00", "a: b: c"])
def test_what_is_no_yaml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not YAML"):
        yamltext.load(text)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=60))
def test_any_text_comes_back(text: str) -> None:
    document = yamltext.dump({"k": text, "l": [text]})
    assert yamltext.load(document) == {"k": text, "l": [text]}
    assert yaml.safe_load(document) == {"k": text, "l": [text]}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\n",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        "a: &a {b: 1}\nc:\n  <<: *a\n",
        b"a: &a 1\nb: *a\n",
    ],
)
def test_nodes_that_are_named_again_are_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError, match="aliases"):
        yamltext.load(text)
    assert yamltext.load('title: "Q&A * and & more"\nb: "*a"\n') == {"title": "Q&A * and & more", "b": "*a"}
