"""What can become of a request: one word each, its meaning, and whether asking again may help.

`sandcrawler statuses` prints this table. The words are the incumbent's where it has them, since people's queries
hold them. No other module spells a status as a string.
"""

from enum import StrEnum


class Status(StrEnum):
    """The verdict on one request, one sub-resource or one body. `meaning` and `retry` come from the table."""

    meaning: str
    retry: bool

    def __new__(cls, word: str, meaning: str, retry: bool) -> "Status":
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        member.retry = retry
        return member

    # The document is there and is what was asked for, or something else.
    SUCCESS = "success", "The document was fetched, is of the asked type, and is a full text", False
    UNKNOWN_SCOPE = "unknown-scope", "Right type, but whether it is a full text cannot be told; the body is kept", False
    WRONG_SCOPE = "wrong-scope", "Right type, but not a full text (landing page, abstract, error page, …)", False
    WRONG_MIMETYPE = "wrong-mimetype", "The terminal document is of another type than was asked for", False
    NO_PDF_LINK = "no-pdf-link", "An HTML page that names no PDF, where a PDF was asked for", False
    NO_XML_LINK = "no-xml-link", "An HTML page that names no XML, where XML was asked for", False

    # The way there.
    NO_CAPTURE = "no-capture", "The archive holds no capture of the URL", True
    REDIRECT_LOOP = "redirect-loop", "A redirect leads back to a URL already visited", False
    REDIRECTS_EXCEEDED = "redirects-exceeded", "More redirects than the limit", False
    MAX_HOPS_EXCEEDED = "max-hops-exceeded", "More documents in a row (refresh, full-text links) than the limit", False
    LINK_LOOP = "link-loop", "A followed link leads back to a document already seen", False
    BAD_REDIRECT = "bad-redirect", "A redirect without a usable Location", False
    TERMINAL_BAD_STATUS = "terminal-bad-status", "The terminal response has an HTTP status other than success", False
    BAD_URL = "bad-url", "Not an http or https URL, or one that cannot be understood or is too long", False
    BLOCKED_ADDRESS = "blocked-address", "The URL leads to an address or port that must not be fetched", False
    BLOCKED_ROBOTS = "blocked-robots", "The site's robots.txt does not allow this URL", False
    HOST_BACKOFF = "host-backoff", "The host asked to be left alone for now", True
    DNS_ERROR = "dns-error", "The host's name could not be resolved", True
    CONNECT_ERROR = "connect-error", "No connection, or the server broke it off or did not speak HTTP", True
    TLS_ERROR = "tls-error", "The server's certificate or TLS could not be trusted", False
    TIMEOUT = "timeout", "The time limit for the request passed", True
    SKIP_URL_BLOCKLIST = "skip-url-blocklist", "The operator's list says not to fetch this URL", False
    SKIP_WALL = "skip-wall", "The URL is a known login page", False

    # What came back.
    EMPTY_BLOB = "empty-blob", "A successful response without a body", True
    BODY_TOO_LARGE = "body-too-large", "More bytes than the limit", False
    TRUNCATED_BODY = "truncated-body", "The body ended before it was whole", True
    BAD_GZIP_ENCODING = "bad-gzip-encoding", "The body's content coding is broken", True
    BLOCKED_WALL = "blocked-wall", "A paywall or login page stands before the document", False
    BLOCKED_CAPTCHA = "blocked-captcha", "A captcha stands before the document", True
    BLOCKED_COOKIE = "blocked-cookie", "The site insists on cookies", True
    BLOCKED_FORBIDDEN = "blocked-forbidden", "The site refuses this client", True

    # What could be made of it.
    EMPTY_XML = "empty-xml", "No text was found in the page", False
    TRAFILATURA_PARSE_ERROR = "trafilatura-parse-error", "The page could not be parsed whole", False
    HTML_TEIXML_ERROR = "html-teixml-error", "The text could not be written as TEI-XML", False
    XML_PARSE_ERROR = "xml-parse-error", "The XML is not well-formed", False
    PDF_PARSE_ERROR = "pdf-parse-error", "The PDF could not be read", False
    TOO_MANY_RESOURCES = "too-many-resources", "The page wants more sub-resources than the limit", False
    EXTRACT_TIMEOUT = "extract-timeout", "Extraction ran past its time limit and was stopped", False
    EXTRACT_CRASH = "extract-crash", "Extraction broke down (crash or memory limit)", False

    # Archives.
    CDX_ERROR = "cdx-error", "The archive's index did not answer", True
    WAYBACK_ERROR = "wayback-error", "The archive's replay did not answer", True
    WAYBACK_CONTENT_ERROR = "wayback-content-error", "The archive's record is broken", False
    SPN2_ERROR = "spn2-error", "Save Page Now could not capture the URL", True
    SPN2_BACKOFF = "spn2-backoff", "Save Page Now asked to wait", True


class Scope(StrEnum):
    """What a page is, as far as a reader of articles cares."""

    ARTICLE_FULLTEXT = "article-fulltext"
    ARTICLE_ABSTRACT = "article-abstract"
    ARTICLE_SAMPLE = "article-sample"
    LANDINGPAGE = "landingpage"
    SUPPLEMENT = "supplement"
    COMPONENT = "component"
    ISSUE_FULLTEXT = "issue-fulltext"
    HOMEPAGE_DOMAIN = "homepage-domain"
    BLOCKED_PAYWALL = "blocked-paywall"
    BLOCKED_LOGIN = "blocked-login"
    BLOCKED_CAPTCHA = "blocked-captcha"
    BLOCKED_COOKIE = "blocked-cookie"
    BLOCKED_FORBIDDEN = "blocked-forbidden"
    ERRORPAGE = "errorpage"
    STUB = "stub"
    OTHER = "other"
    UNKNOWN = "unknown"


# The status that a page's scope leads to; every other scope is wrong-scope.
VERDICTS: dict[Scope, Status] = {
    Scope.ARTICLE_FULLTEXT: Status.SUCCESS,
    Scope.UNKNOWN: Status.UNKNOWN_SCOPE,
    Scope.BLOCKED_PAYWALL: Status.BLOCKED_WALL,
    Scope.BLOCKED_LOGIN: Status.BLOCKED_WALL,
    Scope.BLOCKED_CAPTCHA: Status.BLOCKED_CAPTCHA,
    Scope.BLOCKED_COOKIE: Status.BLOCKED_COOKIE,
    Scope.BLOCKED_FORBIDDEN: Status.BLOCKED_FORBIDDEN,
}


def verdict(scope: Scope) -> Status:
    """The status of an HTML document of this scope."""
    return VERDICTS.get(scope, Status.WRONG_SCOPE)


# Pages that stand before a document.
WALLS = frozenset(scope for scope in Scope if scope.value.startswith("blocked-"))
# Pages that stand before an article or in its place: what they say is not the article's bibliography.
HIDING = WALLS | {Scope.ERRORPAGE}

# The terminal document was of the asked type and was judged: it gets rows in file_meta, cdx and its meta table.
JUDGED = frozenset({Status.SUCCESS, Status.UNKNOWN_SCOPE, Status.WRONG_SCOPE})
# A body may be published, and sub-resources are fetched.
KEPT = frozenset({Status.SUCCESS, Status.UNKNOWN_SCOPE})
