"""Values <-> the bytes of a Kafka message. The only module that knows the wire's shape.

U+0000 and lone surrogates are replaced by U+FFFD here, where text comes in and where it goes out, since PostgreSQL
refuses them (22P05, 22P02): so the value in SQL equals the value in Kafka.
"""

import json
import re
from math import isfinite
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from sandcrawler.errors import InvalidMessage, SkippedMessage
from sandcrawler.model import IngestRequest

Model = TypeVar("Model", bound=BaseModel)

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
DEEPEST = 200
# The JSON spellings of the same; a cheap look before every string is visited.
_SUSPECT = re.compile(rb"\\u0000|\\ud[89a-f]|\x00|\xed[\xa0-\xbf]", re.IGNORECASE)


def clean_text(text: str) -> str:
    """The text with U+0000 and lone surrogates as U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def clean(value: Any) -> Any:
    """A JSON value with every string in it cleaned, keys too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def check(value: dict[str, Any] | list[Any], deepest: int = DEEPEST) -> None:
    """InvalidMessage for what a JSON parser lets through and later steps (cleaning, JSONB, the next worker) break on.

    That is lists and objects that stand too deep in each other, and numbers like 1e400, which read as infinity and
    cannot be written again. Level by level and without recursion, since the value is a stranger's.
    """
    level: list[Any] = [value]
    for _ in range(deepest):
        inner = []
        for item in level:
            for each in item.values() if type(item) is dict else item:
                kind = type(each)
                if kind is dict or kind is list:
                    inner.append(each)
                elif kind is float and not isfinite(each):
                    raise InvalidMessage("a number is larger than JSON's readers agree on (1e308)")
        if not inner:
            return
        level = inner
    raise InvalidMessage(f"lists and objects stand more than {deepest} deep in each other")


def loads(data: bytes | None, deepest: int = DEEPEST) -> dict[str, Any]:
    """A message's bytes as a JSON object. SkippedMessage for tombstones; InvalidMessage says what is wrong."""
    if data is None:
        raise SkippedMessage("tombstone")
    if not data.strip():
        raise SkippedMessage("empty")
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError:
        value = _loads_patiently(data)
    if not isinstance(value, dict):
        raise InvalidMessage(f"a JSON object is needed, this is {type(value).__name__}")
    check(value, deepest)
    return clean(value) if _suspect(data) else value


def _loads_patiently(data: bytes) -> Any:
    """What the fast parser refuses and Python reads (lone surrogates), or why it is not JSON."""
    try:
        text = data.decode("utf-8", "surrogatepass" if b"\xed" in data else "strict")
        return json.loads(text, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise InvalidMessage(f"not UTF-8: {error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidMessage(f"not JSON: {error}") from error


def _suspect(data: bytes) -> bool:
    # The two looks for single bytes cost nothing; the expression is slow and seldom needed.
    return (b"\\u" in data or b"\xed" in data) and _SUSPECT.search(data) is not None


def _no_constant(word: str) -> None:
    # Python reads NaN and Infinity; JSON has no such words, and neither has JSONB.
    raise ValueError(f"{word} is not JSON")


def decode(kind: type[Model], data: bytes | None) -> Model:
    """A message as a value of its model."""
    try:
        return kind.model_validate(loads(data))
    except ValidationError as error:
        raise InvalidMessage(f"not a valid {kind.__name__}: {reasons(error)}") from error


def decode_request(data: bytes | None) -> tuple[IngestRequest, dict[str, Any]]:
    """A request, and the same verbatim (unknown fields kept) for the result to carry, where it stands one deeper."""
    verbatim = loads(data, DEEPEST - 1)
    try:
        return IngestRequest.model_validate(verbatim), verbatim
    except ValidationError as error:
        raise InvalidMessage(f"not a valid ingest request: {reasons(error)}") from error


def encode(value: BaseModel | dict[str, Any]) -> bytes:
    """A value as UTF-8 JSON, absent fields left out."""
    plain = jsonable(value)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if UNSTORABLE.search(text) or "\\u0000" in text:
        text = json.dumps(clean(plain), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8")


def jsonable(value: BaseModel | dict[str, Any]) -> dict[str, Any]:
    """A value as a JSON object, absent fields left out; a request inside a result stays as it came."""
    if isinstance(value, dict):
        return value
    plain = value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"request"})
    request = getattr(value, "request", None)
    return plain if request is None else {**plain, "request": request}


def reasons(error: ValidationError) -> str:
    """The first five things that are wrong, on one line."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'message'}: {e['msg']}" for e in error.errors()[:5])
