"""What went wrong in a harvest, for people and programs: one message a document or field, as JSON in a file."""

import json
import threading
from pathlib import Path

from sandcrawler.sources.output import replace

TITLE = "Error fetching documents"


class Errors:
    """Flags and messages under keys.

    A flag says that every record so far lacked a field (`note(field, lacking)`); a message is about one document.
    """

    def __init__(self) -> None:
        self._values: dict[str, bool | str] = {}
        self._lock = threading.Lock()

    def note(self, key: str, lacking: bool) -> None:
        """One more record lacks this field, or has it. A key stays True only while all of them lack it."""
        with self._lock:
            self._values[key] = bool(self._values.get(key, True)) and lacking

    def say(self, key: str, message: str) -> None:
        """A message about one document; the last one under a key stands."""
        with self._lock:
            self._values[key] = message

    def messages(self) -> list[str]:
        """What there is to report, in the order in which it was first noted."""
        return [
            value if isinstance(value, str) else f"Failed to fetch {key}"
            for key, value in self._values.items()
            if value
        ]

    def save(self, path: Path, counts: dict[str, int]) -> None:
        """Write the report: {title, messages, counts}."""
        report = {"title": TITLE, "messages": self.messages(), "counts": counts}
        replace(path, json.dumps(report, ensure_ascii=False, indent=1) + "\n")
