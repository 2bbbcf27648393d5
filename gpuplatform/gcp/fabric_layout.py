"""Addresses of the networks that GPU traffic runs in; pure.

GKE refuses overlapping ranges among a cluster's networks, so these are cut out of private ranges beside the
cluster's own (https://cloud.google.com/kubernetes-engine/docs/how-to/setup-multinetwork-support-for-pods).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Final

from gpuplatform.errors import Refusal
from gpuplatform.profile.gcp import NodeNetwork

__all__ = ["gpu_subnets"]

PREFIX: Final = 20
"""A subnet of 4,092 nodes, as in GoogleCloudPlatform/cluster-toolkit, examples/gke-a3-megagpu."""

# 198.18.0.0/15 is a private range on Google Cloud too (https://cloud.google.com/vpc/docs/subnets#valid-ranges).
_SHARED: Final = tuple(map(IPv4Network, ("192.168.0.0/17", "192.168.128.0/17", "198.18.0.0/17")))

_OWN: Final = tuple(
    block
    for block in IPv4Network("172.16.0.0/12").subnets(new_prefix=16)
    # Docker's bridge on the nodes (https://cloud.google.com/vpc/docs/subnets#additional-ipv4-considerations).
    if block != IPv4Network("172.17.0.0/16")
)


def gpu_subnets(cluster: IPv4Network, pools: Sequence[Sequence[NodeNetwork]]) -> dict[str, IPv4Network]:
    """The range of each subnet, by its key, beside the range `cluster` of the cluster itself.

    Networks that pools share have fixed places in one block. Each other pool has a block of its own, which
    its name decides: one more pool moves no other's, unless two names fall on one block.

    Raises:
        Refusal: There are more pools than blocks.
    """
    shared = next(block for block in _SHARED if not block.overlaps(cluster))
    places = list(shared.subnets(new_prefix=PREFIX))
    found: dict[str, IPv4Network] = {}
    free = [block for block in _OWN if not block.overlaps(cluster)]
    for networks in pools:
        keys = [network.subnet for network in networks if network.subnet]
        if not keys:
            continue
        if networks[0].shared:
            found.update(zip(keys, places, strict=False))
        else:
            found.update(zip(keys, _block(free, keys[0]).subnets(new_prefix=PREFIX), strict=False))
    return found


def _block(free: list[IPv4Network], key: str) -> IPv4Network:
    """Takes the pool's block out of the free ones."""
    if not free:
        raise Refusal(
            "there are more pools with RDMA networks than address ranges for them",
            where="node_pools",
            rule=f"a cluster holds {len(_OWN)} of them: each has a /16 of 172.16.0.0/12",
            way_out="put some of them into another environment",
        )
    place = zlib.crc32(key.encode()) % len(_OWN)
    return free.pop(min(range(len(free)), key=lambda index: (_OWN.index(free[index]) - place) % len(_OWN)))
