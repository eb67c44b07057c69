from typing import Any

import pytest

from sandcrawler.sources.failures import Failure, HttpError
from sandcrawler.sources.http import Client
from sandcrawler.sources.w3c.api import Api, embedded, href_of, links
from sandcrawler.sources.w3c.realize import Realizer
from sandcrawler.sources.w3c.settings import API, W3cGovernor
from tests.sources.w3c.server import Fault, Server, serving
from tests.sources.w3c.world import Clock, world

HREF = f"{API}/users/ada"


class Governor(W3cGovernor):
    """Counts what it is told."""

    def __init__(self, **limits: Any) -> None:
        self.clock = Clock()
        super().__init__(**limits, clock=self.clock, sleeper=self.clock.sleep, jitter=lambda _: 0.0, environ={})

    def reset(self) -> None:
        super().reset()
        self.hints: list[float | None] = []
        self.waits = self.successes = 0

    def wait(self) -> float:
        self.waits += 1
        return super().wait()

    def throttled(self, retry_after: float | None = None) -> bool:
        self.hints.append(retry_after)
        return super().throttled(retry_after)

    def succeeded(self) -> None:
        self.successes += 1
        super().succeeded()


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    with serving(world()) as running:
        yield running


def realizer(server: Server, **limits: Any) -> Any:
    """A realizer without the client's own retries."""
    return Realizer(Api(Client("tests", retries={}), server.base), Governor(**limits))


def test_a_resource_is_read_once(server: Server) -> None:
    reading = realizer(server)
    assert reading.resource(HREF)["family"] == "Fernhill"
    assert reading.resource(HREF) is reading.resource(HREF)
    assert server.count("/users/ada") == 1
    assert reading.api.saved == 2
    assert reading.governor.waits == 3
    assert reading.governor.successes == 3


def test_what_the_page_brings_along_needs_no_request_and_is_no_success(server: Server) -> None:
    reading = realizer(server)
    page = reading.api.index_page(1)
    href = links(page, "specifications")[0]["href"]
    server.asked.clear()
    resource = reading.resource(href, page)
    assert href_of(resource) == href
    assert server.asked == []
    assert reading.governor.successes == 0
    assert reading.governor.waits == 1
    assert reading.resource(href) is resource


def test_a_page_that_does_not_bring_it_costs_a_request_and_is_no_success_either(server: Server) -> None:
    reading = realizer(server)
    assert reading.resource(HREF, {"_links": {}}) is not None
    assert server.count("/users/ada") == 1
    assert reading.governor.successes == 0


@pytest.mark.parametrize("status", [429, 403])
def test_refused_and_then_answered(server: Server, status: int) -> None:
    server.fail("/users/ada", Fault(status))
    reading = realizer(server)
    assert reading.resource(HREF) is not None
    assert server.count("/users/ada") == 2
    assert reading.governor.throttle_count == 1
    assert reading.governor.clock.slept == [60]
    assert reading.throttled == set()


def test_the_servers_hint_reaches_the_governor(server: Server) -> None:
    server.fail("/users/ada", Fault(429, {"Retry-After": "300"}))
    reading = realizer(server)
    reading.resource(HREF)
    assert reading.governor.hints == [300]
    assert reading.governor.clock.slept == [300]


def test_three_refusals_and_it_is_throttled_but_never_skipped(server: Server) -> None:
    server.fail("/users/ada", *[Fault(429)] * 3)
    reading = realizer(server)
    assert reading.resource(HREF) is None
    assert server.count("/users/ada") == 3
    assert reading.throttled == {HREF}
    assert reading.skipped == set()
    # The next who needs it asks again, and then it is no longer lost.
    assert reading.resource(HREF) is not None
    assert reading.throttled == set()


