"""Which addresses must not be reached: a table, and one function that reads it.

A crawler fetches what strangers write, from inside somebody's network. Everything that is not the public internet is
refused: the host itself, private and shared networks, link-local (with the clouds' metadata service), multicast, and
every way to write an IPv4 address inside an IPv6 one. For IPv6 only global unicast (2000::/3) is the internet.
The operator may exempt networks; the IPv4 address inside an exempt IPv6 one is still checked by itself.
Source: the IANA special-purpose address registries (RFC 6890 and its successors).
"""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

FORBIDDEN: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by carriers (CGNAT)"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's internal service"),
        ("169.254.0.0/16", "link-local or a cloud's metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "an IPv4 address in IPv6"),
        ("::ffff:0:0:0/96", "an IPv4 address in IPv6"),
        ("::/96", "an IPv4 address in IPv6"),
        ("64:ff9b::/96", "an IPv4 address behind NAT64"),
        ("64:ff9b:1::/48", "an IPv4 address behind NAT64"),
        ("2001::/23", "Teredo or reserved"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "an IPv4 address in 6to4"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
GLOBAL_UNICAST = IPv6Network("2000::/3")
# Where an IPv6 network carries an IPv4 address: the shift that brings it to the lowest 32 bits.
EMBEDDED: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("64:ff9b:1::/48"), 0),
    (IPv6Network("2002::/16"), 80),
)
# Names that mean something within one network only (RFC 6761, 6762 with its appendix G, 8375; ICANN's .internal).
LOCAL_NAMES = (
    "localhost", "local", "home.arpa", "internal", "intranet", "private", "corp", "home", "lan",
)  # fmt: skip


def refusal(host: str, exempt: Iterable[Network] = ()) -> str | None:
    """Why this address (its text, as the socket gets it) must not be reached; None where it may."""
    address = ip_address(host.partition("%")[0])
    exempt = tuple(exempt)
    for found in (address, *_embedded(address)):
        reason = _reason(found)
        if reason and not any(found.version == network.version and found in network for network in exempt):
            return f"{address} is {reason} (SANDCRAWLER_FETCH_ALLOW_ADDRESSES exempts networks)"
    return None


def local(host: str, exempt: Iterable[Network] = ()) -> str | None:
    """Why a URL of this host is nobody's business but this network's, and is not told to services elsewhere."""
    name = host.rstrip(".").lower()
    if ":" in name or name.replace(".", "").isdigit():  # a URL's host that ends in a number is an address
        return refusal(name, exempt)
    if "." not in name or name.endswith(tuple(f".{known}" for known in LOCAL_NAMES)):
        return f"{name[:256]} is a name of a local network"
    return None


def _reason(address: Address) -> str | None:
    for network, reason in FORBIDDEN:
        if address.version == network.version and address in network:
            return reason
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return "outside the public internet"
    return None


def _embedded(address: Address) -> Iterator[IPv4Address]:
    if isinstance(address, IPv6Address):
        for network, shift in EMBEDDED:
            if address in network:
                yield IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
