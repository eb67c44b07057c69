"""What came before, in bounded memory."""

from array import array


class Seen:
    """Which keys came before, as 8 bytes each in an open table: 16 to 32 bytes a key, however long the keys are.

    Exact up to `limit` keys (but for two keys of one hash: odds of 1 in 100,000 among 16 million). After that the
    oldest are forgotten, `limit` at a time, so memory is bounded: two tables of 16 bytes × limit. A duplicate that
    slips through does no harm: every effect of a request is idempotent.
    """

    SMALLEST = 1 << 12

    def __init__(self, limit: int = 1 << 24) -> None:
        self._limit = limit
        self._old: array[int] | None = None
        self._new = array("Q", bytes(8 * self.SMALLEST))
        self._count = 0

    def add(self, *key: str) -> bool:
        """Remember a key: whether it is new."""
        digest = hash(key) & 0xFFFFFFFFFFFFFFFF or 1
        table = self._new
        mask = len(table) - 1
        place = digest & mask
        while held := table[place]:  # as _place does: a call less for every request of every dump
            if held == digest:
                return False
            place = (place + 1) & mask
        if self._old is not None and self._old[_place(self._old, digest)]:
            return False
        table[place] = digest
        self._count += 1
        if self._count >= self._limit:
            self._old, self._new, self._count = self._new, array("Q", bytes(8 * self.SMALLEST)), 0
        elif 2 * self._count > len(self._new):
            self._new = _doubled(self._new)
        return True


def _place(table: "array[int]", digest: int) -> int:
    """Where a digest is, or the free place where it belongs."""
    mask = len(table) - 1
    place = digest & mask
    while (held := table[place]) and held != digest:
        place = (place + 1) & mask
    return place


def _doubled(table: "array[int]") -> "array[int]":
    larger = array("Q", bytes(16 * len(table)))
    for digest in table:
        if digest:
            larger[_place(larger, digest)] = digest
    return larger
