"""A storage tier's plan as a report tells it, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpuplatform.storage import BlockPlan, DiskClass, ObjectPlan, SharedFilesystemPlan, StoragePlan

__all__ = ["Tier", "tier_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One storage tier.

    Attributes:
        name: Its name in the configuration.
        tier: What kind it is.
        what: The bucket's name, the file system's service, or the StorageClasses.
        capacity_gib: Its size; None where it grows by itself.
        throughput: MB/s for each TiB; None where there is no such choice.
        zone: Where it stands; empty where it belongs to the region.
        source: The object tier that it is linked to; empty for none.
        cache_gib: How much of each node's local disks caches it; None without a cache.
        cached_on: Pools whose nodes cache it.
        kept: Whether a teardown leaves it alone.
    """

    name: str
    tier: Literal["object", "shared-filesystem", "block"]
    what: str
    capacity_gib: int | None = None
    throughput: int | None = None
    zone: str = ""
    source: str = ""
    cache_gib: int | None = None
    cached_on: tuple[str, ...] = ()
    kept: bool

    @property
    def size(self) -> str:
        """In words."""
        if self.capacity_gib is None:
            return "-"
        speed = "" if self.throughput is None else f", {self.throughput} MB/s a TiB"
        return f"{self.capacity_gib:,} GiB{speed}"

    @property
    def cache(self) -> str:
        """In words."""
        return "-" if self.cache_gib is None else f"{self.cache_gib:,} GiB on {', '.join(self.cached_on)}"


def tier_of(plan: StoragePlan) -> Tier:
    """The plan as a report tells it."""
    match plan:
        case ObjectPlan():
            return Tier(
                name=plan.tier,
                tier="object",
                what=plan.bucket,
                cache_gib=plan.cache.gib if plan.cache else None,
                cached_on=plan.cache.pools if plan.cache else (),
                kept=plan.keep,
            )
        case SharedFilesystemPlan():
            return Tier(
                name=plan.tier,
                tier="shared-filesystem",
                what=f"{plan.service} {plan.sku}".strip(),
                capacity_gib=plan.capacity_gib,
                throughput=plan.throughput,
                zone=plan.zone,
                source=plan.source,
                kept=plan.keep,
            )
        case BlockPlan():
            return Tier(
                name=plan.tier,
                tier="block",
                what=", ".join(map(_disks, plan.classes)),
                kept=all(one.keep for one in plan.classes),
            )


def _disks(one: DiskClass) -> str:
    return f"{one.name} (not on {', '.join(one.not_on)})" if one.not_on else one.name
