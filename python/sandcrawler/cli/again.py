"""Commands that do things again."""

from typing import Annotated

import typer

from sandcrawler.cli.feed import Queue
from sandcrawler.cli.screen import put, say
from sandcrawler.config import load
from sandcrawler.errors import ConfigurationError
from sandcrawler.names import REQUEST_TOPICS
from sandcrawler.status import Status

PREVIEW_CHARS = 200

dead_letters = typer.Typer(help="Messages that could not be used: list them, or send them back.", no_args_is_help=True)


@dead_letters.command("list")
def list_letters() -> None:
    """Print every dead letter: where it was, what was wrong, and how it begins. One JSON object a line."""
    from sandcrawler.again import dead_letters as every  # noqa: PLC0415

    for letter in every(load()):
        put(
            {
                "topic": letter.topic,
                "partition": letter.partition,
                "offset": letter.offset,
                "worker": letter.worker,
                "error": letter.error,
                "key": (letter.key or b"").decode("utf-8", "replace"),
                "value": (letter.value or b"")[:PREVIEW_CHARS].decode("utf-8", "replace"),
            }
        )


@dead_letters.command("replay")
def replay_letters() -> None:
    """Publish the dead letters that came since the last replay to the topics that they came from."""
    from sandcrawler.again import replay  # noqa: PLC0415

    put({"replayed": replay(load())})


def requeue(
    status: Annotated[str, typer.Option(help="Requests that ended with this status, such as timeout")],
    older_than: Annotated[str, typer.Option(help="Only results older than this: 90m, 12h, 7d, 4w")] = "1d",
    queue: Queue = "bulk",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the requests, a JSON line each; publish none")
    ] = False,
) -> None:
    """Publish again the requests that ended with a status. `sandcrawler statuses` says where that may help."""
    from sandcrawler.again import age, failed  # noqa: PLC0415
    from sandcrawler.again import requeue as publish_again  # noqa: PLC0415

    words = {word.value: word for word in Status}
    if status not in words:
        raise ConfigurationError(f"--status: there is no status {status!r}; `sandcrawler statuses` lists them")
    if queue not in REQUEST_TOPICS:
        raise ConfigurationError(f"--queue: {queue!r} is not one of {', '.join(REQUEST_TOPICS)}")
    word = words[status]
    if not word.retry:
        say(f"{status}: {word.meaning}. Asking again seldom helps.")
    if dry_run:
        for request in failed(load(), word, age(older_than)):
            put(request)
        return
    put({"requeued": (number := publish_again(load(), word, age(older_than), queue))})
    if not number:
        say(f"no result with status {status} is older than {older_than} (--older-than)")
