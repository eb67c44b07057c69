"""The example site keeps its own promises, and extraction says of each document what the table expects."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import lxml.etree
import lxml.html
import pypdfium2
import pytest

from sandcrawler.demo.documents import SITE, Answer, Document, answers, copied, documents, original, requests, table
from sandcrawler.extract.html import extract_html
from sandcrawler.model import Extracted, IngestRequest, Page
from sandcrawler.status import Scope, Status

FILES = Path(str(SITE))
WEB = {answer.url: answer for answer in answers()}
WHOLE = [d for d in documents() if d.expected.status is Status.SUCCESS]
SHORT = {"editorial"}
# Documents whose body is HTML, whatever HTTP says of it.
READABLE = [d for d in documents() if d.name not in {"not-found", "redirect-loop", "empty", "robots"}]


def terminal(document: Document) -> Answer:
    return WEB[document.expected.terminal or document.url]


def text_of(document: Document) -> str:
    answer = terminal(document)
    parser = lxml.html.HTMLParser(encoding=None if answer.type == "text/html" else "utf-8")
    tree = lxml.html.fromstring(answer.body, parser=parser)
    return str(tree.xpath("string(//body)"))


def follow(document: Document) -> tuple[str, Extracted]:
    """The document's way through redirects and the extractor's `follow`, without a network."""
    url = document.url
    for _ in range(9):
        answer = WEB[url]
        if answer.location:
            url = urljoin(url, answer.location)
            continue
        extracted = extract_html(Page(answer.body, url, answer.type))
        if extracted.follow is None:
            return url, extracted
        url = extracted.follow.url
    raise AssertionError(f"no end after {url}")


def test_the_site_has_the_documents_that_the_demo_needs() -> None:
    assert len(documents()) >= 14
    assert {d.ingest_type for d in table().document} == {"html", "xml", "pdf"}
    assert len({d.name for d in table().document}) == len(table().document)
    assert {s.value for s in (Status.SUCCESS, Status.BLOCKED_WALL, Status.REDIRECT_LOOP, Status.EMPTY_BLOB)} <= {
        d.expected.status for d in documents()
    }


def test_each_url_has_one_answer_and_each_file_is_served() -> None:
    assert [url for url, count in Counter(answer.url for answer in answers()).items() if count > 1] == []
    served = {answer.file for answer in answers()}
    kept = {str(path.relative_to(FILES)) for path in FILES.glob("*/*")}
    assert served - {None} == kept


def test_everything_is_invented() -> None:
    for answer in answers():
        assert (urlsplit(answer.url).hostname or "").endswith((".example.org", ".example.net")), answer.url
    assert all(d.doi.startswith("10.5555/") for d in table().document if d.doi)
    dois = re.findall(rb"\b10\.\d{4,5}/", b"".join(answer.body for answer in answers()))
    assert set(dois) == {b"10.5555/"}


def test_a_misspelt_key_in_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="dealy"):
        Answer.model_validate({"url": "http://a.example.org/", "dealy": 1.0})


@pytest.mark.parametrize("document", [d for d in WHOLE if d.name not in SHORT], ids=lambda d: d.name)
def test_a_full_text_is_running_prose(document: Document) -> None:
    tree = lxml.html.fromstring(terminal(document).body)
    paragraphs = [p.text_content() for p in tree.iter("p") if len(p.text_content().split()) > 8]
    assert len(text_of(document).split()) >= 1300
    assert len(set(paragraphs)) == len(paragraphs)
    assert tree.xpath("//table")
    assert tree.xpath("//img")
    assert tree.xpath("//h2 | //h3")


def test_figures_and_other_files_are_what_they_claim_to_be() -> None:
    for answer in answers():
        suffix = Path(answer.file or "").suffix
        if suffix == ".png":
            assert answer.body.startswith(b"\x89PNG\r\n\x1a\n")
            assert answer.body.endswith(b"IEND\xaeB`\x82")
        elif suffix in {".svg", ".xml"}:
            lxml.etree.fromstring(answer.body)
        elif suffix == ".pdf":
            with pypdfium2.PdfDocument(answer.body) as pdf:
                assert len(pdf) == 2
                assert "weight of a letter" in pdf[0].get_textpage().get_text_range()


def test_the_old_page_is_latin1_and_only_its_meta_says_so() -> None:
    answer = WEB[next(d.url for d in documents() if d.name == "latin1")]
    assert answer.type == "text/html"
    assert b"charset=iso-8859-1" in answer.body
    assert "Über das Wachstum der Torfmoose im Großen Käuzermoor".encode("latin-1") in answer.body
    with pytest.raises(UnicodeDecodeError):
        answer.body.decode("utf-8")


def test_requests_are_valid_distinct_and_lead_to_the_same_documents() -> None:
    made = list(requests(5))
    urls = [IngestRequest.model_validate(request).base_url for request in made]
    assert len(set(urls)) == len(urls) == 5 * len(documents())
    assert urls[: len(documents())] == [d.url for d in documents()]
    assert {original(url)[0] for url in urls} == {d.url for d in documents()}
    assert {request["ingest_type"] for request in requests(1, "xml", "pdf")} == {"xml", "pdf"}
    assert made[0]["ext_ids"] == {"doi": "10.5555/jcs.v7i2.41"}


@pytest.mark.parametrize(
    ("url", "copy", "expected"),
    [
        ("http://a.example.org/x", 0, "http://a.example.org/x"),
        ("http://a.example.org/x", 17, "http://a.example.org/x?copy=17"),
        ("http://a.example.org/x?y=1", 17, "http://a.example.org/x?y=1&copy=17"),
    ],
)
def test_copies(url: str, copy: int, expected: str) -> None:
    assert copied(url, copy) == expected
    assert original(expected) == (url, str(copy or ""))


@pytest.mark.parametrize("document", READABLE, ids=lambda d: d.name)
def test_extraction_says_what_the_table_expects(document: Document) -> None:
    url, extracted = follow(document)
    expected = document.expected
    assert url == (expected.terminal or document.url)
    assert (extracted.status, extracted.scope) == (expected.status, expected.scope)
    if expected.title:
        assert extracted.html_biblio is not None
        assert extracted.html_biblio.title == expected.title
    if expected.status is Status.SUCCESS:
        assert extracted.html_body is not None
        assert (extracted.html_body.word_count or 0) >= (400 if document.name in SHORT else 1200)
    if document.doi and expected.status is Status.SUCCESS:
        assert extracted.html_biblio is not None
        assert extracted.html_biblio.doi == document.doi


@pytest.mark.parametrize("document", WHOLE, ids=lambda d: d.name)
def test_the_sub_resources_are_answered_but_for_the_broken_one(document: Document) -> None:
    _, extracted = follow(document)
    assert extracted.wanted, "every full text has at least a style sheet"
    broken = [wanted.url for wanted in extracted.wanted if wanted.url not in WEB or WEB[wanted.url].status != 200]
    assert len(broken) == document.expected.missing, broken


def test_walls_have_a_scope_of_their_own() -> None:
    walls = {d.expected.scope for d in READABLE if d.expected.status.startswith("blocked-")}
    assert walls == {
        Scope.BLOCKED_PAYWALL,
        Scope.BLOCKED_LOGIN,
        Scope.BLOCKED_COOKIE,
        Scope.BLOCKED_CAPTCHA,
    }
