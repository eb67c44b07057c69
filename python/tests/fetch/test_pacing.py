"""Pacer and Governor: every asserted example of the crawl primitives they re-create, and Retry-After (H50)."""

import threading
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from sandcrawler.fetch.governor import Governor, retry_after
from sandcrawler.fetch.pacing import Pacer


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pacer(clock: Clock, gap: float = 1, mode: str = "slot") -> Pacer:
    return Pacer(gap, mode, clock, clock.sleep)


def governor(clock: Clock, **more: Any) -> Governor:
    return Governor(clock=clock, sleeper=clock.sleep, jitter=lambda _: 0.0, environ={}, **more)


def test_a_gap_between_starts(clock: Clock) -> None:
    paced = pacer(clock)
    assert [paced.wait() for _ in range(3)] == [0.0, 1.0, 1.0]
    assert clock.sleeps == [1.0, 1.0]
    assert clock.now == 2.0


@pytest.mark.parametrize(("latency", "waited"), [(1.5, 0.0), (0.4, 0.6)])
def test_time_spent_counts(clock: Clock, latency: float, waited: float) -> None:
    paced = pacer(clock)
    paced.wait()
    clock.now += latency
    assert paced.wait() == pytest.approx(waited)


def test_idle_time_banks_nothing(clock: Clock) -> None:
    paced = pacer(clock)
    paced.wait()
    clock.now += 60
    assert [paced.wait(), paced.wait()] == [0.0, 1.0]


def test_without_a_gap_nobody_sleeps(clock: Clock) -> None:
    paced = pacer(clock, 0)
    assert [paced.wait() for _ in range(5)] == [0.0] * 5
    assert (paced.requests, clock.sleeps) == (5, [])


def test_a_negative_gap_is_none(clock: Clock) -> None:
    assert pacer(clock, -5).gap == 0.0
    assert Pacer("2").gap == 2.0  # type: ignore[arg-type]


