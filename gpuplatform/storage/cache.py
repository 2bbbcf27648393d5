"""How large a cache on the nodes' local NVMe may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpuplatform.errors import Refusal
from gpuplatform.profile import NodeProfile
from gpuplatform.storage.model import CachePlan

__all__ = ["MOST_CACHES", "SHARE_OF_DISKS", "cache_plan"]

SHARE_OF_DISKS: Final = 0.25
"""How much of a node's local disks the cache of one tier may fill.

It depends on nothing but the disks: a share that shrank with each further tier would change, and so
replace, the volumes of those that are mounted already."""

MOST_CACHES: Final = 3
"""Tiers that are cached at once.

The rest of the disks holds images, logs and the pods' own scratch data, and a kubelet evicts pods once they
are 85% to 90% full (https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction)."""


def cache_plan(tier: str, profiles: Sequence[NodeProfile], cached: Sequence[str]) -> CachePlan:
    """The cache of one bucket.

    Args:
        tier: The tier's name.
        profiles: The pools' nodes.
        cached: All tiers that are cached, in the configuration's order.

    Raises:
        Refusal: No pool has local NVMe for it, or how much there is of it is not known.
    """
    where = f"storage.{tier}.cache"
    if tier in cached[MOST_CACHES:]:
        raise Refusal(
            f"{len(cached)} tiers would be cached: {', '.join(cached)}",
            where=where,
            rule=f"each cache fills {SHARE_OF_DISKS:.0%} of a node's local disks, and {MOST_CACHES} leave "
            "room for images and scratch data",
            way_out="leave cache out here, or in another tier",
        )
    having = [profile for profile in profiles if profile.local_disks.mode == "ephemeral"]
    if not having:
        pools = "; ".join(f"{profile.pool} ({_why(profile)})" for profile in profiles)
        raise Refusal(
            f"no pool has local disks for a cache: {pools or 'there is no pool'}",
            where=where,
            rule="local-nvme caches on disks that are the pods' own storage (local_disks: ephemeral)",
            way_out="leave cache out, or set local_disks: ephemeral in a pool whose machines have NVMe",
        )
    if unknown := [profile for profile in having if profile.local_disks.gib == 0]:
        raise Refusal(
            f"how much local storage {unknown[0].sku} has is not known (pool {unknown[0].pool})",
            where=where,
            rule="a cache is sized by the smallest local disks among its pools, so that none is filled up",
            way_out=f"leave cache out, or set local_disks: none in pool {unknown[0].pool}",
        )
    smallest = min(having, key=lambda profile: profile.local_disks.gib)
    gib = int(smallest.local_disks.gib * SHARE_OF_DISKS)
    if gib < 1:
        raise Refusal(
            f"{smallest.sku} has {smallest.local_disks.gib} GiB of local storage (pool {smallest.pool})",
            where=where,
            rule=f"a cache fills {SHARE_OF_DISKS:.0%} of them, and has 1 GiB at least",
            way_out="leave cache out",
        )
    return CachePlan(gib=gib, pools=tuple(profile.pool for profile in having))


def _why(profile: NodeProfile) -> str:
    mode = profile.local_disks.mode
    return f"{profile.sku}, local_disks: {mode}" if mode == "raw" else f"{profile.sku}, none"
