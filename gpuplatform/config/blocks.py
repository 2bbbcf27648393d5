"""Which IPv4 blocks a network may have, and which may reach a cluster's API from outside."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, collapse_addresses
from typing import Final

__all__ = ["PRIVATE", "private_problem", "public_problem"]

PRIVATE: Final = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
"""RFC 1918, which every cloud takes. `IPv4Network.is_private` is wider: loopback and link-local are in it."""

SHARED: Final = IPv4Network("100.64.0.0/10")
"""RFC 6598. AWS (https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html) and GCP
(https://cloud.google.com/vpc/docs/subnets#valid-ranges) take it for a network; on Azure it numbers pods."""

TAKES_SHARED: Final = ("aws", "gcp")

UNREACHABLE: Final = (
    *PRIVATE,
    SHARED,
    *map(IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4")),
)
"""No sender on the internet has such an address (https://www.iana.org/assignments/iana-ipv4-special-registry).
The blocks for documentation are deliberately absent: examples are written with them."""


def private_problem(provider: str, cidr: IPv4Network) -> str | None:
    """Why a network on a cloud cannot have `cidr`, or None where it can."""
    shared = (SHARED,) if provider in TAKES_SHARED else ()
    if any(cidr.subnet_of(block) for block in (*PRIVATE, *shared)):
        return None
    more = ", 100.64/10" if shared else ""
    return f"{cidr} is no private block (10/8, 172.16/12, 192.168/16{more})"


def public_problem(cidrs: Sequence[IPv4Network]) -> str | None:
    """Why `cidrs` cannot be those that reach an API from outside, or None where they can."""
    if twice := sorted({str(cidr) for cidr in cidrs if cidrs.count(cidr) > 1}):
        return f"{', '.join(twice)} is named twice"
    if any(whole.prefixlen == 0 for whole in collapse_addresses(cidrs)):
        named = " and ".join(map(str, cidrs)) if len(cidrs) <= 2 else "these blocks together"  # noqa: PLR2004
        return f"{named} opens the API to the whole internet; list your own addresses"
    for cidr in cidrs:
        if any(cidr.subnet_of(block) for block in UNREACHABLE):
            return (
                f"{cidr} is no public block: nobody comes from there over the internet; list public addresses"
            )
    return None
