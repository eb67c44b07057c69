"""Bodies in a real bucket, and what goes wrong with buckets."""

import base64
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError
from pydantic import SecretStr

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, SandcrawlerError, Unavailable
from sandcrawler.persist import blobs
from sandcrawler.persist.blobs import BlobSink
from sandcrawler.persist.bodies import Blob, decode_html_teixml
from tests.persist.documents import tei

BLOB = decode_html_teixml(tei(1))


@contextmanager
def gateway(status: int, code: str, message: str = "no") -> Iterator[tuple[str, list[str]]]:
    """A gateway that answers every request in the same way; its address, and the requests that it saw."""
    seen: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(self.path)
            body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "code", "fate"),
    [
        (500, "InternalError", Unavailable),
        (503, "SlowDown", Unavailable),
        (429, "TooManyRequests", Unavailable),
        (400, "BadDigest", Unavailable),
        (400, "IncompleteBody", Unavailable),
        (403, "AccessDenied", ConfigurationError),
        (403, "SignatureDoesNotMatch", ConfigurationError),
        (404, "NoSuchBucket", ConfigurationError),
        (400, "InvalidArgument", ClientError),
    ],
)
def test_what_the_gateway_says_and_whose_fault_it_is(
    status: int, code: str, fate: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "ATTEMPTS", 2)
    with gateway(status, code) as (url, seen), pytest.raises(fate) as error:
        BlobSink(Config(s3_url=url)).write([BLOB])
    if issubclass(fate, SandcrawlerError):
        assert url in str(error.value)
        assert code in str(error.value)
    assert len(seen) == (2 if status in {500, 503, 429} else 1)


def test_a_full_store_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "ATTEMPTS", 1)
    with (
        gateway(500, "InternalError", "no free volumes left") as (url, _),
        pytest.raises(Unavailable, match=r"no free volumes left.*room"),
    ):
        BlobSink(Config(s3_url=url)).write([BLOB])


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "ATTEMPTS", 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening: nobody else can
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unavailable, match="sandcrawler ps"):
            BlobSink(Config(s3_url=url)).write([BLOB])


def test_a_gateway_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "ATTEMPTS", 1)
    monkeypatch.setattr(blobs, "READ_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        with pytest.raises(Unavailable):
            BlobSink(Config(s3_url=f"http://127.0.0.1:{silent.getsockname()[1]}")).write([BLOB])
        assert time.monotonic() - started < 30


@pytest.mark.parametrize("url", [None, "not a url", "ftp://127.0.0.1"])
def test_no_usable_address(url: str | None) -> None:
    with pytest.raises(ConfigurationError, match="SANDCRAWLER_S3_URL"):
        BlobSink(Config(s3_url=url)).write([BLOB])


def test_wrong_keys_are_the_operators_fault(stack_config: Callable[..., Config]) -> None:
    for wrong in ({"s3_secret_key": SecretStr("wrong")}, {"s3_access_key": "nobody"}):
        with pytest.raises(ConfigurationError, match="SANDCRAWLER_S3_SECRET_KEY"):
            BlobSink(stack_config(**wrong)).write([BLOB])


def test_a_body_that_was_changed_on_its_way_is_refused(stack_config: Callable[..., Config]) -> None:
    config = stack_config()
    client = blobs.client(config)
    with pytest.raises(ClientError, match=r"BadDigest|InvalidDigest"):
        client.put_object(
            Bucket=config.s3_bucket, Key=BLOB.key, Body=b"cut", ContentMD5=base64.b64encode(bytes(16)).decode()
        )
    with pytest.raises(ClientError, match="404"):
        client.head_object(Bucket=config.s3_bucket, Key=BLOB.key)


def test_a_put_that_breaks_off_leaves_what_was_there(stack_config: Callable[..., Config]) -> None:
    config = stack_config()
    sink, client = BlobSink(config), blobs.client(config)
    sink.write([BLOB])
    url = client.generate_presigned_url("put_object", {"Bucket": config.s3_bucket, "Key": BLOB.key})
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 80)) as half:
        head = f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: 100000\r\n\r\n"
        half.sendall(head.encode() + b"x" * 50000)
        half.shutdown(socket.SHUT_WR)
        half.settimeout(60)
        half.recv(1000)
    assert client.get_object(Bucket=config.s3_bucket, Key=BLOB.key)["Body"].read() == BLOB.body


def test_one_that_fails_does_not_hide_behind_those_that_do_not(
    stack_config: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = BlobSink(stack_config())
    put = sink.put

    def refuse(blob: Blob) -> None:
        if blob.body == b"bad":
            raise Unavailable("broken")
        put(blob)

    monkeypatch.setattr(sink, "put", refuse)
    many = [Blob(f"html/{n}", b"good", "text/plain") for n in range(40)]
    with pytest.raises(Unavailable):
        sink.write([*many, Blob("html/bad", b"bad", "text/plain")])


def test_no_put_is_left_under_way_when_another_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = BlobSink(Config(s3_url="http://127.0.0.1:1"))
    ended: list[str] = []

    def put(blob: Blob) -> None:
        if blob.key == "bad":
            raise Unavailable("broken")
        time.sleep(0.2)
        ended.append(blob.key)

    monkeypatch.setattr(sink, "put", put)
    with pytest.raises(Unavailable):
        sink.write([Blob("bad", b"", "text/plain"), *(Blob(f"slow{n}", b"", "text/plain") for n in range(60))])
    before = list(ended)
    time.sleep(0.5)
    assert ended == before
    assert len(ended) < 60
