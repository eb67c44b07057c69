"""The one worker loop. It knows records, messages and offsets, and nothing of documents, tables or Kafka.

    consumer.poll ─► decode ─► step ─► producer.publish ─► commit
                        │        │            ▲
                        └────────┴─ dead letter

Read in this order: `records` (what goes in and out, and the two small protocols of a broker), `steps` and `worker`
(the shapes of work), `loop` (the story). The loop stands on `window` (which offsets may be committed), `hands`
(threads that work while the loop polls) and `effects` (what they do), `deadletters`, `backoff`, `counts`, `stop`.

The promise is at least once: an offset is committed only when everything before it had its effect, acknowledged. So
every effect must be one that may be repeated.
"""

from sandcrawler.runtime.backoff import Backoff
from sandcrawler.runtime.counts import Counts
from sandcrawler.runtime.loop import Loop, run
from sandcrawler.runtime.records import Consumer, Message, MessageTooLarge, Partition, Producer, Record
from sandcrawler.runtime.steps import Batched, Concurrent
from sandcrawler.runtime.stop import Stop, stop_on_signals
from sandcrawler.runtime.worker import Limits, Worker

__all__ = [
    "Backoff",
    "Batched",
    "Concurrent",
    "Consumer",
    "Counts",
    "Limits",
    "Loop",
    "Message",
    "MessageTooLarge",
    "Partition",
    "Producer",
    "Record",
    "Stop",
    "Worker",
    "run",
    "stop_on_signals",
]
