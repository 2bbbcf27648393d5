"""Address ranges: which lie inside which, and which overlap."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

__all__ = ["inside", "overlapping", "valid"]


def valid(cidr: object) -> bool:
    """Whether it is an address range in CIDR notation, without host bits."""
    try:
        ipaddress.ip_network(str(cidr))
    except ValueError:
        return False
    return True


def inside(cidr: str, ranges: Iterable[str]) -> bool:
    """Whether a range lies within one of several."""
    inner = ipaddress.ip_network(cidr, strict=False)
    return any(
        inner.version == outer.version and inner.subnet_of(outer)  # type: ignore[arg-type]
        for outer in (ipaddress.ip_network(r, strict=False) for r in ranges)
    )


def overlapping(cidr: str, taken: Iterable[str]) -> str:
    """The first taken range that a new one overlaps; empty if there is none."""
    new = ipaddress.ip_network(cidr, strict=False)
    return next((t for t in taken if new.overlaps(ipaddress.ip_network(t, strict=False))), "")
