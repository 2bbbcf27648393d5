"""What every cloud's components are told, from the configuration and what is decided of it; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from gpuplatform.config import Aws, Azure, Gcp, Platform
from gpuplatform.config.defaults import system_sku
from gpuplatform.contracts import Mount
from gpuplatform.profile import NodeProfile
from gpuplatform.storage import BlockPlan, ObjectPlan, SharedFilesystemPlan, StoragePlan

__all__ = [
    "budget_arguments",
    "cloud_of",
    "cluster_arguments",
    "mounts_of",
    "network_arguments",
    "pool_arguments",
]

C = TypeVar("C", Aws, Azure, Gcp)


def cloud_of(config: Platform, kind: type[C]) -> C:
    """The configuration's cloud.

    Raises:
        TypeError: It is another one: a program's own mistake.
    """
    if not isinstance(config.cloud, kind):
        raise TypeError(f"{config.cloud.provider} is not built here")
    return config.cloud


def network_arguments(config: Platform) -> dict[str, Any]:
    """The fields of `gpuplatform.contracts.NetworkArgs`."""
    return {
        "name": config.physical_name,
        "region": config.cloud.region,
        "cidr": config.network.cidr,
        "zones": config.network.zones,
        "nodes_max": config.nodes_max,
        "tags": config.tags,
    }


def cluster_arguments(config: Platform, storage: Sequence[StoragePlan]) -> dict[str, Any]:
    """The fields of `gpuplatform.contracts.ClusterArgs`."""
    cluster = config.cluster
    return {
        "name": config.physical_name,
        "region": config.cloud.region,
        "kubernetes_version": cluster.kubernetes_version,
        "admins": cluster.admins,
        "viewers": cluster.viewers,
        "system_sku": system_sku(config),
        "system_min": cluster.system.nodes.min,
        "system_max": cluster.system.nodes.max,
        "tags": config.tags,
        "api_private": cluster.api_access.private,
        "api_public_cidrs": tuple(map(str, cluster.api_access.public_cidrs)),
        "support": cluster.support,
        "protect": config.protects,
        "mounts": mounts_of(storage),
    }


def mounts_of(storage: Sequence[StoragePlan]) -> tuple[Mount, ...]:
    """What pods of the environment mount beside disks: `gpuplatform.contracts.ClusterArgs.mounts`."""
    asked = {_mount(plan) for plan in storage}
    mounts: tuple[Mount, ...] = ("object", "lustre", "nfs")
    return tuple(mount for mount in mounts if mount in asked)


def _mount(plan: StoragePlan) -> Mount | None:
    match plan:
        case ObjectPlan():
            return "object"
        case SharedFilesystemPlan(service="azure-files-nfs" | "filestore"):
            return "nfs"
        case SharedFilesystemPlan():
            return "lustre"
        case BlockPlan():
            return None


def budget_arguments(config: Platform) -> dict[str, Any] | None:
    """The fields of `gpuplatform.contracts.BudgetArgs`; None where nobody would hear of the budget."""
    budget = config.budget
    if budget is None or not budget.contacts:
        return None
    return {
        "name": config.physical_name,
        "amount": budget.monthly or budget.monthly_usd,
        "currency": budget.currency or "USD",
        "alert_percent": budget.alert_percent,
        "forecast": budget.forecast,
        "contacts": budget.contacts,
        "tags": config.tags,
    }


def pool_arguments(config: Platform, profiles: Sequence[NodeProfile]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pool's name and the fields of its `gpuplatform.contracts.GpuPoolArgs`."""
    asked = {pool.name: pool for pool in config.node_pools}
    for profile in profiles:
        pool = asked[profile.pool]
        yield (
            pool.name,
            {
                "profile": profile,
                "nodes_min": pool.nodes.min,
                "nodes_max": pool.nodes.max,
                "zones": pool.zones or config.network.zones,
                "tags": config.tags,
            },
        )
