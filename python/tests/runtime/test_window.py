"""No commit passes an unfinished record, whatever finishes when."""

from hypothesis import given
from hypothesis import strategies as st

from sandcrawler.runtime.records import Record
from sandcrawler.runtime.window import Window


def record(offset: int, partition: int = 0, value: bytes | None = b"x") -> Record:
    return Record("t", partition, offset, None, value)


def test_offsets_are_ready_in_order() -> None:
    window = Window()
    a, b, c = (window.take(record(offset)) for offset in (10, 11, 15))
    window.finish([b])
    assert window.ready == {}
    window.finish([a])
    assert window.ready == {("t", 0): 12}
    window.finish([c])
    assert window.ready == {("t", 0): 16}
    assert (window.in_flight, window.waiting, window.bytes) == (0, 0, 0)


def test_what_became_ready_during_a_commit_stays_ready() -> None:
    window = Window()
    a, b = window.take(record(0)), window.take(record(1))
    window.finish([a])
    offsets = dict(window.ready)
    window.finish([b])
    window.committed(offsets)
    assert window.ready == {("t", 0): 2}
    window.committed({("t", 0): 2})
    assert window.ready == {}


def test_forgotten_slots_finish_into_the_void() -> None:
    window = Window()
    old, other = window.take(record(5)), window.take(record(7, partition=1))
    window.forget({("t", 0)})
    again = window.take(record(5))
    window.finish([old])
    assert window.ready == {}
    assert window.unfinished({("t", 0)}) == 1
    window.finish([again, other])
    assert window.ready == {("t", 0): 6, ("t", 1): 8}
    assert (window.in_flight, window.waiting, window.bytes) == (0, 0, 0)


@given(st.data())
def test_ready_is_the_first_unfinished_record_of_each_partition(data: st.DataObject) -> None:
    window = Window()
    partitions = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=40))
    slots = []
    for offset, partition in enumerate(partitions):
        slots.append(window.take(record(offset * 3, partition, data.draw(st.sampled_from([None, b"", b"xyz"])))))
    order = data.draw(st.permutations(slots))
    for done, slot in enumerate(order, start=1):
        window.finish([slot])
        unfinished = [s for s in slots if s not in order[:done]]
        for partition in (0, 1, 2):
            ready = window.ready.get(("t", partition), -1)
            assert all(s.record.offset >= ready for s in unfinished if s.record.partition == partition)
        assert window.in_flight == len(unfinished)
    for partition in set(partitions):
        last = max(slot.record.offset for slot in slots if slot.record.partition == partition)
        assert window.ready[("t", partition)] == last + 1
    assert (window.waiting, window.bytes) == (0, 0)


def test_a_line_that_was_cut_is_ready_up_to_the_cut() -> None:
    window = Window()
    a, b, c, d = (window.take(record(offset)) for offset in range(4))
    other = window.take(record(9, partition=1))
    window.finish([d])
    assert window.behind(b) == [d, c]
    window.cut(b)
    assert [slot.forgotten for slot in (a, b, c, d, other)] == [False, True, True, True, False]
    assert window.unfinished() == 2
    window.finish([c, b, a, other])
    assert window.ready == {("t", 0): 1, ("t", 1): 10}
    assert (window.in_flight, window.waiting, window.bytes) == (0, 0, 0)
