"""URL → SURT, the sort-friendly key of capture indexes (the wayback key): `org,example,journal)/a?a=1&b=2`.

Same rules as the archive world's (lower case, no scheme, `www` and default port, sorted query, escapes normalised,
session numbers removed), without three faults of the usual library: `www504.com` is a host name and not a `www`, an
escaped `&` in a query is no separator, and nothing is looked up in the DNS. Pure, and defined for every string.
"""

import re
from ipaddress import IPv6Address
from urllib.parse import quote_from_bytes, unquote_to_bytes

import ada_url

_PORTS = {b"http": b"80", b"https": b"443"}
_SCHEME = re.compile(rb"([a-zA-Z][a-zA-Z0-9+.-]*):")
_REPEATED = re.compile(rb"^(https?://)+", re.IGNORECASE)
_PARTS = re.compile(rb"(?:([^:/?#]+):)?(?://+([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_WWW = re.compile(rb"www\d*\.(?=[^.]+\.)")
_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_SAFE_IN_QUERY = _SAFE.replace("&", "")
# Microsoft's session numbers in paths, between two slashes before an .aspx page.
_PATH_SESSION = re.compile(rb"/\((?:[a-z]\([0-9a-z]{24}\)|[0-9a-z]{24})+\)(?=/[^?]+\.aspx)", re.IGNORECASE)
_QUERY_SESSION = re.compile(rb"(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}", re.IGNORECASE)
_COLD_FUSION = (b"cfid=", b"cftoken=")


def surt(url: str) -> str:
    """The key of a URL; "-" for an empty one."""
    data = re.sub(rb"[\t\r\n]", b"", url.strip().encode("utf-8", "replace"))
    if not data:
        return "-"
    if not _SCHEME.match(data) or re.match(rb"[^/]*:\d+(/|$)", data):
        data = b"http://" + data
    scheme, authority, path, query = (part or b"" for part in _PARTS.match(_REPEATED.sub(rb"\1", data)).groups())  # type: ignore[union-attr]
    key = _host(authority.rpartition(b"@")[2], scheme.lower()) + _path(path) + _query(query)
    return key.decode("utf-8", "replace")


def _host(authority: bytes, scheme: bytes) -> bytes:
    host, mark, port = authority.rpartition(b":") if re.search(rb":\d*$", authority) else (authority, b"", b"")
    name = _canonical(_unescaped(host))
    if not name:
        return b""
    if not re.fullmatch(rb"[\d.]+|\[.*", name):
        name = _WWW.sub(b"", name, count=1) if _WWW.match(name) else name
    labels = b",".join(reversed(name.split(b".")))
    return labels + (mark + port if port and port != _PORTS.get(scheme) else b"") + b")"


def _canonical(host: bytes) -> bytes:
    """The host as browsers spell it; what they refuse is kept, in lower case."""
    name = re.sub(rb"\.+", b".", host).strip(b".")
    try:
        spelled = ada_url.URL(f"http://{name.decode()}/").hostname
        return (
            str(IPv6Address(spelled.strip("[]"))).join("[]").encode() if spelled.startswith("[") else spelled.encode()
        )
    except (ValueError, UnicodeError):
        return quote_from_bytes(name.lower(), safe=_SAFE).encode()


def _path(path: bytes) -> bytes:
    kept: list[bytes] = []
    for part in _unescaped(path).split(b"/"):
        if part == b"..":
            kept = kept[:-1]
        elif part not in (b"", b"."):
            kept.append(part)
    whole = quote_from_bytes(b"/" + b"/".join(kept), safe=_SAFE).encode().lower()
    return _PATH_SESSION.sub(b"", whole)


def _query(query: bytes) -> bytes:
    fields = [_field(field) for field in query.split(b"&")]
    kept: list[bytes] = [field for field in fields if not _QUERY_SESSION.fullmatch(field)]
    if all(any(field.startswith(name) for field in kept) for name in _COLD_FUSION):
        kept = [field for field in kept if not field.startswith(_COLD_FUSION)]
    kept.sort(key=_name_and_value)
    ordered = b"&".join(kept)
    return b"?" + ordered if ordered else b""


def _field(field: bytes) -> bytes:
    """One parameter, escapes undone and made again; a `&` within it stays escaped."""
    return quote_from_bytes(_unescaped(field), safe=_SAFE_IN_QUERY).encode().lower()


def _name_and_value(field: bytes) -> tuple[bytes, ...]:
    return tuple(field.split(b"=", 1))


def _unescaped(data: bytes) -> bytes:
    """Escapes undone until there are none: crawls meet %2525."""
    for _ in range(16):
        undone = unquote_to_bytes(data)
        if undone == data:
            break
        data = undone
    return data
