"""Commands that set the pipeline up and run it."""

import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sandcrawler.cli.document import Type, TypeOption
from sandcrawler.cli.screen import put, say
from sandcrawler.config import Config, load
from sandcrawler.errors import ConfigurationError, Unavailable


def setup() -> None:
    """Create what is missing: topics, tables, bucket; and check what is there. Safe to repeat."""
    from sandcrawler.setup import setup as create  # noqa: PLC0415

    for action in create(load()):
        put(asdict(action))


def run(
    workers: Annotated[list[str], typer.Argument(metavar="WORKER…", help="Names; a name given twice runs twice")],
    metrics_port: Annotated[
        int | None, typer.Option(help="Serve Prometheus metrics here; of several workers, each on the next port")
    ] = None,
) -> None:
    """Run workers until SIGTERM or Ctrl-C: they finish what is in flight, commit, and exit.

    Workers: ingest, persist-results, persist-html-teixml, persist-xml-doc, persist-pdf-text,
    fatcat-releases.
    """
    from sandcrawler.workers import WORKERS  # noqa: PLC0415
    from sandcrawler.workers import run as run_worker  # noqa: PLC0415

    unknown = [name for name in workers if name not in WORKERS]
    if unknown:
        raise ConfigurationError(f"there is no worker {unknown[0]!r}; the workers are {', '.join(WORKERS)}")
    config = load() if metrics_port is None else load(metrics_port=metrics_port)
    if len(workers) == 1:
        serve_metrics(config)
        try:
            run_worker(workers[0], config)
        except (FileNotFoundError, PermissionError):  # a path of the settings
            raise
        except OSError as error:  # a full disk, too many files: wrong now, where exit code 2 says wrong for ever
            raise Unavailable(f"{type(error).__name__}: {error}") from error
        return
    raise typer.Exit(_run_side_by_side(workers, config.metrics_port))


def serve_metrics(config: Config) -> None:
    """Offer this process's metrics to Prometheus, where a port is set."""
    from prometheus_client import start_http_server  # noqa: PLC0415

    if not config.metrics_port:
        return
    try:
        start_http_server(config.metrics_port, config.metrics_host)
    except OSError as error:
        raise ConfigurationError(
            f"SANDCRAWLER_METRICS_PORT: {config.metrics_host}:{config.metrics_port}: {error.strerror}"
        ) from error


def _run_side_by_side(workers: list[str], metrics_port: int) -> int:
    """Each worker in a process of its own. When one ends, the others are asked to; the first bad code is ours."""
    own = [["--metrics-port", str(metrics_port and metrics_port + number)] for number in range(len(workers))]
    children = [
        # A session of its own: Ctrl-C is for us, who then ask each child once; the second signal would end it at once.
        subprocess.Popen([sys.executable, "-m", "sandcrawler", "run", name, *options], start_new_session=True)
        for name, options in zip(workers, own, strict=True)
    ]
    told = False

    def tell(*_: object) -> None:
        nonlocal told
        told = True
        for child in children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, tell)
    signal.signal(signal.SIGINT, tell)
    while any(child.poll() is None for child in children):
        ended = [name for name, child in zip(workers, children, strict=True) if child.poll() is not None]
        if ended and not told:
            say(f"{ended[0]} has ended; asking the other workers to stop")
            tell()
        time.sleep(0.1)
    return next((code for child in children if (code := child.returncode) != 0), 0)


def demo(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL…]", help="Your own links, in place of ours")] = None,
    directory: Annotated[Path | None, typer.Option("--dir", help="The local stack's folder")] = None,
    kind: TypeOption = Type.html,
) -> None:
    """The whole pipeline on the local stack: on a bundled example site, or on your own URLs."""
    from sandcrawler.cli.stack import progress  # noqa: PLC0415
    from sandcrawler.demo.run import run as run_demo  # noqa: PLC0415

    raise typer.Exit(run_demo(urls or [], kind.value, directory, progress))
