"""A small OAI-PMH server on the loopback, with the faults that real ones have."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    "<responseDate>2024-01-01T00:00:00Z</responseDate>{}</OAI-PMH>"
)
RECORD = (
    "<record><header{status}><identifier>oai:x:{number}</identifier><datestamp>{stamp}</datestamp></header>"
    "{metadata}</record>"
)
DC = (
    '<metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title>{}</oai_dc:dc></metadata>'
)

# status, headers, body; None hangs up in the middle of the body.
Answer = tuple[int, dict[str, str], bytes | None]


def dublin_core(number: int) -> str:
    return DC.format(f"<dc:identifier>https://repository.example.edu/{number}</dc:identifier>")


@dataclass
class Repository:
    """Records 0 … count-1, `size` on a page, a day apart. `faults`: argument of a request -> answers to give first."""

    count: int = 10
    size: int = 3
    metadata: Callable[[int], str] = dublin_core
    forgotten: set[str] = field(default_factory=set)
    faults: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    deleted: frozenset[int] = frozenset()
    stamps: Callable[[int], str] = lambda number: f"2024-01-{number + 1:02d}"

    def answer(self, asked: dict[str, str]) -> Answer:
        self.asked.append(asked)
        token = asked.get("resumptionToken")
        if waiting := self.faults.get(token or "first"):
            return waiting.pop(0)
        if token in self.forgotten:
            return 200, {}, self.error("badResumptionToken")
        if asked.get("metadataPrefix") == "nothing":
            return 200, {}, self.error("cannotDisseminateFormat")
        start, since = (token or "0@").split("@")
        since = since or asked.get("from", "")
        numbers = [number for number in range(self.count) if self.stamps(number) >= since]
        return 200, {}, self.page(numbers, int(start), since)

    def page(self, numbers: list[int], start: int, since: str) -> bytes:
        if not numbers:
            return self.error("noRecordsMatch")
        end = start + self.size
        token = f"{end}@{since}" if end < len(numbers) else ""
        records = "".join(
            RECORD.format(
                number=number,
                stamp=self.stamps(number),
                status=' status="deleted"' if number in self.deleted else "",
                metadata="" if number in self.deleted else self.metadata(number),
            )
            for number in numbers[start:end]
        )
        return ENVELOPE.format(
            f"<ListRecords>{records}<resumptionToken>{token}</resumptionToken></ListRecords>"
        ).encode()

    @staticmethod
    def error(code: str) -> bytes:
        return ENVELOPE.format(f'<error code="{code}">because</error>').encode()


@contextmanager
def serving(repository: Repository) -> Iterator[str]:
    """The base URL of the repository, while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            status, headers, body = repository.answer(asked)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if body is not None else 1000))
            self.end_headers()
            self.wfile.write(body if body is not None else b"<OAI-PMH")
            if body is None:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/oai"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
