import re

import pytest

from sandcrawler.sources.naming import NAME_BYTES, digest_name, file_name


@pytest.mark.parametrize(
    ("docid", "stem"),
    [
        ("ISO/IEC 123-4 Amd. 2", "iso-iec-123-4-amd-2"),
        ("IEEE 802.11", "ieee-802-11"),
        ("RFC:9110", "rfc-9110"),
        ("ITU-T G.711 (2023)", "itu-t-g-711-2023"),
        ("ISO / IEC 27001:2022", "iso-iec-27001-2022"),
        ("ISO 123.", "iso-123"),
        ("rfc9110", "rfc9110"),
        ("(draft)", "-draft"),
        ("ÉTUDE Ä", "étude-ä"),
    ],
)
def test_names_are_readable(docid: str, stem: str) -> None:
    assert file_name(docid, "yaml") == f"{stem}.yaml"


@pytest.mark.parametrize("letter", ["a", "é", "漢", "𝒳"])
def test_long_names_are_cut_to_255_bytes_of_whole_letters(letter: str) -> None:
    name = file_name(letter * 300, "yaml")
    assert len(name.encode()) <= NAME_BYTES
    assert re.fullmatch(rf"{letter}+-[0-9a-f]{{12}}\.yaml", name)
    assert name == file_name(letter * 300, "yaml")
    assert name != file_name(letter * 301, "yaml")


def test_a_name_that_just_fits_stays() -> None:
    assert file_name("a" * 250, "yaml") == "a" * 250 + ".yaml"
    assert "-" in file_name("a" * 251, "yaml")


def test_the_digest_is_of_the_identifier_as_it_was_written() -> None:
    assert digest_name("rpki-signed", "rpki/signed", "xml") != digest_name("rpki-signed", "rpki-signed", "xml")
