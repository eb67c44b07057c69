"""Which rows go out: by status, type of request and time of the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from sandcrawler.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Selection:
    """What to export; None and empty mean everything. `since` is included, `until` is not."""

    statuses: Sequence[str] = ()
    kinds: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        """ConfigurationError for a range that holds no moment."""
        if self.since and self.until and self.since >= self.until:
            raise ConfigurationError(f"--since {self.since.isoformat()} is not before --until {self.until.isoformat()}")


def moment(text: str | None, option: str) -> datetime | None:
    """A day (2024-01-31, its beginning) or a moment (2024-01-31T12:00:00Z), UTC where no zone is named."""
    if text is None:
        return None
    try:
        parsed = datetime.combine(date.fromisoformat(text), datetime.min.time()) if len(text) == 10 else None
        parsed = parsed or datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigurationError(f"{option}: {text!r} is no date: write 2024-01-31 or 2024-01-31T12:00:00Z") from error
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
