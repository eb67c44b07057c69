"""The full text as TEI: whole, well-formed, what its header says, and honest where it cannot be made."""

import itertools
import time

import pytest
import trafilatura
from lxml import etree

from sandcrawler.extract.blocks import list_blocks
from sandcrawler.extract.document import parse
from sandcrawler.extract.fulltext import full_text
from sandcrawler.extract.html import extract_html
from sandcrawler.extract.tei import AGENT
from sandcrawler.model import Biblio, HtmlBody, Page
from sandcrawler.status import Status
from tests.extract.pages import HEADLINE, SENTENCES, metas, page, prose, references, sections

URL = "https://journal.example.org/a/1"
TEI = {"t": "http://www.tei-c.org/ns/1.0"}
BIBLIO = Biblio(
    title="Nests & <tides>",
    subtitle="A study",
    contrib_names=("Lena Marek", "Pavel Novák"),
    doi="10.5555/nest.1",
    container_name="Shore Birds",
    container_issn="2049-3630",
    publisher="Society of the Shore",
    volume="7",
    issue="2",
    pages="1-9",
    release_date="2020-05-04",
    release_year=2020,
    lang="en",
    keywords=("nests", "tides"),
    abstract="Short.",
    license="CC-BY",
)


def made(body: bytes, biblio: Biblio = BIBLIO) -> tuple[HtmlBody, str]:
    """What became of the page, and the text of the TEI's body; the TEI is well-formed and its words are counted."""
    document = parse(Page(body, URL, "text/html; charset=utf-8"))
    answer, tei = full_text(document, biblio, list_blocks(document.root))
    if tei is None:
        return answer, ""
    root = etree.fromstring(tei, etree.XMLParser(huge_tree=True))
    text = "".join(root.find(".//t:body", TEI).itertext())
    assert answer.word_count == len(text.split())
    return answer, text


def test_the_header_says_what_it_is() -> None:
    document = parse(Page(page(HEADLINE + prose(300)), URL))
    _, tei = full_text(document, BIBLIO, list_blocks(document.root))
    assert tei is not None
    root = etree.fromstring(tei)

    def texts(path: str) -> list[str]:
        return [str(found) for found in root.xpath(path, namespaces=TEI)]

    assert tei.startswith(b"<?xml version='1.0' encoding='UTF-8'?>")
    assert texts("//t:titleStmt/t:title/text()") == ["Nests & <tides>", "A study"]
    assert texts("//t:titleStmt/t:author/text()") == ["Lena Marek", "Pavel Novák"]
    assert texts("//t:publicationStmt/t:date/@when") == ["2020-05-04"]
    assert texts("//t:idno[@type='DOI']/text()") == ["10.5555/nest.1"] * 2
    assert texts("//t:sourceDesc//t:ptr/@target") == [URL]
    assert texts("//t:monogr/t:title/text()") == ["Shore Birds"]
    assert texts("//t:application/@version") == [trafilatura.__version__]
    assert f"trafilatura/{trafilatura.__version__}" == AGENT
    assert texts("//t:language/@ident") == ["en"]


def test_a_page_without_a_bibliography_has_a_header_too() -> None:
    assert made(page(HEADLINE + prose(300)), Biblio())[0].status is Status.SUCCESS


def test_the_structure_is_tei() -> None:
    """By the DTD that trafilatura carries (which knows no table within a div, so none here)."""
    from trafilatura.xml import validate_tei  # noqa: PLC0415  (loads the DTD)

    document = parse(
        Page(
            page(HEADLINE + sections("Introduction", "Results") + "<ul><li>One of them.</li></ul><pre>x = {1}</pre>"),
            URL,
        )
    )
    _, tei = full_text(document, BIBLIO, list_blocks(document.root))
    assert tei is not None
    assert validate_tei(etree.fromstring(tei)) is True


def test_every_sentence_is_kept() -> None:
    _, text = made(page(HEADLINE + sections("Introduction", "Methods", "Results", words=300), metas()))
    assert all(sentence in " ".join(text.split()) for sentence in SENTENCES)


def test_control_characters_and_noncharacters() -> None:
    body = page(
        f"<article>{HEADLINE}<p>Before&#8;after \x1b[0m &#xFFFE; \ufffe &#xD800; here.</p>{prose(200)}</article>"
    )
    answer, text = made(body)
    assert answer.status is Status.SUCCESS
    assert "Coastal colonies" in text
    assert "after" in text


def test_blanks_between_emphasised_words() -> None:
    line = (
        "The birds came back [<b>see</b> <a href='/s'><b>Table 1</b></a>] and <i>P</i> <b>rose</b> again, every year."
    )
    assert "[see Table 1] and P rose again" in " ".join(made(page(HEADLINE + prose(200) + f"<p>{line}</p>"))[1].split())


LAYOUT = (
    "<html><body bgcolor=white><table width=600><tr><td width=100>{menu}</td>"
    "<td><font size=2>{text}</font></td></tr></table></body></html>"
)


