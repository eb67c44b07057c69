"""The hierarchy of what can go wrong outside the web itself; the web's faults are statuses, never exceptions.

SandcrawlerError
├── InvalidMessage      the message's fault: it becomes a dead letter, and the worker goes on
├── SkippedMessage      nothing to do (tombstone, no body): counted under its reason
├── Unavailable         the world's fault, perhaps for a moment: the worker pauses, tries again, then stops
├── TooManyDeadLetters  a flood of invalid messages: the worker stops with exit code 4, nothing lost
└── ConfigurationError  the operator's fault: said at the start, exit code 2
"""


class SandcrawlerError(Exception):
    """Base of all errors that this package raises on purpose."""


class InvalidMessage(SandcrawlerError):
    """The message cannot be read as what its topic holds. The text says why, for the dead letter's header."""


class SkippedMessage(SandcrawlerError):
    """The message needs no work. `reason` is a counter's name, such as `tombstone`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unavailable(SandcrawlerError):
    """A server (broker, database, bucket) is not there or not able now. The text names it and what to do."""


class TooManyDeadLetters(SandcrawlerError):
    """Too many messages could not be read: more likely a fault of the deployment than of the messages."""


class ConfigurationError(SandcrawlerError):
    """A setting or argument cannot be used. The text names the variable and what is right."""
