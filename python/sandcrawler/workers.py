"""Every worker, in the order the data flows: the whole wiring of the system on one page.

    requests ─► ingest ─┬─► ingest-file-results ─► persist-results ────► PostgreSQL
                        ├─► html-teixml ─────────► persist-html-teixml ┐
                        ├─► xml-doc ─────────────► persist-xml-doc     ├► bucket
                        └─► pdf-text ────────────► persist-pdf-text    ┘

    fatcat's release updates ─► fatcat-releases ─► requests

A worker reads topics through `runtime.run`, which polls, hands records to the worker's step, publishes what comes
out, and commits. To add a topic: `names.py` and `kafka/topics.toml`; a table: `sql/migrations/` and
`persist/tables.py`; a kind of document: a class in `ingest/`; a status: `status.py`; a meta tag: the table of
`extract/biblio`; another HTTP client: `fetch/`.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sandcrawler import kafka, runtime, wire
from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, InvalidMessage
from sandcrawler.fetch.backends import Backends, named
from sandcrawler.ingest.archive import Archive
from sandcrawler.ingest.flow import Flow
from sandcrawler.ingest.known import OpeningPast, known
from sandcrawler.ingest.outcome import Outcome
from sandcrawler.ingest.sandbox import Sandbox
from sandcrawler.model import IngestRequest
from sandcrawler.names import REPLAYED, ForeignTopic, Topic, request_key, result_key
from sandcrawler.persist import bodies, results
from sandcrawler.persist.blobs import BlobSink
from sandcrawler.persist.known import open_past
from sandcrawler.persist.postgres import PostgresSink
from sandcrawler.persist.warcs import open_store
from sandcrawler.runtime import Batched, Concurrent, Message, Record
from sandcrawler.setup import Part, check
from sandcrawler.sources import fatcat

Step = Concurrent[Any] | Batched[Any]


@dataclass(frozen=True)
class Wiring:
    """A worker: the topics it reads, how its step is made from the settings, and what must be there for it."""

    reads: tuple[Topic | ForeignTopic, ...]
    step: Callable[[Config], Step]
    needs: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, the same verbatim, and when it was published (seconds since 1970), where that can be relied on."""

    request: IngestRequest
    verbatim: dict[str, Any]
    at: float | None


def ingest(config: Config, past: OpeningPast | None = None) -> Concurrent[Asked]:
    """Requests → results and bodies. What is known of links is looked up in `past`, by default as the settings say."""
    backends, sandbox, archive = Backends(config), Sandbox(config), Archive(open_store(config))
    past = past or open_past(config, "workers")

    async def answer(asked: Asked) -> Sequence[Message]:
        last = await known(past, asked.request, asked.at)
        async with backends.fetcher(asked.request.fetch_backend) as fetcher:
            flow = Flow(fetcher, sandbox.extract, config, archive)
            outcome = await flow.ingest(asked.request, asked.verbatim, last)
        return messages(outcome, asked.request, asked.verbatim, config)

    return Concurrent(
        decode=partial(decode_request, config),
        work=answer,
        window=config.ingest_window,
        session=lambda: opened(backends, sandbox, past),
    )


def decode_request(config: Config, record: Record) -> Asked:
    """A request; a back end that it names exists and is allowed. InvalidMessage says what is wrong."""
    request, verbatim = wire.decode_request(record.value)
    backend = request.fetch_backend or config.fetch_backend
    try:
        named(backend)
    except ConfigurationError as error:
        raise InvalidMessage(f"fetch_backend: {error}") from error
    # Whoever may write requests may not thereby read this machine's files.
    if backend != config.fetch_backend and backend.partition(":")[0] not in config.fetch_backends:
        raise InvalidMessage(f"fetch_backend: {backend!r} is not allowed here (SANDCRAWLER_FETCH_BACKENDS)")
    replayed = any(name == REPLAYED for name, _ in record.headers)
    return Asked(request, verbatim, None if replayed else record.timestamp)


@asynccontextmanager
async def opened(backends: Backends, sandbox: Sandbox, past: OpeningPast) -> AsyncIterator[None]:
    """What an ingest worker's documents share, open for as long as the worker runs."""
    async with backends, sandbox, past:
        yield


def messages(outcome: Outcome, request: IngestRequest, verbatim: dict[str, Any], config: Config) -> Sequence[Message]:
    """An outcome as messages: the body first, so that a result never names a body that is not there."""
    result = Message(
        Topic.RESULTS.named(config.env),
        result_key(request.ingest_type, verbatim["base_url"]),
        wire.encode(outcome.result),
    )
    if outcome.topic is None or outcome.key is None:
        return [result]
    return [Message(outcome.topic.named(config.env), outcome.key.encode(), outcome.message), result]


def persist_results(config: Config) -> Batched[Any]:
    """Results → rows."""
    return Batched(results.decode, PostgresSink(config).write, config.persist_batch, config.persist_seconds)


def persist_bodies(decode: Callable[[Record], Any]) -> Callable[[Config], Batched[Any]]:
    """Bodies of one topic → objects in the bucket."""
    return lambda config: Batched(decode, BlobSink(config).write, config.persist_batch, config.persist_seconds)


def fatcat_releases(config: Config) -> Concurrent[dict[str, Any]]:
    """Releases that changed in fatcat → requests, by the table of `sources.fatcat`."""
    topic = Topic.REQUESTS_DAILY.named(config.env)

    async def ask(release: dict[str, Any]) -> Sequence[Message]:
        return [Message(topic, request_key(one["base_url"]), wire.encode(one)) for one in fatcat.updated(release)]

    return Concurrent(decode=lambda record: wire.loads(record.value), work=ask, window=config.ingest_window)


WORKERS: Mapping[str, Wiring] = {
    "ingest": Wiring((Topic.REQUESTS_PRIORITY, Topic.REQUESTS_DAILY, Topic.REQUESTS_BULK), ingest, ("topic",)),
    "persist-results": Wiring((Topic.RESULTS,), persist_results, ("topic", "migration")),
    "persist-html-teixml": Wiring((Topic.HTML_TEIXML,), persist_bodies(bodies.decode_html_teixml), ("topic", "bucket")),
    "persist-xml-doc": Wiring((Topic.XML_DOC,), persist_bodies(bodies.decode_xml_doc), ("topic", "bucket")),
    "persist-pdf-text": Wiring((Topic.PDF_TEXT,), persist_bodies(bodies.decode_pdf_text), ("topic", "bucket")),
    "fatcat-releases": Wiring((ForeignTopic.FATCAT_RELEASES,), fatcat_releases, ("topic",)),
}


def more_needs(name: str, config: Config) -> tuple[Part, ...]:
    """What must be there for a worker because of its settings."""
    return ("bucket",) if name == "ingest" and config.warc == "bucket" else ()


def run(name: str, config: Config) -> None:
    """Run one worker until SIGTERM or Ctrl-C."""
    wiring = WORKERS[name]
    check(config, (*wiring.needs, *more_needs(name, config)))
    worker = runtime.Worker(
        name=name,
        consumer=kafka.open_consumer(config, name, [topic.named(config.env) for topic in wiring.reads]),
        producer=kafka.open_producer(config),
        step=wiring.step(config),
        dead_letters=Topic.DEAD_LETTERS.named(config.env),
        limits=runtime.Limits(config.dead_letters_in_row, config.dead_letters_of_200, config.drain_seconds),
    )
    runtime.run(worker, runtime.stop_on_signals())
