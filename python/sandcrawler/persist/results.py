"""A record of the results topic -> `Arrival`: the checked result, its request, and the JSON as it came.

The JSON columns are filled from the JSON as it came, not from the model, so what is in SQL is what was in Kafka.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage
from sandcrawler.model import IngestRequest, IngestWebResult
from sandcrawler.persist.base import Record
from sandcrawler.status import Status

# Clocks of two machines differ, but not by more.
AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A result to be stored. `updated`: its timestamp, aware. `plain`: the message as JSON values."""

    result: IngestWebResult
    request: IngestRequest
    updated: datetime
    plain: dict[str, Any]


def decode(record: Record) -> Arrival:
    """The record as an Arrival. SkippedMessage for tombstones, InvalidMessage for what has no row to go to."""
    plain = wire.loads(record.value)
    try:
        result = IngestWebResult.model_validate(plain)
        if result.request is None:
            raise InvalidMessage("a result without its request: ingest_type and base_url are the key of its row")
        if result.hit != (result.status is Status.SUCCESS):
            raise InvalidMessage(f"hit is {result.hit} and status {result.status}: only success is a hit")
        return Arrival(result, IngestRequest.model_validate(result.request), moment(result.timestamp), plain)
    except ValidationError as error:
        raise InvalidMessage(f"not a valid {error.title}: {wire.reasons(error)}") from error


def moment(timestamp: str) -> datetime:
    """An ISO 8601 timestamp as an aware moment; one without a zone is UTC, as the contract says."""
    try:
        when = datetime.fromisoformat(timestamp)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidMessage(f"timestamp: {timestamp[:60]!r} is not ISO 8601") from error
    if when > datetime.now(UTC) + AHEAD:
        # The newest result wins, so one from the future would win for ever.
        raise InvalidMessage(f"timestamp: {timestamp[:60]!r} lies in the future")
    return when
