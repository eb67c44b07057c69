"""A record of the results topic -> `Arrival`: the checked result, its request, and the JSON as it came.

The JSON columns are filled from the JSON as it came, not from the model, so what is in SQL is what was in Kafka.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from sandcrawler import wire
from sandcrawler.errors import InvalidMessage
from sandcrawler.model import IngestRequest, IngestWebResult
from sandcrawler.persist.base import Record


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
        return Arrival(result, IngestRequest.model_validate(result.request), moment(result.timestamp), plain)
    except ValidationError as error:
        raise InvalidMessage(f"not a valid {error.title}: {wire.reasons(error)}") from error


def moment(timestamp: str) -> datetime:
    """An ISO 8601 timestamp as an aware moment; one without a zone is UTC, as the contract says."""
    try:
        when = datetime.fromisoformat(timestamp)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidMessage(f"timestamp: {timestamp[:60]!r} is not ISO 8601") from error
