"""Address arithmetic: aligned blocks cut out of a network, largest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from ipaddress import IPv4Network

__all__ = ["carve", "prefix_for"]


def prefix_for(addresses: int) -> int:
    """The longest prefix (smallest block) that holds `addresses` IPv4 addresses.

    Raises:
        ValueError: `addresses` is below one or above 2**32.
    """
    if not 1 <= addresses <= 2**32:
        raise ValueError(f"no IPv4 block holds {addresses} addresses")
    return 32 - math.ceil(math.log2(addresses))


def carve(network: IPv4Network, prefixes: Sequence[int]) -> tuple[IPv4Network, ...] | None:
    """Blocks of the given prefix lengths out of `network`, in the order asked for, or None if they don't fit.

    Larger blocks are placed first, so no room is lost to alignment: the answer is None only where the
    blocks' sizes add up to more than the network.
    """
    if any(prefix < network.prefixlen for prefix in prefixes):
        return None
    placed: dict[int, IPv4Network] = {}
    cursor, end = int(network.network_address), int(network.broadcast_address) + 1
    for index in sorted(range(len(prefixes)), key=lambda i: prefixes[i]):
        size = 2 ** (32 - prefixes[index])
        if cursor + size > end:
            return None
        placed[index] = IPv4Network((cursor, prefixes[index]))
        cursor += size
    return tuple(placed[index] for index in range(len(prefixes)))
