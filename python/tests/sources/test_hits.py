import threading

import pytest

from sandcrawler.sources.hits import Hit, Hits, listed, parallel


def hits(*names: str) -> Hits[str]:
    return Hits("REF", [Hit(name, lambda name=name: name.upper()) for name in names])  # type: ignore[misc]


def test_work_is_done_in_parallel_and_every_result_is_there() -> None:
    assert sorted(parallel(lambda n: 2 * n, range(1, 6))) == [2, 4, 6, 8, 10]
    assert parallel(lambda _: None, [1], workers=0) == [None]


def test_an_exception_is_raised_again() -> None:
    def work(number: int) -> int:
        if number == 3:
            raise LookupError("three")
        return number

    with pytest.raises(LookupError, match="three"):
        parallel(work, range(5))


def test_an_item_is_fetched_when_it_is_asked_for_and_once() -> None:
    calls = []
    hit = Hit("a", lambda: calls.append(1) or "item")  # type: ignore[func-returns-value]
    assert not hit.fetched
    assert [hit.item(), hit.item()] == ["item", "item"]
    assert hit.fetched
    assert calls == [1]


def test_fetch_gets_every_item_with_several_threads() -> None:
    together = threading.Barrier(4, timeout=60)

    def load() -> int:
        return together.wait()

    found = Hits("REF", [Hit(str(n), load) for n in range(4)])
    assert found.fetch() is found
    assert found.fetched
    assert sorted(hit.item() for hit in found) == [0, 1, 2, 3]


def test_selected_hits_are_others_and_kept_ones_the_same() -> None:
    found = hits("a", "b", "c").fetch()
    chosen = found.selected(lambda hit: hit.docidentifier != "b")
    assert [hit.docidentifier for hit in chosen] == ["a", "c"]
    assert chosen.fetched
    assert len(found) == 3
    assert chosen[0] is not found[0]
    assert found.keep(lambda hit: hit.docidentifier == "b") is found
    assert [hit.docidentifier for hit in found] == ["b"]
    assert found.reduce(lambda _: []) is found
    assert len(found) == 0


def test_xml_of_all_items() -> None:
    assert hits().to_xml(str) == "<documents/>"
    assert hits("a", "b").to_xml(lambda item: f"<i>{item}</i>") == "<documents><i>A</i><i>B</i></documents>"


@pytest.mark.parametrize(("value", "expected"), [([1], [1]), (None, []), (1, [1]), ("", [""])])
def test_listed(value: object, expected: list[object]) -> None:
    assert listed(value) == expected
