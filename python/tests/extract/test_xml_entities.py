"""The table of character names, against the sets that it stands for."""

import html.entities
import unicodedata

import pytest

from sandcrawler.extract.xml import entities


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nbsp", "\u00a0"),  # ISOnum, HTML
        ("zwnj", "\u200c"),  # HTML
        ("mdash", "—"),  # ISOpub
        ("alpha", "α"),  # ISOgrk3
        ("agr", "α"),  # ISOgrk1
        ("THgr", "Θ"),
        ("sfgr", "ς"),
        ("ohacgr", "ώ"),  # ISOgrk2
        ("idiagr", "ΐ"),
        ("b.alpha", "𝛂"),  # ISOgrk4
        ("b.Gammad", "𝟊"),
        ("b.phiv", "𝛟"),
        ("Scaron", "Š"),  # ISOlat2
        ("acy", "а"),  # ISOcyr1
        ("djcy", "ђ"),  # ISOcyr2
        ("boxh", "─"),  # ISObox
        ("Afr", "𝔄"),  # ISOmfrk
        ("Aopf", "𝔸"),  # ISOmopf
        ("Ascr", "𝒜"),  # ISOmscr
        ("nvlt", "<\u20d2"),  # MathML, markup in the text
        ("jnodot", "ȷ"),
    ],
)
def test_names(name: str, text: str) -> None:
    assert entities.table()[name] == text


def test_greek_is_whole() -> None:
    """ISOgrk1 has 49 names, ISOgrk2 has 20, ISOgrk4 has 43."""
    table = entities.table()
    own = {name for name in table if f"{name};" not in html.entities.html5}
    assert sum(name.startswith("b.") for name in own) == 43 + 2  # and two older spellings
    assert sum(name.endswith("gr") for name in own) == 49 + 20
    assert all(len(text) == 1 and unicodedata.name(text) for name, text in table.items() if name in own)


def test_predefined_names_are_left_to_xml() -> None:
    assert not entities.PREDEFINED & entities.table().keys()


def test_declarations_make_text_never_markup() -> None:
    assert entities.declaration("LT", "<") == '<!ENTITY LT "&#38;#60;">'
    assert entities.declaration("alpha", "α") == '<!ENTITY alpha "&#945;">'
