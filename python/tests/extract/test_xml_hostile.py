"""Hostile XML: entity bombs are refused in bounded time and memory, and nothing is ever opened."""

import contextlib
import resource
import socket
import threading
import time
from pathlib import Path

import pytest

from sandcrawler.extract.xml import extract_xml
from sandcrawler.model import Extracted, Page
from sandcrawler.status import Status

ARTICLE = (
    "<article><front><article-meta><title-group><article-title>%s</article-title></title-group></article-meta></front>"
    "</article>"
)


def document(declarations: str, inside: str) -> str:
    return f"<!DOCTYPE article [{declarations}]>{ARTICLE % inside}"


def extracted(text: str) -> Extracted:
    return extract_xml(Page(text.encode(), "https://birds.example.org/7.xml"))


def entity(name: str, value: str) -> str:
    return f'<!ENTITY {name} "{value}">'


LAUGHS = entity("a0", "ha ") + "".join(entity(f"a{i + 1}", f"&a{i};" * 10) for i in range(9))
LONG = "x" * 100_000
PARAMETERS = "".join(
    entity(f"% {name}", value * 1000) for name, value in (("a", "<!--x-->"), ("b", "&#37;a;"), ("c", "&#37;b;"))
)
BOMBS = {
    "laughs": document(LAUGHS, "&a9;"),
    "laughs in an attribute": document(LAUGHS, '<b c="&a9;"/>'),
    "laughs in a default": document(LAUGHS + '<!ATTLIST b c CDATA "&a9;">', "<b/>"),
    "quadratic": document(entity("a", LONG), "&a;" * 100_000),
    "quadratic defaults": document(f'<!ATTLIST b c CDATA "{LONG}">', "<b/>" * 100_000),
    "parameters": document(PARAMETERS + "%c;" * 1000, "x"),
    "parameter loop": document(entity("% a", "&#37;a;") + "%a;", "x"),
    "loop": document(entity("a", "&b;") + entity("b", "&a;"), "&a;"),
    "chain": document("".join(entity(f"a{i + 1}", f"&a{i};") for i in range(3000)), "&a3000;"),
    "depth": "<a>" * 200_000 + "</a>" * 200_000,
    "declarations": document(entity("a", "x") * 200_000, "&a;"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name: str) -> None:
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.thread_time()
    got = extracted(BOMBS[name])
    assert time.thread_time() - start < 6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024  # kilobytes
    assert got.status is Status.XML_PARSE_ERROR
    assert got.body is None
    assert got.error_message


def test_an_unused_bomb_does_no_harm() -> None:
    assert extracted(document(LAUGHS, "x")).status is Status.SUCCESS


def test_large_documents_are_no_bombs() -> None:
    words = "word " * 3_000_000  # more than the parser's limit for one text in untrusted input
    assert extracted(ARTICLE % words).status is Status.SUCCESS
    assert extracted(document(entity("co", "Brandt"), words[:200_000] + "&co; " * 10_000)).status is Status.SUCCESS


DOCTYPES = (
    '<!DOCTYPE article SYSTEM "{0}">',
    '<!DOCTYPE article PUBLIC "-//X//EN" "{0}">',
    '<!DOCTYPE article [<!ENTITY x SYSTEM "{0}">]>',
    '<!DOCTYPE article SYSTEM "{0}" [<!ENTITY x PUBLIC "-//X//EN" "{0}">]>',
    '<!DOCTYPE article [<!ENTITY % x SYSTEM "{0}"> %x;]>',
    "<!DOCTYPE article [<!ENTITY % y \"<!ENTITY &#37; x SYSTEM '{0}'> &#37;x;\"> %y;]>",
    '<!DOCTYPE article [<!ENTITY z "&x;"><!ENTITY x SYSTEM "{0}">]>',
    '<!DOCTYPE article [<!NOTATION n SYSTEM "{0}"><!ENTITY x SYSTEM "{0}" NDATA n>]>',
    '<?xml-stylesheet href="{0}"?><?xml-model href="{0}"?>',
)
INSIDES = (
    "plain",
    "&x;",
    "&z;",
    "&leak;",
    '<b c="&x;"/>',
    '<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{0}" parse="text"/>',
    '<b xmlns:s="http://www.w3.org/2001/XMLSchema-instance" s:noNamespaceSchemaLocation="{0}"/>',
)


def test_nothing_is_opened(tmp_path: Path) -> None:
    """Every way that XML has to name another document, against a file and a server that would notice."""
    canary = tmp_path / "canary.dtd"
    canary.write_text("CANARY<!ENTITY leak 'CANARY'>")
    visitors: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(1)

        def listen() -> None:
            with contextlib.suppress(TimeoutError):
                visitors.append(server.accept()[0].recv(100))

        thread = threading.Thread(target=listen)
        thread.start()
        for target in (canary.as_uri(), str(canary), f"http://127.0.0.1:{server.getsockname()[1]}/x.dtd"):
            for doctype in DOCTYPES:
                for inside in INSIDES:
                    got = extracted(doctype.replace("{0}", target) + ARTICLE % inside.replace("{0}", target))
                    assert (got.body is None) == (got.status is Status.XML_PARSE_ERROR)
                    assert b"CANARY" not in (got.body or b"")
                    assert b"<!ENTITY" not in (got.body or b"")
        thread.join()
    assert visitors == []
