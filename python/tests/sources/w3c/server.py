"""An API on the loopback: answers by path and query, and faults that it is told to commit, in their order."""

import json
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Key = tuple[str, tuple[tuple[str, str], ...]]


def key(url: str) -> Key:
    parts = urlsplit(url)
    return parts.path, tuple(sorted(parse_qsl(parts.query)))


@dataclass(frozen=True)
class Fault:
    """A status instead of the answer, or with status 0 a connection that is cut in the middle of it."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


class Server:
    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = {key(path): value for path, value in answers.items()}
        self.faults: dict[Key, deque[Fault]] = defaultdict(deque)
        self.always: dict[Key, Fault] = {}
        self.burst: deque[Fault] = deque()
        self.asked: list[str] = []
        self.agents: Counter[str] = Counter()
        self.on_request: Callable[[str], None] = lambda _: None
        self.base = ""
        self._lock = threading.Lock()

    def fail(self, path: str, *faults: Fault) -> None:
        """The next answers at this path are these faults."""
        self.faults[key(path)].extend(faults)

    def fault(self, path: str) -> Fault | None:
        with self._lock:
            self.asked.append(path)
            if (always := self.always.get(key(path))) is not None:
                return always
            if queued := self.faults.get(key(path)):
                return queued.popleft()
            return self.burst.popleft() if self.burst else None

    def count(self, path: str) -> int:
        return sum(1 for asked in self.asked if key(asked) == key(path))


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[Server]:
    """Serve until the block ends; `base` is the API's address."""
    server = Server(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            server.agents[self.headers.get("User-Agent", "")] += 1
            fault = server.fault(self.path)
            server.on_request(self.path)
            value = server.answers.get(key(self.path))
            if fault:
                self.commit(fault)
            elif value is None:
                self.answer(404, json.dumps({"title": "An error occurred", "status": 404}).encode(), {})
            else:
                self.answer(200, value if isinstance(value, bytes) else json.dumps(value).encode(), {})

        def commit(self, fault: Fault) -> None:
            if fault.status:
                self.answer(fault.status, b"{}", fault.headers)
                return
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"cut": ')
            self.close_connection = True

        def answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/hal+json;version=1.0", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # a client that stops listening is what some tests are about

    web = Quiet(("127.0.0.1", 0), Handler)
    server.base = f"http://127.0.0.1:{web.server_port}"
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        web.shutdown()
        web.server_close()
        thread.join()