def test_when_the_governor_gives_up_there_is_no_other_try(server: Server) -> None:
    server.fail("/users/ada", *[Fault(429)] * 3)
    reading = realizer(server, give_up_after=1)
    assert reading.resource(HREF) is None
    assert server.count("/users/ada") == 1
    assert reading.throttled == {HREF}
    assert reading.resource(f"{API}/users/bo") is None
    assert reading.page(f"{API}/specifications/tide-0/versions") is None
    assert server.asked == ["/users/ada"]


def test_what_is_gone_is_not_asked_for_again(server: Server) -> None:
    reading = realizer(server)
    href = f"{API}/users/gone"
    assert reading.resource(href) is None
    assert reading.resource(href) is None
    assert server.count("/users/gone") == 1
    assert reading.skipped == {href}
    assert reading.throttled == set()


@pytest.mark.parametrize("status", [500, 503, 400, 401, 418])
def test_what_is_broken_is_skipped_after_one_try(server: Server, status: int) -> None:
    server.fail("/users/ada", Fault(status))
    reading = realizer(server)
    assert reading.resource(HREF) is None
    assert reading.resource(HREF) is None
    assert server.count("/users/ada") == 1
    assert reading.skipped == {HREF}


def test_a_cut_connection_is_remembered_nowhere(server: Server) -> None:
    server.fail("/users/ada", Fault(0))
    reading = realizer(server)
    assert reading.resource(HREF) is None
    assert (reading.skipped, reading.throttled) == (set(), set())
    assert reading.resource(HREF) is not None
    assert server.count("/users/ada") == 2


def test_after_stop_nothing_is_asked(server: Server) -> None:
    stopped = False
    reading = Realizer(Api(Client("tests"), server.base), Governor(), lambda: stopped)
    stopped = True
    assert reading.resource(HREF) is None
    assert server.asked == []


def test_reset_forgets(server: Server) -> None:
    reading = realizer(server, give_up_after=1)
    server.fail("/users/ada", Fault(429))
    reading.resource(f"{API}/users/gone")
    reading.resource(HREF)
    reading.reset()
    assert (reading.skipped, reading.throttled) == (set(), set())
    assert reading.governor.throttle_count == 0
    assert reading.resource(HREF) is not None


def test_the_governor_of_this_source() -> None:
    assert {429, 403} == W3cGovernor.THROTTLE_ERRORS
    assert W3cGovernor.ENV_PREFIX == "RELATON_W3C"
    governor = W3cGovernor(environ={"RELATON_W3C_THROTTLE_BASE": "7", "RELATON_THROTTLE_BASE": "9"}, jitter=lambda _: 0)
    governor.throttled()
    assert 6 < governor.remaining() <= 7


@pytest.mark.parametrize(
    "href", ["https://example.org/users/ada", "https://api.w3.org.example.org/x", "file:///etc/passwd", "/users/ada"]
)
def test_links_that_lead_elsewhere_are_not_followed(server: Server, href: str) -> None:
    reading = realizer(server)
    with pytest.raises(HttpError, match="leads out of the API"):
        reading.api.read(href)
    assert reading.resource(href) is None
    assert server.asked == []


def test_the_servers_own_address_is_the_api_too(server: Server) -> None:
    assert realizer(server).api.read(f"{server.base}/users/ada")["given"] == "Ada"


def test_an_answer_that_is_no_object(server: Server) -> None:
    server.answers["/users/ada", ()] = b"[1]"
    with pytest.raises(HttpError) as caught:
        realizer(server).api.read(HREF)
    assert caught.value.failure is Failure.PARSE


def test_links_of_odd_shapes() -> None:
    assert links({"_links": {}}, "editors") == []
    assert links({"_links": {"editors": [1, {"title": "x"}, {"href": "y"}]}}, "editors") == [{"href": "y"}]
    assert href_of({"_links": {"self": [{"href": "x"}]}}) is None
    assert [href for href, _ in embedded({"_embedded": {"a": [1, {"_links": {"self": {"href": "x"}}}]}})] == ["x"]
