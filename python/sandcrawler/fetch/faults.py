"""The web's faults, as aiohttp and the system raise them, and the status that each of them means."""

import ssl

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from sandcrawler.fetch.connect import ForbiddenAddress
from sandcrawler.fetch.target import Target
from sandcrawler.status import Status

# The most specific first.
FAULTS: tuple[tuple[type[BaseException], Status], ...] = (
    (ForbiddenAddress, Status.BLOCKED_ADDRESS),
    (aiohttp.ClientConnectorDNSError, Status.DNS_ERROR),
    (aiohttp.ClientSSLError, Status.TLS_ERROR),
    (ssl.SSLError, Status.TLS_ERROR),
    (TimeoutError, Status.TIMEOUT),
    (aiohttp.InvalidURL, Status.BAD_URL),
    (aiohttp.ClientError, Status.CONNECT_ERROR),
    (OSError, Status.CONNECT_ERROR),
    (ValueError, Status.CONNECT_ERROR),  # headers that the library cannot make sense of
)
# The host is down or has fallen silent; the document's own time limit (a plain TimeoutError) says nothing about it.
SILENCE = (aiohttp.ServerConnectionError, aiohttp.ClientConnectorError)
CAUGHT = tuple(kind for kind, _ in FAULTS)
# What the library says in its own terms, in ours.
WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (aiohttp.ServerDisconnectedError, "the connection was closed without an answer"),
    (ConnectionResetError, "the connection was reset"),
    (aiohttp.ConnectionTimeoutError, "no connection in time"),
    (aiohttp.ServerTimeoutError, "nothing came for too long"),
)


def status(error: BaseException) -> Status:
    """The status that one of CAUGHT means."""
    inner = getattr(error, "os_error", None) or error.__cause__
    if isinstance(inner, ForbiddenAddress):
        return Status.BLOCKED_ADDRESS
    return next(word for kind, word in FAULTS if isinstance(error, kind))


def reason(error: BaseException, target: Target) -> str:
    """What happened, for people: host, port and the library's own words."""
    inner = getattr(error, "os_error", None) or error
    if isinstance(error, TimeoutError) and not str(error):
        return f"{target.host} did not answer in time"
    return f"{target.host}:{target.port}: {text(inner)}"


def text(error: BaseException) -> str:
    """An exception in one line, without the names that it has in the library."""
    said = next((words for kind, words in WORDS if isinstance(error, kind)), "")
    if isinstance(error, aiohttp.ClientPayloadError):
        said = getattr(error.__cause__, "message", "") or str(error)
    if isinstance(error, aiohttp.ClientResponseError):
        said = f"no HTTP: {error.message}" if isinstance(error.__cause__, HttpProcessingError) else str(error)
    return " ".join((said or f"{type(error).__name__}: {error}").split())[:800]
