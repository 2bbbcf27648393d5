"""`storage_plans`: what each storage tier is made of; pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gpuplatform.config import Block, Object, Platform, SharedFilesystem
from gpuplatform.config.defaults import system_sku
from gpuplatform.errors import Refusal
from gpuplatform.profile import NodeProfile, NoFabric
from gpuplatform.storage import aws, azure, gcp
from gpuplatform.storage.cache import cache_plan
from gpuplatform.storage.facts import SYSTEM
from gpuplatform.storage.filesystems import shared_filesystem
from gpuplatform.storage.model import BlockPlan, ObjectPlan, SharedFilesystemPlan, StoragePlan
from gpuplatform.storage.names import bucket_name

__all__ = ["bucket_of", "lustre_stays_off", "storage_plans"]

_FACTS = {"aws": aws.FACTS, "azure": azure.FACTS, "gcp": gcp.FACTS}


def bucket_of(config: Platform, name: str, tier: Object) -> str:
    """The physical name of a tier's bucket (Azure: of its storage account).

    Raises:
        Refusal: It is none that the cloud takes.
    """
    return bucket_name(config, name, tier.bucket, _FACTS[config.cloud.provider].bucket)


def storage_plans(config: Platform, profiles: Sequence[NodeProfile]) -> tuple[StoragePlan, ...]:
    """What each tier of `storage:` is made of, by the tiers' names.

    Args:
        config: The environment.
        profiles: Its pools' nodes, in the configuration's order.

    Raises:
        Refusal: The cloud has no such storage; the sentence says why and what to write instead. No other
            exception, whatever the combination.
    """
    facts = _FACTS[config.cloud.provider]
    cached = [
        name for name, tier in config.storage.items() if isinstance(tier, Object) and tier.cache is not None
    ]
    machines = {**{profile.pool: profile.sku for profile in profiles}, SYSTEM: system_sku(config)}
    plans: list[StoragePlan] = []
    for name, tier in config.storage.items():
        match tier:
            case Object():
                plans.append(_object(name, tier, config=config, profiles=profiles, cached=cached))
            case SharedFilesystem():
                sold = facts.filesystems[tier.service]
                plans.append(shared_filesystem(name, tier, sold, partial(_zone, config, profiles, name)))
            case Block():
                plans.append(BlockPlan(tier=name, classes=facts.disk_classes(name, tier, machines)))
    _one_subnet_each(plans)
    _some_pool_mounts(plans, profiles)
    return tuple(plans)


def _one_subnet_each(plans: Sequence[StoragePlan]) -> None:
    """Refuses a second Azure Managed Lustre.

    Each has a subnet of its own (https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites),
    which cannot move once the file system is in it; and a configuration's mapping does not say which of two
    came first, so the second one's might be cut where the first one's is.
    """
    lustre = [
        plan.tier
        for plan in plans
        if isinstance(plan, SharedFilesystemPlan) and plan.service == "azure-managed-lustre"
    ]
    if len(lustre) > 1:
        raise Refusal(
            f"{' and '.join(lustre)} are both Azure Managed Lustre",
            where=f"storage.{lustre[1]}",
            rule="an environment on Azure has one: each has a subnet that can never move",
            way_out="one with more capacity, service: nfs for a small one, or another environment",
        )


def _some_pool_mounts(plans: Sequence[StoragePlan], profiles: Sequence[NodeProfile]) -> None:
    """Refuses a Google Managed Lustre that no GPU pool could mount."""
    for plan in plans:
        off = lustre_stays_off(plan, profiles)
        if off and len(off) == len(profiles):
            raise Refusal(
                f"no pool could mount {plan.tier}: all are on Ubuntu",
                where=f"storage.{plan.tier}.service",
                rule="GKE mounts Managed Lustre on Container-Optimized OS only (https://cloud.google.com/"
                "managed-lustre/docs/connect-from-kubernetes-engine-existing-instance)",
                way_out="set image: cos in a pool, or service: nfs",
            )


def lustre_stays_off(plan: StoragePlan, profiles: Sequence[NodeProfile]) -> tuple[str, ...]:
    """Pools whose nodes mount no Google Managed Lustre: those on Ubuntu; none for any other storage."""
    if not isinstance(plan, SharedFilesystemPlan) or plan.service != "google-managed-lustre":
        return ()
    return tuple(profile.pool for profile in profiles if profile.image.startswith("UBUNTU"))


def _object(
    name: str,
    tier: Object,
    *,
    config: Platform,
    profiles: Sequence[NodeProfile],
    cached: Sequence[str],
) -> ObjectPlan:
    return ObjectPlan(
        tier=name,
        bucket=bucket_of(config, name, tier),
        cold_after_days=tier.cold_after_days,
        archive_after_days=tier.archive_after_days,
        keep_versions_days=tier.keep_versions_days,
        cache=cache_plan(name, profiles, cached) if tier.cache is not None else None,
        keep=tier.teardown == "keep",
    )


def _zone(config: Platform, profiles: Sequence[NodeProfile], tier: str) -> str:
    """Where a file system stands that names no zone: in the network's only one.

    Of several none is chosen: a file system can never move, and whatever the choice went by (the first
    training pool, say) would be another one day, and the data be replaced or the update refused.

    Raises:
        Refusal: The network has several.
    """
    zones = config.network.zones
    if len(zones) == 1:
        return zones[0]
    near = _with_fabric(config, profiles)
    raise Refusal(
        f"{tier} names no zone",
        where=f"storage.{tier}.zone",
        rule="a file system stands in one zone and can never move; reading across zones costs time and money",
        way_out=f"write `zone: {near}`, where the first training pool with a fabric is"
        if near
        else f"write one of {', '.join(zones)}",
    )


def _with_fabric(config: Platform, profiles: Sequence[NodeProfile]) -> str:
    """The zone of the first training pool that has a fabric, and so stays in one; empty without one."""
    pools = {pool.name: pool for pool in config.node_pools}
    for profile in profiles:
        if profile.purpose == "training" and not isinstance(profile.fabric, NoFabric):
            return (pools[profile.pool].zones or config.network.zones)[0]
    return ""
