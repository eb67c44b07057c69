"""Why a server gave no answer that can be used: kinds of failure, by status and by what the connection died of."""

import socket
import ssl
from collections.abc import Mapping
from enum import StrEnum

import urllib3.exceptions
from urllib3.exceptions import LocationValueError, MaxRetryError, NewConnectionError, ResponseError, SSLError

from sandcrawler.errors import SandcrawlerError
from sandcrawler.fetch.governor import retry_after


class Failure(StrEnum):
    """Why there is no answer that can be used."""

    BAD_REQUEST = "bad request"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    TOO_MANY = "too many requests"
    SERVER = "server error"
    OTHER = "unexpected status"
    CONNECTION = "no connection"
    TIMEOUT = "timeout"
    NOWHERE = "leads nowhere"
    PARSE = "not readable"


BY_STATUS = {
    400: Failure.BAD_REQUEST,
    401: Failure.UNAUTHORIZED,
    403: Failure.FORBIDDEN,
    404: Failure.NOT_FOUND,
    429: Failure.TOO_MANY,
}
TRANSPORT = frozenset({Failure.CONNECTION, Failure.TIMEOUT, Failure.NOWHERE, Failure.PARSE})
# What name servers say of a host that does not exist; everything else may be their own trouble.
NO_HOST = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


def failure_of(status: int) -> Failure:
    """What a status that is not 2xx means."""
    return BY_STATUS.get(status, Failure.SERVER if 500 <= status < 600 else Failure.OTHER)


class HttpError(SandcrawlerError):
    """No usable answer. `status` and `headers` (lower-case names) where the server answered at all."""

    def __init__(
        self, failure: Failure, url: str, text: str = "", status: int | None = None, headers: Mapping[str, str] = {}
    ) -> None:
        super().__init__(f"{url}: {text or (status and f'{status} {failure}') or failure}")
        self.failure, self.url, self.status, self.headers = failure, url, status, headers

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asked for."""
        return retry_after(self.headers.get("retry-after"))


def without_answer(error: BaseException) -> Failure:
    """What an error of the HTTP library means, when no status came."""
    reason = reason_of(error)
    if _is_hopeless(reason):
        return Failure.NOWHERE
    if isinstance(reason, urllib3.exceptions.TimeoutError) and not isinstance(reason, NewConnectionError):
        return Failure.TIMEOUT
    return Failure.CONNECTION


def _is_hopeless(reason: BaseException) -> bool:
    if isinstance(reason, LocationValueError | ResponseError):  # the latter: redirects in a circle
        return True
    cause = reason.__cause__ or (reason.args[0] if isinstance(reason, SSLError) and reason.args else None)
    return isinstance(cause, ssl.SSLCertVerificationError) or (
        isinstance(cause, socket.gaierror) and cause.errno in NO_HOST
    )


def reason_of(error: BaseException) -> BaseException:
    """What is behind an error of the HTTP library."""
    return error.reason if isinstance(error, MaxRetryError) and error.reason else error
