"""Keys that processes agree on."""

import pytest

from sandcrawler import names
from sandcrawler.names import Folder, Topic


def test_topics_carry_the_environment() -> None:
    assert Topic.RESULTS.named("qa") == "sandcrawler-qa.ingest-file-results"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Journal.Example.org:8443/a?b#c", b"journal.example.org"),
        ("http://user:secret@journal.example.org/", b"journal.example.org"),
        ("http://[::1", b"http://[::1"),
        ("not a url", b"not a url"),
        (" https://journal.example.org/x", b"journal.example.org"),
    ],
)
def test_requests_are_keyed_by_host(url: str, key: bytes) -> None:
    assert names.request_key(url) == key


def test_results_are_keyed_by_type_and_link() -> None:
    assert names.result_key("html", "https://example.org/ü") == "html:https://example.org/ü".encode()


def test_bodies_are_filed_by_the_hash_of_the_original() -> None:
    sha1hex = "1e7f18d56890294b8bcd7cb8b6609921c1fc112e"
    assert names.blob_key(Folder.XML, sha1hex, ".jats.xml") == f"xml/1e/7f/{sha1hex}.jats.xml"
