from dataclasses import dataclass

from sandcrawler.sources.identifiers import includes


@dataclass(frozen=True)
class Part:
    number: str | None = None


@dataclass(frozen=True)
class Docid:
    number: str | None = None
    parts: tuple[str, ...] = ()
    base: Part | None = None


@dataclass(frozen=True)
class OtherDocid(Docid):
    pass


def test_the_same_object_is_included_whatever_it_is() -> None:
    same = object()
    assert includes(same, same)
    assert not includes(object(), object())


def test_the_classes_must_be_identical() -> None:
    assert not includes(Docid(), OtherDocid())
    assert not includes(OtherDocid(), Docid())


def test_what_is_blank_in_the_reference_matches_anything() -> None:
    assert includes(Docid(), Docid("1", ("a",), Part("2")))
    assert not includes(Docid("1"), Docid())
    assert includes(Docid(""), Docid("1"))


def test_lists_are_prefixes_and_components_match_likewise() -> None:
    assert includes(Docid(parts=("a",)), Docid(parts=("a", "b")))
    assert not includes(Docid(parts=("b",)), Docid(parts=("a", "b")))
    assert not includes(Docid(parts=("a", "b")), Docid(parts=("a",)))
    assert includes(Docid(base=Part()), Docid(base=Part("2")))
    assert not includes(Docid(base=Part("1")), Docid(base=Part("2")))


def test_text_is_equal_or_not() -> None:
    assert not includes(Docid("x"), Docid("X"))
