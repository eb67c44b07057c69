"""A broker in memory with the promises of the real one: for tests, and to run the pipeline without servers.

It keeps what matters to a worker: partitions by key, offsets, consumer groups whose partitions move cooperatively
(a partition changes hands only after its owner let go), committed offsets fenced by ownership, a message size limit.
Faults are asked for by name: `fail_publish`, `fail_commit`, `lose`, `kill`.

    log (topics, records) ◄── group (who owns what) ◄── consumer, producer ◄── broker
"""

from sandcrawler.memory.broker import MemoryBroker
from sandcrawler.memory.clients import MemoryConsumer, MemoryProducer

__all__ = ["MemoryBroker", "MemoryConsumer", "MemoryProducer"]
