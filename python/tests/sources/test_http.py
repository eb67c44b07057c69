import socket
import ssl
import threading
from contextlib import suppress

import pytest
import trustme

from sandcrawler.fetch.pacing import Pacer
from sandcrawler.sources.failures import Failure, HttpError, failure_of
from sandcrawler.sources.http import RETRIES, STRANGER, Client, user_agent
from tests.sources.w3c.server import Fault, Server, serving
from tests.sources.w3c.world import Clock


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    with serving({"/a": {"a": 1}, "/text": b"words"}) as running:
        yield running


def client(clock: Clock) -> Client:
    return Client("tests/1", sleeper=clock.sleep)


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (400, Failure.BAD_REQUEST),
        (401, Failure.UNAUTHORIZED),
        (403, Failure.FORBIDDEN),
        (404, Failure.NOT_FOUND),
        (429, Failure.TOO_MANY),
        (500, Failure.SERVER),
        (503, Failure.SERVER),
        (418, Failure.OTHER),
        (304, Failure.OTHER),
    ],
)
def test_statuses(status: int, failure: Failure) -> None:
    assert failure_of(status) is failure


@pytest.mark.parametrize(
    ("status", "pauses"), [(403, [1, 2, 4, 8, 16]), (429, [0.5, 1, 2, 4, 4]), (500, [0.5, 1, 2, 4, 4]), (404, [])]
)
def test_pauses_between_tries(server: Server, status: int, pauses: list[float]) -> None:
    server.fail("/a", *[Fault(status)] * 9)
    clock = Clock()
    with pytest.raises(HttpError) as caught:
        client(clock).get(server.base + "/a")
    assert clock.slept == pauses
    assert caught.value.status == status
    assert server.count("/a") == 1 + len(pauses)


def test_it_ends_with_the_first_answer(server: Server) -> None:
    server.fail("/a", Fault(503), Fault(403), Fault(429))
    clock = Clock()
    asking = client(clock)
    assert asking.get(server.base + "/a").json() == {"a": 1}
    assert asking.requests == 4


@pytest.mark.parametrize(("hint", "pauses"), [("7", [7.0]), ("60", [60.0]), ("61", []), ("300", [])])
def test_a_403_is_waited_for_up_to_a_minute(server: Server, hint: str, pauses: list[float]) -> None:
    server.fail("/a", Fault(403, {"Retry-After": hint}))
    clock = Clock()
    if pauses:
        client(clock).get(server.base + "/a")
    else:
        with pytest.raises(HttpError) as caught:
            client(clock).get(server.base + "/a")
        assert caught.value.retry_after == float(hint)
    assert clock.slept == pauses


def test_a_429_is_waited_for_a_few_seconds_only(server: Server) -> None:
    server.fail("/a", Fault(429, {"Retry-After": "300"}), Fault(429, {"Retry-After": "2"}))
    clock = Clock()
    client(clock).get(server.base + "/a")
    assert clock.slept == [4.0, 2.0]


def test_a_cut_connection_is_tried_again(server: Server) -> None:
    server.fail("/a", Fault(0), Fault(0))
    clock = Clock()
    assert client(clock).get(server.base + "/a").json() == {"a": 1}
    assert clock.slept == [1, 2]


def test_nobody_there() -> None:
    clock = Clock()
    with pytest.raises(HttpError) as caught:
        client(clock).get("http://127.0.0.1:9/")
    assert caught.value.failure is Failure.CONNECTION
    assert caught.value.status is None
    assert clock.slept == [1, 2, 4, 8, 16]


def test_a_server_that_never_answered_is_given_up_sooner(server: Server) -> None:
    clock = Clock()
    asking = Client("tests", sleeper=clock.sleep, stranger=STRANGER)
    with pytest.raises(HttpError):
        asking.get("http://127.0.0.1:9/")
    assert clock.slept == [1, 2]
    server.fail("/a", *[Fault(0)] * 4)
    assert asking.get(server.base + "/text").body == b"words"
    assert asking.get(server.base + "/a").json() == {"a": 1}
    assert clock.slept[2:] == [1, 2, 4, 8], "one that has answered is waited for"


def test_a_certificate_that_is_not_trusted_is_not_asked_again() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with suppress(OSError):
                context.wrap_socket(listening.accept()[0], server_side=True)

        threading.Thread(target=answer, daemon=True).start()
        clock = Clock()
        with pytest.raises(HttpError, match="certificate") as caught:
            client(clock).get(f"https://127.0.0.1:{listening.getsockname()[1]}/")
    assert (caught.value.failure, clock.slept) == (Failure.NOWHERE, [])


def test_redirects_are_followed_and_not_for_ever(server: Server) -> None:
    server.fail("/a", Fault(302, {"Location": "/text"}))
    assert client(Clock()).get(server.base + "/a").body == b"words"
    server.always[("/a", ())] = Fault(302, {"Location": "/a"})
    clock = Clock()
    with pytest.raises(HttpError, match="redirects") as caught:
        client(clock).get(server.base + "/a")
    assert (caught.value.failure, clock.slept) == (Failure.NOWHERE, [])


def test_what_is_no_json_says_so(server: Server) -> None:
    with pytest.raises(HttpError, match="not JSON") as caught:
        client(Clock()).get(server.base + "/text").json()
    assert caught.value.failure is Failure.PARSE


def test_requests_are_paced(server: Server) -> None:
    clock = Clock()
    asking = Client("tests", Pacer(1.0, clock=clock, sleeper=clock.sleep), clock.sleep)
    for _ in range(3):
        asking.get(server.base + "/a")
    assert clock.slept == [1.0, 1.0]


def test_the_user_agent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    Client("evil\r\nX-Header: 1").get(server.base + "/a")
    assert server.agents == {"evil X-Header: 1": 1}
    assert user_agent("mine", "W3C_API_USER_AGENT") == "mine"
    monkeypatch.setenv("W3C_API_USER_AGENT", "  ")
    assert user_agent("mine", "W3C_API_USER_AGENT") == "mine"
    monkeypatch.setenv("W3C_API_USER_AGENT", "theirs\r\n/2")
    assert user_agent("mine", "W3C_API_USER_AGENT") == "theirs /2"


def test_what_is_not_worth_trying_again() -> None:
    assert set(RETRIES) == {
        Failure.FORBIDDEN,
        Failure.CONNECTION,
        Failure.TIMEOUT,
        Failure.TOO_MANY,
        Failure.SERVER,
    }
