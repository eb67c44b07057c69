"""What a page is: the first rule of this table that holds.

Walls and error pages come first, because they borrow the look of what they stand before; they are only seen where
there is little text and no sign of an article, so an article about captchas or paywalls is safe. Then what URL and
platform say for certain. Then articles, by how much running text stands outside abstract, captions, references and
menus (`blocks`), and in how many of an article's usual sections. Last what is left: abstracts, landing pages, stubs.
Where no rule holds, the scope is unknown: the text is kept, and somebody may judge it later.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from sandcrawler.extract import scope_phrases as say
from sandcrawler.extract.scope_evidence import Evidence
from sandcrawler.status import Scope

# Running text, in words.
LONG = 1000  # a full text by its length alone
LONGISH = 600  # the same, where it is nearly all of the page
SECTIONED = 450  # a full text with two of an article's usual sections: longer than a structured abstract
SHORT = 180  # an editorial or letter, on a page that says it is the article
PARAGRAPHS = 4  # an article has so many paragraphs, an abstract has fewer; so many references make a list
LITTLE = 250  # all words, menus left out, of a page that can be a wall or an error page

WIKIS = frozenset({"mediawiki", "dokuwiki"})
BLOGS = frozenset({"wordpress", "blogger", "ghost", "medium", "substack", "hugo", "jekyll", "quarto", "distill"})
# Repositories show a record; the work itself is a file.
REPOSITORIES = frozenset(
    {
        "dspace",
        "eprints",
        "dataverse",
        "zenodo",
        "figshare",
        "dryad",
        "invenio",
        "hal",
        "pure",
        "islandora",
        "ckan",
        "samvera",
    }
    | {"pangaea", "osf", "digital-commons", "mycore", "opus", "elsevier-pure", "acl-anthology"}
)
_GALLEY = re.compile(r"/article/(?:view(?:file)?|download)/[^/]+/[^/?]+|/article/view(?:file)?/[^?]*\?.*inline=1")
_FULL_URL = re.compile(
    r"(?:[./]full|/fulltext(?:/html)?|/full[-_]text|/full-?html|/htm|/html|\.full\.html|-full\.html|[?&]script=sci_arttext)(?:$|[/?#&])"
)
_ABSTRACT_URL = re.compile(r"[./](?:abs|abstract|abstracts|summary)(?:$|[/?#.])|script=sci_abstract")
_LIST_URL = re.compile(
    r"/(?:issue/(?:view|archive|current)|issues?|toc|loi|archives?|volumes?|search|browse|list|category|tag|author|journals?)(?:$|[/?])"
)
_ARTICLE_LINK = re.compile(
    r"/(?:article|articles|abs|abstract|full|doi|paper|papers|publication)s?(?:/view)?/[^/#?]+", re.IGNORECASE
)
_JOURNAL = re.compile(r"/(?:[\w-]+/)*index\.php/[\w-]+(?:/index)?/?")  # OJS
_INDEX = re.compile(r"/?(?:(?:index|home|default)\.(?:html?|php|aspx?|jsp))?(?:\?.*)?")


class Rule(NamedTuple):
    """`name` is for people and tests."""

    name: str
    scope: Scope
    holds: Callable[[Evidence], bool]


def _bare(page: Evidence) -> bool:
    """Little text, and nothing of an article: only such a page can be a wall or an error page."""
    return page.content < LITTLE and page.prose < SHORT and not page.scholarly


def _in_head(page: Evidence, phrases: re.Pattern[str]) -> bool:
    return bool(phrases.search(page.title) or phrases.search(page.headline))


def _says_error(page: Evidence) -> bool:
    """Two of title, heading, text and URL say so; or the one line that there is does."""
    text = page.text[len(page.title) :].replace(page.headline, "", 1)
    signs = [say.ERROR.search(page.title), say.ERROR.search(page.headline), say.ERROR.search(text)]
    count = sum(map(bool, signs)) + bool(say.ERROR_URL.search(page.path))
    return count >= 2 or (count == 1 and page.words < 25)


def _says_login(page: Evidence) -> bool:
    if page.password:
        return _in_head(page, say.LOGIN) or bool(say.LOGIN_URL.search(page.path)) or page.words < 120
    return _in_head(page, say.LOGIN) and bool(say.LOGIN_URL.search(page.path) or page.words < 120)


def _lists_articles(page: Evidence) -> bool:
    if page.scholarly or page.biblio.contrib_names or page.prose >= LONG:
        return False
    links = {href.partition("#")[0] for href in page.hrefs if _ARTICLE_LINK.search(href)}
    return len(links) >= (3 if _LIST_URL.search(page.path) else 12)


def _is_galley(page: Evidence) -> bool:
    return bool(_GALLEY.search(page.path)) and page.prose + page.abstract >= SHORT


def _is_article(page: Evidence) -> bool:
    """Whole, but short or without the usual sections: text outweighs all else, and it is not elsewhere."""
    if not page.scholarly or page.abstract >= 40 or page.full_text_elsewhere or page.prose < SHORT:
        return False
    if page.offers_files and page.paragraphs < PARAGRAPHS:  # more likely an abstract that is not called so
        return False
    told = bool(_FULL_URL.search(page.path)) or page.full_text_here or page.references >= PARAGRAPHS
    return (told or page.prose > page.words / 2) and (page.prose >= SECTIONED or not _wants_payment(page))


def _is_record(page: Evidence) -> bool:
    """Scholarly metadata, a file named, and more around the text than text."""
    named = page.biblio.pdf_fulltext_url is not None or page.offers_pdf
    around = page.words >= 150 and page.prose < page.words / 2
    return (
        page.scholarly
        and page.prose < SECTIONED
        and (page.full_text_elsewhere or page.offers_pdf or (named and around))
    )


def _wants_payment(page: Evidence) -> bool:
    return bool(say.PAYWALL.search("\n".join(block.text for block in page.blocks)))


RULES: tuple[Rule, ...] = (
    # Walls.
    Rule(
        "cookie URL",
        Scope.BLOCKED_COOKIE,
        lambda p: bool(re.search(r"cookieabsent|cookieset=1|cookies_not_supported", p.path)),
    ),
    Rule(
        "captcha URL",
        Scope.BLOCKED_CAPTCHA,
        lambda p: bool(re.search(r"(?:^|\.)perfdrive\.com$", p.url.netloc)) or "showcaptcha" in p.path,
    ),
    Rule(
        "blocked",
        Scope.BLOCKED_FORBIDDEN,
        lambda p: _bare(p) and _in_head(p, say.FORBIDDEN) and not say.CAPTCHA.search(p.text),
    ),
    Rule("challenge", Scope.BLOCKED_CAPTCHA, lambda p: _bare(p) and bool(say.CHALLENGE_MARKS.search(p.marks))),
    Rule("captcha", Scope.BLOCKED_CAPTCHA, lambda p: _bare(p) and bool(say.CAPTCHA.search(p.text))),
    Rule("forbidden", Scope.BLOCKED_FORBIDDEN, lambda p: _bare(p) and _in_head(p, say.FORBIDDEN)),
    Rule(
        "cookies", Scope.BLOCKED_COOKIE, lambda p: _bare(p) and bool(say.COOKIE.search(p.text)) and not _says_error(p)
    ),
    Rule("consent", Scope.BLOCKED_COOKIE, lambda p: not p.scholarly and p.words < 800 and _in_head(p, say.CONSENT)),
    Rule("error", Scope.ERRORPAGE, lambda p: _bare(p) and _says_error(p)),
    Rule(
        "login", Scope.BLOCKED_LOGIN, lambda p: p.prose < SHORT and not p.scholarly and p.words < 600 and _says_login(p)
    ),
    # What URL, markup and platform say for certain.
    Rule("frameset", Scope.STUB, lambda p: p.frameset and p.prose < SHORT),
    Rule(
        "script needed",
        Scope.STUB,
        lambda p: p.words < 60 and not p.scholarly and bool(say.SCRIPT_NEEDED.search(p.text)),
    ),
    Rule("home page", Scope.HOMEPAGE_DOMAIN, lambda p: bool(_INDEX.fullmatch(p.path)) and not p.scholarly),
    Rule("wiki", Scope.OTHER, lambda p: p.platform in WIKIS),
    Rule("first page", Scope.ARTICLE_SAMPLE, lambda p: "page-one" in p.path or "/first-page" in p.path),
    Rule(
        "part",
        Scope.COMPONENT,
        lambda p: (
            bool(
                re.search(r"/(?:article/)?(?:figures?|tables?|slides?)/\d+/?$|datafile\.xhtml|/showfullfigure", p.path)
            )
            and p.prose < LONG
        ),
    ),
    Rule(
        "supplement",
        Scope.SUPPLEMENT,
        lambda p: (
            bool(
                re.search(
                    r"/(?:suppl(?:_file|ementary(?:-material)?s?|ements?)|suppdata|media-?objects)(?:$|[/?.])|supplementary-material",
                    p.path,
                )
            )
            and p.prose < SHORT
        ),
    ),
    Rule("journal home", Scope.OTHER, lambda p: bool(_JOURNAL.fullmatch(p.path)) and not p.scholarly),
    Rule("list", Scope.OTHER, _lists_articles),
    # Articles.
    Rule("galley", Scope.ARTICLE_FULLTEXT, _is_galley),
    Rule(
        "abstract URL",
        Scope.ARTICLE_ABSTRACT,
        lambda p: bool(_ABSTRACT_URL.search(p.path)) and p.prose < 2 * LONG and p.abstract >= 30,
    ),
    Rule("sections", Scope.ARTICLE_FULLTEXT, lambda p: len(p.sections) >= 2 and p.prose >= SECTIONED),
    Rule(
        "repository",
        Scope.LANDINGPAGE,
        lambda p: (
            p.platform in REPOSITORIES and p.prose < 2 * LONG and (p.offers_files or p.abstract >= 30 or p.prose < 30)
        ),
    ),
    Rule("long", Scope.ARTICLE_FULLTEXT, lambda p: p.prose >= LONG or (p.prose >= LONGISH and p.prose > 0.7 * p.words)),
    Rule("blog", Scope.ARTICLE_FULLTEXT, lambda p: p.platform in BLOGS and p.prose >= SECTIONED),
    Rule("article", Scope.ARTICLE_FULLTEXT, _is_article),
    # Pages about an article.
    Rule(
        "abstract",
        Scope.ARTICLE_ABSTRACT,
        lambda p: p.abstract >= 30 and (p.scholarly or bool(_ABSTRACT_URL.search(p.path))),
    ),
    Rule("paywall", Scope.BLOCKED_PAYWALL, lambda p: p.prose < SECTIONED and p.abstract < 30 and _wants_payment(p)),
    Rule("elsewhere", Scope.LANDINGPAGE, _is_record),
    Rule("record", Scope.LANDINGPAGE, lambda p: p.scholarly and p.prose < 30 and p.words >= 20),
    Rule("stub", Scope.STUB, lambda p: p.words < 20),
)


def find_scope(evidence: Evidence) -> Scope:
    """The scope of a page, by the first rule that holds."""
    rule = find_rule(evidence)
    return rule.scope if rule else Scope.UNKNOWN


def find_rule(evidence: Evidence) -> Rule | None:
    """The first rule that holds; None where none does."""
    return next((rule for rule in RULES if rule.holds(evidence)), None)
