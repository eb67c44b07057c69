import re

import pytest

from sandcrawler.errors import ConfigurationError
from sandcrawler.sources.base import Source
from sandcrawler.sources.registry import SOURCES, source


def test_every_source_stands_under_its_name() -> None:
    assert all(name == each.name for name, each in SOURCES.items())


def test_w3c_has_every_verb() -> None:
    w3c = source("w3c")
    assert (w3c.prefix, w3c.datasets) == ("W3C", ("w3c-api",))
    for verb in ("get", "fetch", "requests", "from_xml", "from_yaml", "grammar"):
        assert callable(w3c.verb(verb))
    assert b"<grammar" in w3c.verb("grammar")()


def test_a_verb_or_source_that_lacks_is_the_users_mistake() -> None:
    with pytest.raises(ConfigurationError, match="there is no fetch"):
        Source("links").verb("fetch")
    with pytest.raises(ConfigurationError, match=re.escape("there is no source 'w3d'")):
        source("w3d")
