"""The API of Save Page Now 2: ask for a capture, wait for its job, and know when it was made.

A job is waited for within bounds. Errors are words (`error:user-session-limit`), come with any HTTP status, at once or
at the end of a job; they are told in the message and are never statuses of ours. Where the account must wait, no
document asks again before the time.
Source: "Save Page Now 2 Public API Docs" (V. Banos, Internet Archive).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch.base import Refused
from sandcrawler.fetch.hosts import AsyncSleeper
from sandcrawler.fetch.intake import Intake
from sandcrawler.fetch.pacing import Clock
from sandcrawler.fetch.service import Question, Service, Unanswered
from sandcrawler.fetch.target import ANY_PORT, read
from sandcrawler.fetch.waybackindex import instant
from sandcrawler.status import Status

POLL_SECONDS = 3.0
# The hops of a capture are saved just before the moment that the job tells.
BEFORE = timedelta(minutes=10)
ANSWER_BYTES = 4 << 20  # a status lists every embedded URL
# Flags that are off are left out: naming them at all, even as 0, turns some of them on.
OPTIONS: Mapping[str, str] = {"capture_all": "1", "skip_first_archive": "1", "js_behavior_timeout": "0"}
JOB = re.compile(r"[A-Za-z0-9_.-]{1,128}")
WORD = re.compile(r"error:([a-z0-9-]{1,64})")


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait after an error, in seconds; `account`: no document may ask before."""

    seconds: float
    account: bool


# Errors that are about when it was asked, and not about the URL.
WAITS: Mapping[str, Wait] = {
    "user-session-limit": Wait(60, account=True),
    "no-browsers-available": Wait(60, account=True),
    "celery": Wait(60, account=True),
    "cannot-fetch": Wait(60, account=True),
    "max-daily-bandwidth": Wait(3600, account=True),
    "max-daily-bandwidth-from-ip": Wait(3600, account=True),
    "max-daily-bandwidth-host": Wait(3600, account=False),
    "too-many-requests": Wait(60, account=False),
    "too-many-daily-captures-host": Wait(3600, account=False),
    "too-many-daily-captures": Wait(3600, account=False),
}
# It was saved so often today that it is not saved again: what there is of today is looked up.
SAVED_TODAY = "too-many-daily-captures"
DAY = timedelta(days=1)


class NotSaved(Exception):
    """There is no capture: `status` (spn2-error, spn2-backoff), why, and when to ask again where that is known."""

    def __init__(self, status: Status, message: str, retry_at: datetime | None = None) -> None:
        super().__init__(message[:800])
        self.status, self.retry_at = status, retry_at


class SavePageNow:
    """One account."""

    def __init__(self, config: Config, service: Service, clock: Clock, sleeper: AsyncSleeper) -> None:
        """ConfigurationError: there are no keys, or the address is none."""
        access, secret = config.fetch_spn_access_key, config.fetch_spn_secret_key
        if access is None or secret is None:
            raise ConfigurationError(
                "back end spn needs SANDCRAWLER_FETCH_SPN_ACCESS_KEY and SANDCRAWLER_FETCH_SPN_SECRET_KEY"
            )
        try:
            read(config.fetch_spn_url, more_ports=ANY_PORT)
        except Refused as error:
            raise ConfigurationError(f"SANDCRAWLER_FETCH_SPN_URL: {error}") from error
        self._config, self._service, self._clock, self._sleeper = config, service, clock, sleeper
        self._quiet_until = clock()
        keys = f"LOW {access.get_secret_value()}:{secret.get_secret_value()}"
        self._headers = {"Accept": "application/json", "Authorization": keys}

    async def save(self, url: str, deadline: float | None) -> tuple[datetime, timedelta]:
        """The moment of a capture, made now or found fresh enough, and how much older its parts may be. NotSaved."""
        left = self._quiet_until - self._clock()
        if left > 0:
            raise self._later(f"Save Page Now asked to wait for another {left:.0f} s", left)
        within = self._config.fetch_spn_within
        form = {"url": url, **OPTIONS} | ({"if_not_archived_within": within} if within else {})
        said = await self._ask(Question(self._config.fetch_spn_url, form, self._headers), deadline)
        job = said.get("job_id")
        if not isinstance(job, str) or not JOB.fullmatch(job):
            if _word(said) == SAVED_TODAY:
                return datetime.now(UTC), DAY
            raise self._fault(said)
        return await self._wait(job, deadline), BEFORE

    async def _wait(self, job: str, deadline: float | None) -> datetime:
        """The moment of the capture that a job makes."""
        url = f"{self._config.fetch_spn_url.rstrip('/')}/status/{job}"
        for _ in range(ceil(self._config.fetch_spn_seconds / POLL_SECONDS)):
            said = await self._ask(Question(url, None, self._headers), deadline)
            if said.get("status") == "success":
                try:
                    return instant(str(said.get("timestamp")))
                except ValueError as error:
                    raise NotSaved(Status.SPN2_ERROR, f"job {job}: {error}") from error
            if said.get("status") != "pending":
                raise self._fault(said)
            await self._sleeper(POLL_SECONDS)
        raise NotSaved(Status.SPN2_ERROR, f"job {job} was not done after {self._config.fetch_spn_seconds:g} s")

    async def _ask(self, question: Question, deadline: float | None) -> dict[str, Any]:
        """An answer of the API, which is a JSON object whatever its HTTP status."""
        try:
            answer = await self._service.ask(question, Intake(ANSWER_BYTES), deadline)
        except Unanswered as fault:
            status = Status.SPN2_BACKOFF if fault.retry_at else Status.SPN2_ERROR
            raise NotSaved(status, f"Save Page Now: {fault}", fault.retry_at) from fault
        try:
            said = json.loads(answer.body)
        except (ValueError, RecursionError):
            said = None
        if answer.fault or not isinstance(said, dict):
            raise NotSaved(Status.SPN2_ERROR, f"Save Page Now: HTTP {answer.code} without a JSON object")
        return said if answer.code < 400 else {"message": f"HTTP {answer.code}", **said, "status": "error"}

    def _fault(self, said: Mapping[str, Any]) -> NotSaved:
        """What the API's answer means for us; its own word goes into the message."""
        word = _word(said)
        message = f"Save Page Now: {word or 'no word for it'}: {' '.join(str(said.get('message')).split())}"
        wait = WAITS.get(word)
        if wait is None:
            return NotSaved(Status.SPN2_ERROR, message)
        if wait.account:
            self._quiet_until = max(self._quiet_until, self._clock() + wait.seconds)
        return self._later(message, wait.seconds)

    def _later(self, message: str, seconds: float) -> NotSaved:
        return NotSaved(Status.SPN2_BACKOFF, message, datetime.now(UTC) + timedelta(seconds=seconds))


def _word(said: Mapping[str, Any]) -> str:
    """`user-session-limit` of `error:user-session-limit`; an empty string where there is none."""
    found = WORD.fullmatch(str(said.get("status_ext")))
    return found[1] if found else ""
