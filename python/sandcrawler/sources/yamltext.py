"""YAML as the published data sets have it: libyaml's layout, and quotes where Ruby's writer puts them.

A text is written plain where a reader takes it for a text anyway. Texts that look like a number, a date, a truth value
or nothing get single quotes; those that begin with a sign get double quotes (as in "(X)HTML"); texts of several lines
are literal blocks. What plain style cannot hold at all (a colon and a space) is left to libyaml.
"""

import re
from collections.abc import Iterable
from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

TEXT_TAG = "tag:yaml.org,2002:str"
NULL_TAG = "tag:yaml.org,2002:null"

# What a YAML 1.1 reader does not take for a text; as Psych's scalar scanner has it.
OTHER = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"~|null|yes|true|on|no|false|off|",
        r":.+",
        r"[-+]?(?:0|[1-9](?:[0-9]|,[0-9]|_[0-9])*)",
        r"[-+]?0[0-7_,]+|[-+]?0x[0-9a-f_,]+|[-+]?0b[01_,]+",
        r"[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:e[-+][0-9]+)?",
        r"[-+]?\.inf|\.nan",
        r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9]){1,2}(?:\.[0-9_]*)?",
        r"[0-9]{4}-(?:1[012]|0[0-9]|[0-9])-(?:[12][0-9]|3[01]|0[0-9]|[0-9])",
        r"-?[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:t|\s+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?\s*(?:z|[-+][0-9]{1,2}:?(?:[0-9]{2})?)?",
        r"0[0-7]*\.[0-9].*",
    )
)
SIGN_FIRST = re.compile(r'^\W[^"\n]*$', re.MULTILINE)
SIMPLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+-]*")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
ESCAPED = re.compile(rf'["\\]|{CONTROL.pattern}')
SINGLE_LETTERS = frozenset("yYnN")


class _Dumper(DUMPER):  # type: ignore[misc]  # (which class it is depends on the platform)
    # Every scalar is a text for libyaml; `_style` alone decides on quotes.
    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012  (the library's own attribute)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (the same list twice is written twice)
        return True


def _style(text: str) -> str | None:
    if re.search(r"\n(?!\Z)", text):
        return "|"
    if text in SINGLE_LETTERS or SIGN_FIRST.search(text):
        return '"'
    return "'" if any(pattern.fullmatch(text) for pattern in OTHER) else None


def _text(dumper: Any, text: str) -> yaml.ScalarNode:
    node: yaml.ScalarNode = dumper.represent_scalar(TEXT_TAG, text, style=_style(text))
    return node


def _plain(dumper: Any, value: object) -> yaml.ScalarNode:
    written = "" if value is None else str(value).lower()
    node: yaml.ScalarNode = dumper.represent_scalar(TEXT_TAG, written)
    return node


_Dumper.add_representer(str, _text)
for _kind in (bool, int, type(None)):
    _Dumper.add_representer(_kind, _plain)


def dump(value: Any) -> str:
    """A value of maps, lists, texts and truth values as one YAML document, keys in the order that they have."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, explicit_start=True, sort_keys=False)
    return text


def scalar(text: str) -> str:
    """One text as it stands in a document."""
    if SIMPLE.fullmatch(text) and _style(text) is None:
        return text
    if CONTROL.search(text):
        return f'"{ESCAPED.sub(_escape, text)}"'  # on one line, whatever is in it
    return dump({"k": text}).removeprefix("---\nk: ").removesuffix("\n")


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def is_text(written: str) -> bool:
    """Whether a reader takes a scalar, in single quotes or plain and simple, for a text."""
    return written.startswith("'") or (SIMPLE.fullmatch(written) is not None and _style(written) is None)


def load(text: str | bytes) -> Any:
    """The value of a YAML document. Dates stay texts. ValueError where it is none, or where nodes are named again.

    Nodes named again (`&a`, `*a`) are refused since a few lines of them write out to gigabytes, or never end.
    """
    try:
        if _may_alias(text) and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader)):
            raise ValueError("YAML with aliases is not read")
        return yaml.load(text, _Loader)  # noqa: S506  (derived from the safe loader)
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {error}") from error


def _may_alias(text: str | bytes) -> bool:
    return (b"&" in text and b"*" in text) if isinstance(text, bytes) else ("&" in text and "*" in text)


class _Loader(LOADER):  # type: ignore[misc]
    pass


def _without(resolvers: dict[str, list[Any]], tags: Iterable[str]) -> dict[str, list[Any]]:
    return {first: [pair for pair in pairs if pair[0] not in tags] for first, pairs in resolvers.items()}


_Loader.yaml_implicit_resolvers = _without(LOADER.yaml_implicit_resolvers, {"tag:yaml.org,2002:timestamp"})
