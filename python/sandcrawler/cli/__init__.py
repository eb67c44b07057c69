"""The command line: one module for each group of commands, put together here, in the order a newcomer needs them.

Machine output is JSON on stdout, one value a line; what people read goes to stderr. Heavy modules are imported
inside the commands, so that `--help` and `extract` start fast.
"""

import sys

import typer

from sandcrawler.cli import again, document, export, feed, fetch, look, source, source_requests, work
from sandcrawler.cli import stack as local
from sandcrawler.cli.screen import fail, log_to_stderr, take_closed_streams
from sandcrawler.errors import ConfigurationError, InvalidMessage, TooManyDeadLetters, Unavailable

# What every exit code means; the README's table is held equal to this one by a test.
EXIT_CODES = {
    0: "done; for ingest and extract: a result was printed, whatever its status",
    1: "a miss, or a check that failed",
    2: "wrong usage or configuration",
    3: "a server is not there",
    4: "stopped: too many messages could not be read (dead letters)",
    130: "interrupted",
}

app = typer.Typer(
    help=(
        "Ingest scholarly web documents: fetch them, read their metadata and full text, "
        "and keep both in PostgreSQL and a bucket. Start with `sandcrawler demo`."
    ),
    epilog="Exit codes: " + " · ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

FIRST, STACK, PIPELINE, LOOK, SOURCES = "First steps", "Local stack", "Pipeline", "Looking", "Sources"
for panel, function, name in (
    (FIRST, work.demo, "demo"),
    (FIRST, document.ingest, "ingest"),
    (FIRST, document.extract, "extract"),
    (FIRST, fetch.fetch, "fetch"),
    (STACK, local.up, "up"),
    (STACK, local.down, "down"),
    (STACK, local.ps, "ps"),
    (PIPELINE, work.setup, "setup"),
    (PIPELINE, feed.request, "request"),
    (PIPELINE, feed.requests, "requests"),
    (PIPELINE, work.run, "run"),
    (PIPELINE, again.requeue, "requeue"),
    (LOOK, look.show, "show"),
    (LOOK, look.sql, "sql"),
    (LOOK, look.statuses, "statuses"),
    (LOOK, look.topics, "topics"),
    (LOOK, look.settings, "config"),
):
    app.command(name, rich_help_panel=panel)(function)
app.add_typer(again.dead_letters, name="dead-letters", rich_help_panel=PIPELINE)
app.add_typer(export.app, name="export", rich_help_panel=LOOK)
app.add_typer(source.app, name="source", rich_help_panel=SOURCES)
for name, maker in source_requests.apps().items():
    source.app.add_typer(maker, name=name)

# Commands that log nothing start without the logging library.
QUIET = frozenset({"extract", "statuses", "config"})


@app.callback()
def begin(context: typer.Context) -> None:
    """Before any command: the log goes to stderr, since stdout is for JSON."""
    if context.invoked_subcommand not in QUIET:
        log_to_stderr()


def main() -> None:
    """The entry point: errors become a line on stderr and an exit code."""
    take_closed_streams()
    try:
        app()
    except SystemExit as end:
        # The command line's library ends Ctrl-C without a word.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            fail("interrupted", 130)
        if isinstance(end.__context__, BrokenPipeError):  # as below; the library would make it 1
            sys.exit(0)
        raise
    except (ConfigurationError, InvalidMessage) as error:
        fail(str(error), 2)
    except Unavailable as error:
        fail(str(error), 3)
    except TooManyDeadLetters as error:
        fail(str(error), 4)
    except KeyboardInterrupt:
        fail("interrupted", 130)
    except BrokenPipeError:  # whoever read our output has enough
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        fail(f"{error.filename or 'input or output'}: {error.strerror or error}", 2)