def test_eight_threads_on_a_frozen_clock() -> None:
    slept: list[float] = []
    paced = Pacer(1, clock=lambda: 0.0, sleeper=slept.append)
    threads = [threading.Thread(target=paced.wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(slept) == [1, 2, 3, 4, 5, 6, 7]


def test_counters(clock: Clock) -> None:
    paced = pacer(clock)
    paced.wait()
    clock.now = 0.25
    paced.wait()
    assert (paced.requests, paced.slept) == (2, 0.75)
    paced.reset()
    assert (paced.requests, paced.slept, paced.wait()) == (0, 0.0, 0.0)


def test_a_new_gap_holds_for_later_reservations(clock: Clock) -> None:
    paced = pacer(clock)
    paced.wait()
    paced.gap = 5
    assert [paced.wait(), paced.wait()] == [1.0, 5.0]


def test_the_lock_is_not_held_while_sleeping() -> None:
    parked, go = threading.Event(), threading.Event()

    def sleeper(_: float) -> None:
        parked.set()
        assert go.wait(5)

    paced = Pacer(1, clock=lambda: 0.0, sleeper=sleeper)
    paced.wait()
    thread = threading.Thread(target=paced.wait)
    thread.start()
    assert parked.wait(5)
    assert paced.reserve() == 2.0  # while the other is asleep
    go.set()
    thread.join()


def test_fixed_mode_sleeps_the_whole_gap(clock: Clock) -> None:
    paced = pacer(clock, 1, "fixed")
    assert paced.wait() == 1.0
    clock.now += 10
    assert paced.wait() == 1.0
    assert pacer(clock, 0, "fixed").wait() == 0.0
    assert pacer(clock, 1, "anything else").wait() == 0.0


def test_a_slot_that_comes_too_late_is_not_taken(clock: Clock) -> None:
    paced = pacer(clock, 10)
    assert paced.reserve(within=1) == 0.0
    assert paced.reserve(within=1) is None
    assert paced.requests == 1
    assert paced.reserve(within=10) == 10.0


def test_the_gap_counts_from_a_late_start(clock: Clock) -> None:
    paced = pacer(clock, 1)
    paced.wait()
    assert paced.reserve() == 1.0
    clock.now += 1.4  # woken late
    paced.started()
    assert paced.wait() == 1.0


def test_nothing_throttled_no_wait(clock: Clock) -> None:
    assert governor(clock).wait() == 0.0
    assert clock.sleeps == []


def test_one_refusal_is_one_cooldown(clock: Clock) -> None:
    governed = governor(clock)
    governed.throttled()
    assert [governed.wait(), governed.wait()] == [60, 0.0]


def test_who_comes_late_waits_for_the_rest(clock: Clock) -> None:
    governed = governor(clock)
    governed.throttled()
    clock.now += 20
    assert governed.wait() == 40


def test_jitter(clock: Clock) -> None:
    governed = Governor(clock=clock, sleeper=clock.sleep, jitter=lambda s: s * 0.1, environ={})
    governed.throttled()
    assert governed.wait() == pytest.approx(66)
    usual = Governor(clock=lambda: 0.0, sleeper=lambda _: None, environ={})
    usual.throttled()
    assert all(60 <= next(usual.pauses()) <= 66 for _ in range(50))


def test_rounds_escalate(clock: Clock) -> None:
    governed = governor(clock, give_up_after=100)
    waits = []
    for _ in range(6):
        governed.throttled()
        waits.append(governed.wait())
    assert waits == [60, 120, 240, 480, 900, 900]


def test_refusals_within_a_cooldown_are_one_round(clock: Clock) -> None:
    governed = governor(clock)
    for _ in range(4):
        governed.throttled()
    assert governed.wait() == 60
    assert (governed.throttle_rounds, governed.throttle_count) == (1, 4)


def test_five_barren_rounds_give_up(clock: Clock) -> None:
    governed = governor(clock)
    answers = []
    for _ in range(5):
        answers.append(governed.throttled())
        clock.now += 1000
    assert answers == [False, False, False, False, True]
    assert governed.give_up_rounds == 5
    governed.succeeded()
    assert governed.exhausted
    assert (governed.throttle_rounds, governed.give_up_rounds) == (0, 5)
    governed.throttled()
    assert (governed.wait(), clock.sleeps) == (0.0, [])


@pytest.mark.parametrize(("hint", "waited"), [(300, 300), (5, 60), (86400, 900), (None, 60), (3e9, 900)])
def test_retry_after_is_a_floor_under_a_cap(clock: Clock, hint: float | None, waited: float) -> None:
    governed = governor(clock)
    governed.throttled(hint)
    assert governed.wait() == waited


def test_retry_after_within_a_round_extends_it(clock: Clock) -> None:
    governed = governor(clock)
    governed.throttled()
    governed.throttled(300)
    assert governed.throttle_rounds == 1
    assert governed.wait() == 300


def test_a_sleeper_sleeps_again_when_the_cooldown_grew(clock: Clock) -> None:
    refused: list[float] = []

    def sleeper(seconds: float) -> None:
        clock.sleep(seconds)
        if not refused:  # a 429 lands just before this sleep is over
            refused.append(1)
            clock.now -= 1e-9
            governed.throttled(300)
            clock.now += 1e-9

    governed = Governor(clock=clock, sleeper=sleeper, jitter=lambda _: 0.0, environ={})
    governed.throttled()
    assert governed.wait() == pytest.approx(360)


def test_success_halves_the_penalty(clock: Clock) -> None:
    governed = governor(clock)
    for _ in range(3):
        governed.throttled()
        governed.wait()
    governed.succeeded()
    governed.throttled()
    assert governed.wait() == 240


def test_limits(clock: Clock) -> None:
    governed = governor(clock, base=10, maximum=25)
    waits = []
    for _ in range(3):
        governed.throttled()
        waits.append(governed.wait())
    assert waits == [10, 20, 25]
    early = governor(clock, base=5, give_up_after=2)
    early.throttled()
    assert early.wait() == 5
    assert early.throttled()
    assert early.throttle_rounds == 2


def test_limits_from_the_environment(clock: Clock) -> None:
    class Flavour(Governor):
        ENV_PREFIX = "RELATON_W3C"
        BASE_COOLDOWN = 7

    environ = {"RELATON_W3C_THROTTLE_BASE": " 11 ", "OTHER_THROTTLE_BASE": "1", "RELATON_W3C_THROTTLE_MAX": "0"}
    governed = Flavour(clock=clock, sleeper=clock.sleep, jitter=lambda _: 0.0, environ=environ)
    governed.throttled(5000)
    assert governed.wait() == 900
    environ["RELATON_W3C_THROTTLE_BASE"] = "junk"
    governed.reset()
    assert governed.throttle_count == 0
    governed.throttled()
    assert governed.wait() == 7


@pytest.mark.parametrize("text", ["", "  ", "0", "-5", "junk", "1.5"])
def test_a_variable_that_says_nothing_is_passed_over(clock: Clock, text: str) -> None:
    environ = {f"SANDCRAWLER_THROTTLE_{name}": text for name in ("BASE", "MAX", "GIVEUP")}
    governed = Governor(clock=clock, sleeper=clock.sleep, jitter=lambda _: 0.0, environ=environ)
    assert [governed.throttled(10_000), governed.wait()] == [False, 900]
    governed.reset()
    governed.throttled()
    assert governed.wait() == 60


def test_arguments_win_over_the_environment_also_after_reset(clock: Clock) -> None:
    environ = {"SANDCRAWLER_THROTTLE_BASE": "7", "SANDCRAWLER_THROTTLE_GIVEUP": "1"}
    governed = Governor(5, give_up_after=2, clock=clock, sleeper=clock.sleep, jitter=lambda _: 0.0, environ=environ)
    for _ in range(2):
        assert [governed.throttled(), governed.wait()] == [False, 5]
        governed.reset()


def test_the_constants_and_that_every_one_can_be_overridden(clock: Clock) -> None:
    assert (Governor.BASE_COOLDOWN, Governor.MAX_COOLDOWN, Governor.GIVE_UP_AFTER) == (60, 900, 5)
    assert (0.1, frozenset()) == (Governor.JITTER_FRACTION, Governor.THROTTLE_ERRORS)

    class Flavour(Governor):
        BASE_COOLDOWN, MAX_COOLDOWN, GIVE_UP_AFTER, JITTER_FRACTION, ENV_PREFIX = 3, 4, 2, 0, "RELATON"

    governed = Flavour(clock=clock, sleeper=clock.sleep, environ={"SANDCRAWLER_THROTTLE_BASE": "9"})
    assert [governed.throttled(), governed.wait()] == [False, 3]
    assert [governed.throttled(99), governed._until] == [True, clock.now + 4]
    other = Flavour(clock=clock, sleeper=clock.sleep, environ={"RELATON_THROTTLE_BASE": "2"})
    other.throttled()
    assert other.wait() == 2


def test_what_counts_as_a_refusal() -> None:
    class Flavour(Governor):
        THROTTLE_ERRORS = frozenset({429, 403, ConnectionError})

    assert Flavour.throttles(403)
    assert Flavour.throttles(ConnectionResetError())
    assert not Flavour.throttles(500)
    assert not Flavour.throttles(ValueError())
    assert not Governor.throttles(429)


def test_eight_threads_count_right() -> None:
    governed = Governor(1, 1, 10**6, clock=lambda: 0.0, sleeper=lambda _: None, environ={})

    def work() -> None:
        for _ in range(50):
            governed.throttled()
            governed.wait()
            governed.succeeded()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert governed.throttle_count == 400


NOW = datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3),
        (" 120 ", 120),
        ("0", 0),
        ("315360000", 315360000),
        ("9" * 400, 1e18),
        ("Sun, 01 Mar 2026 12:01:00 GMT", 60),
        ("Sunday, 01-Mar-26 12:01:00 GMT", 60),
        ("Sun Mar  1 12:01:00 2026", 60),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("1e9", None),
        ("٣", None),
        ("Sun, 99 Mar 2026 99:01:00 GMT", None),
    ],
)
def test_h50_retry_after(value: str | None, seconds: float | None) -> None:
    found = retry_after(value, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_slots_are_ordered(clock: Clock) -> None:
    paced = pacer(clock, 0.5)
    delays = [paced.reserve() or 0.0 for _ in range(20)]
    assert all(later - earlier == pytest.approx(0.5) for earlier, later in pairwise(delays))
