"""Waits grow, are bounded, and end; the clock and the sleeper are the test's."""

import pytest

from sandcrawler.errors import InvalidMessage, Unavailable
from sandcrawler.runtime import Backoff
from sandcrawler.runtime.backoff import retry


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> bool:
        self.now += seconds
        self.slept.append(seconds)
        return False


def test_two_minutes_in_all_by_default_and_no_wait_over_twenty_seconds() -> None:
    clock = Clock()
    for wait in Backoff().waits(clock):
        clock.sleep(wait)
    assert sum(clock.slept) == pytest.approx(120)
    assert 0.25 <= clock.slept[0] <= 0.5
    assert max(clock.slept) <= 20
    assert 8 <= len(clock.slept) <= 25


def test_slow_tries_use_up_the_time_too() -> None:
    clock = Clock()
    waits = Backoff(total=60).waits(clock)
    next(waits)
    clock.now += 61
    assert next(waits, None) is None


def test_retry_gives_the_first_answer() -> None:
    clock, notes, answers = Clock(), [], [Unavailable("a"), Unavailable("b"), 7]

    def call() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert retry(call, Backoff().waits(clock), clock.sleep, notes.append) == 7
    assert [str(note) for note in notes] == ["a", "b"]
    assert len(clock.slept) == 2


def test_retry_gives_up_with_the_last_error() -> None:
    clock, tries = Clock(), 0

    def call() -> None:
        nonlocal tries
        tries += 1
        raise Unavailable(f"try {tries}")

    with pytest.raises(Unavailable, match=r"try \d+") as caught:
        retry(call, Backoff(total=10).waits(clock), clock.sleep, lambda _error: None)
    assert str(caught.value) == f"try {tries}"
    assert clock.now == pytest.approx(1010)


def test_retry_does_not_wait_when_the_worker_ends() -> None:
    tries = 0

    def call() -> None:
        nonlocal tries
        tries += 1
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        retry(call, Backoff().waits(), lambda _seconds: True, lambda _error: None)
    assert tries == 1


def test_only_unavailable_is_tried_again() -> None:
    tries = 0

    def call() -> None:
        nonlocal tries
        tries += 1
        raise InvalidMessage("no")

    with pytest.raises(InvalidMessage):
        retry(call, Backoff().waits(), lambda _seconds: False, lambda _error: None)
    assert tries == 1