def old_page(words: int) -> bytes:
    """As a journal of 1998 wrote: one table, lines parted by two <br>, no paragraph."""
    text = "<br><br>".join(itertools.islice(itertools.cycle(SENTENCES), words // 17))
    menu = "<br>".join(f"<a href='{n}.html'>Issue {n}</a>" for n in range(12))
    return LAYOUT.format(menu=menu, text=f"<b>Nests above the tide line</b><br><br>{text}").encode()


@pytest.mark.parametrize("words", [300, 3000])
def test_old_table_layouts(words: int) -> None:
    answer, text = made(old_page(words))
    assert answer.status is Status.SUCCESS
    assert (answer.word_count or 0) > 0.9 * words
    assert " ".join(text.split()).count(SENTENCES[0]) >= words // 17 // len(SENTENCES)


@pytest.mark.parametrize("depth", [300, 1000, 10_000, 100_000])
def test_deep_nesting_is_whole_or_an_honest_failure(depth: int) -> None:
    deep = f"{'<div>' * depth}<p>DEEPMARKER in the deep.</p>{'</div>' * depth}"
    markup = f"<html><body>{HEADLINE}{prose(60)}{deep}<p>AFTERMARKER at last.</p></body></html>"
    start = time.thread_time()
    answer, text = made(markup.encode())
    assert time.thread_time() - start < 20
    if answer.status is Status.SUCCESS:
        assert "DEEPMARKER" in text
        assert "AFTERMARKER" in text
    else:
        assert depth > 1000
        assert answer.status is Status.TRAFILATURA_PARSE_ERROR


def test_deep_tables() -> None:
    inner = "<p>DEEPMARKER in the deep of many tables.</p>"
    for level in range(150):
        inner = f"<table><tr><td>Row {level} {inner}</td></tr></table>"
    answer, text = made(page(HEADLINE + prose(60) + inner))
    assert answer.status is Status.SUCCESS
    assert "DEEPMARKER" in text


def test_one_line_of_megabytes() -> None:
    line = " ".join(itertools.islice(itertools.cycle(SENTENCES), 12_000))
    answer, _ = made(page(f"<article>{HEADLINE}<p>{line}</p></article>"))
    assert answer.status is Status.SUCCESS
    assert (answer.word_count or 0) >= len(line.split())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b"<html><frameset><frame src='a.htm'><noframes>No.</noframes></frameset></html>",
        b"<body><script>var words = 'many';</script></body>",
    ],
)
def test_no_text_is_empty_xml(body: bytes) -> None:
    answer, text = made(body)
    assert answer.status in (Status.EMPTY_XML, Status.TRAFILATURA_PARSE_ERROR)
    assert text == ""


def test_xhtml_with_declarations() -> None:
    head = '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">'
    body = f'{head}<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><body>{HEADLINE}{prose(200)}</body></html>'
    assert made(body.encode())[0].status is Status.SUCCESS


def test_a_body_that_cannot_be_made_is_the_status_of_a_full_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandcrawler.extract.fulltext.write_tei", lambda *_: 1 / 0)
    answer = extract_html(Page(page(HEADLINE + sections("Introduction", "Methods", "Results"), metas()), URL))
    assert answer.status is Status.HTML_TEIXML_ERROR
    assert answer.html_body is not None
    assert answer.html_body.status is Status.HTML_TEIXML_ERROR
    assert answer.body is None
    assert answer.html_biblio is not None


def test_a_broken_trafilatura_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandcrawler.extract.fulltext.bare_extraction", lambda *_, **__: 1 / 0)
    answer, text = made(page(HEADLINE + prose(300)))
    assert answer.status is Status.SUCCESS
    assert SENTENCES[0] in text


def test_never_less_than_bare_trafilatura() -> None:
    for body in (
        page(HEADLINE + sections("Introduction", "Results") + references(5)),
        page(HEADLINE + prose(900)),
        old_page(900),
    ):
        bare = trafilatura.extract(body, output_format="xmltei")
        expected = "".join(etree.fromstring(bare.encode()).find(".//{*}body").itertext()).split() if bare else []
        assert (made(body)[0].word_count or 0) >= len(expected)


def test_scripts_without_blanks_are_counted_by_their_characters() -> None:
    """Else every Chinese page would look as if trafilatura had missed its text."""
    line = "沿海鸟群每年春天步行计数每个巢穴记录一次其位置以及高出潮线的高度和卵的数量"
    menu = "".join(f"<p><a href='/{n}'>第{n}期目录</a></p>" for n in range(30))
    paragraphs = "".join(f"<p>{n}{line}。{line}。</p>" for n in range(12))
    body = f"<div>{menu}</div><article><h1>鸟巢</h1>{paragraphs}</article>".encode()
    answer, text = made(b"<html><meta charset=utf-8><body>" + body + b"</body></html>")
    assert answer.status is Status.SUCCESS
    assert line in text
    assert "期目录" not in text


def test_a_page_that_forgets_its_body() -> None:
    """The parser leaves everything within <head>."""
    markup = f"<html><head><title>T</title><main>{HEADLINE}{prose(300)}</main></head></html>"
    answer, text = made(markup.encode())
    assert answer.status is Status.SUCCESS
    assert SENTENCES[0] in text
