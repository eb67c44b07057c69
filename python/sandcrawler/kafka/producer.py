"""Publishing, with the broker's answer to every message.

The broker refuses a whole batch when one message in it is too large, so refused messages are sent again one by one:
those that are refused alone are the culprits.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka import Message as Answer
from confluent_kafka import Producer as Client

from sandcrawler.kafka.client import Setting, check, common, raised, spelled
from sandcrawler.kafka.notes import Notes
from sandcrawler.runtime.records import Message, MessageTooLarge

# Seconds until a message without an answer is Unavailable.
PUBLISH_SECONDS = 30.0
# Bytes that are under way at a time. The clock of every message starts when it is queued: on a slow line the last of
# a great batch would run out of time although all goes well.
TOGETHER_BYTES = 8 << 20


class KafkaProducer:
    """See `sandcrawler.runtime.Producer`."""

    def __init__(self, brokers: str, message_bytes: int, settings: Mapping[str, Setting]) -> None:
        self._notes = Notes("producer")
        self._client = Client(
            {
                **common(brokers, message_bytes, self._notes),
                "log_level": 3,  # a coordinator that is still loading is no news
                "acks": "all",
                "enable.idempotence": True,
                "compression.type": "zstd",
                "linger.ms": 5,
                "message.timeout.ms": int(PUBLISH_SECONDS * 1000),
                **spelled(settings),
            }
        )
        self._brokers = brokers
        self._known: set[str] = set()
        check(self._client, brokers)

    def publish(self, messages: Sequence[Message]) -> None:
        """See `Producer.publish`."""
        if new := {message.topic for message in messages} - self._known:
            # librdkafka would wait half a minute for a missing topic to appear.
            check(self._client, self._brokers, sorted(new))
            self._known |= new
        refused = self._send(messages)
        if len(messages) > 1:
            # The broker refuses a whole batch for one message: each by itself shows which it was.
            refused = [message for message in refused if self._send([message])]
        if refused:
            raise MessageTooLarge(refused)

    def _send(self, messages: Sequence[Message]) -> list[Message]:
        """Publishes and waits for every answer; returns what was too large."""
        refused = []
        for part in parts(messages):
            delivery = _Delivery(self._client)
            for message in part:
                delivery.start(message)
            refused += delivery.wait()
            self._notes.answered()
        return refused

    def close(self) -> None:
        """See `Producer.close`."""
        # `publish` waited for every answer: what is left was given up already.
        self._client.purge()
        self._client.poll(0)


def parts(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The messages in their order, in parts of `TOGETHER_BYTES` or one message."""
    part: list[Message] = []
    size = 0
    for message in messages:
        size += len(message.value or b"")
        if part and size > TOGETHER_BYTES:
            yield part
            part, size = [], len(message.value or b"")
        part.append(message)
    if part:
        yield part


class _Delivery:
    """The messages of one `publish`, from the first to the last answer. Answers may come in any thread."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._open = 0
        self._lock = threading.Lock()
        self._refused: list[Message] = []
        self._failed: tuple[KafkaError, Message] | None = None

    def start(self, message: Message) -> None:
        """Queues the message; waits while the queue is full."""

        def answered(error: KafkaError | None, _answer: Answer) -> None:
            self._answer(message, error)

        with self._lock:
            self._open += 1
        while True:
            try:
                self._client.produce(
                    message.topic,
                    value=message.value,
                    key=message.key,
                    headers=list(message.headers),
                    on_delivery=answered,
                )
            except BufferError:
                self._client.poll(0.1)
            except KafkaException as error:
                return self._answer(message, error.args[0])
            else:
                return None

    def _answer(self, message: Message, error: KafkaError | None) -> None:
        with self._lock:
            self._open -= 1
            if error is None:
                return
            if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                self._refused.append(message)
            else:
                self._failed = (error, message)

    def wait(self) -> list[Message]:
        """Until all are answered (`message.timeout.ms` bounds it): what was too large. Raises what else went wrong."""
        while self._open:
            self._client.poll(0.1)
        if self._failed is not None:
            error, message = self._failed
            raise raised(error, message.topic)
        return self._refused
