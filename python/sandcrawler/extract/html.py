"""One HTML page, read once: the order in which the extractors are asked, and what their answers amount to.

    parse ─► refresh? ─► biblio ─► platform ─► scope ─► verdict ─► sub-resources, link to the full text, TEI

A waiting page (meta refresh) is not a document: it only says where the document is. Walls, captchas and error pages
carry no bibliography of the article they hide. A full text whose TEI could not be made is no full text to us.
"""

from sandcrawler.extract.biblio import extract_biblio
from sandcrawler.extract.document import parse
from sandcrawler.extract.fulltext import full_text
from sandcrawler.extract.links import find_follow
from sandcrawler.extract.platform import find_platform
from sandcrawler.extract.refresh import find_refresh
from sandcrawler.extract.resources import ResourceRules, default_rules, list_resources
from sandcrawler.extract.scope import find_scope
from sandcrawler.extract.scope_evidence import Evidence
from sandcrawler.model import Extracted, HtmlBody, Page
from sandcrawler.status import HIDING, KEPT, Scope, Status, verdict

# Pages that may name a full text elsewhere.
LANDING = frozenset({Scope.LANDINGPAGE, Scope.ARTICLE_ABSTRACT, Scope.ARTICLE_SAMPLE, Scope.STUB})
# Pages that may be an article. The text of others is not looked for: it is most of the time that a page takes.
TEXTUAL = frozenset({Scope.ARTICLE_FULLTEXT, Scope.UNKNOWN, Scope.STUB, Scope.ARTICLE_SAMPLE, Scope.ISSUE_FULLTEXT})


def extract_html(page: Page, rules: ResourceRules | None = None) -> Extracted:
    """All that can be said of an HTML page. Never raises but MemoryError; `rules` default to the project's own."""
    document = parse(page)
    refresh = find_refresh(document)
    if refresh:
        return Extracted(Status.WRONG_SCOPE, scope=Scope.STUB, follow=refresh)
    biblio, sources = extract_biblio(document)
    platform = find_platform(document)
    evidence = Evidence(document, biblio, platform)
    scope = find_scope(evidence)
    wanted, filtered = list_resources(document, rules or default_rules())
    follow = find_follow(document, biblio, platform, "html") if scope in LANDING else None
    body, tei = _body(evidence, scope)  # last: it uses the tree up
    status = verdict(scope)
    if status is Status.SUCCESS and tei is None and body is not None:
        status = body.status
    hidden = scope in HIDING
    return Extracted(
        status=status,
        scope=scope,
        platform=platform,
        html_biblio=None if hidden else biblio,
        html_body=body,
        wanted=wanted,
        filtered=filtered,
        body=tei if status in KEPT else None,
        follow=follow,
        sources={} if hidden else sources,
    )


def extract_xml_link(page: Page) -> Extracted:
    """Where an HTML page says its XML is, and the page's bibliography."""
    return _link(page, "xml", Status.NO_XML_LINK)


def extract_pdf_link(page: Page) -> Extracted:
    """Where an HTML page says its PDF is, and the page's bibliography."""
    return _link(page, "pdf", Status.NO_PDF_LINK)


def _link(page: Page, ingest_type: str, without: Status) -> Extracted:
    document = parse(page)
    refresh = find_refresh(document)
    if refresh:
        return Extracted(without, follow=refresh)
    biblio, sources = extract_biblio(document)
    platform = find_platform(document)
    scope = find_scope(Evidence(document, biblio, platform))
    if scope in HIDING:
        return Extracted(verdict(scope), scope=scope, platform=platform)
    follow = find_follow(document, biblio, platform, ingest_type)
    return Extracted(without, platform=platform, html_biblio=biblio, follow=follow, sources=sources)


def _body(evidence: Evidence, scope: Scope) -> tuple[HtmlBody | None, bytes | None]:
    if scope not in TEXTUAL:
        return None, None
    return full_text(evidence.document, evidence.biblio, evidence.blocks)
