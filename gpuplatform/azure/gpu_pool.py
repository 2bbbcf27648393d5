"""A pool of GPU nodes in an AKS cluster, as its NodeProfile says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.cluster import AksCluster, AksClusterIds
from gpuplatform.contracts import GpuPoolArgs, GpuPoolComponent
from gpuplatform.profile import AksDriver, Taint

__all__ = ["AksGpuPool", "AksGpuPoolArgs"]


@dataclass(frozen=True, kw_only=True)
class AksGpuPoolArgs(GpuPoolArgs):
    """What an `AksGpuPool` is made of: the arguments of every pool, and its cluster.

    The profile's pool is the agent pool's name: at most 12 lower-case letters and digits.

    Attributes:
        cluster: The cluster, or the IDs of one that exists.

    Raises:
        Refusal: AKS cannot hold the pool as it is described.
    """

    KIND = "AKS agent pool"
    DRIVER = AksDriver

    cluster: AksCluster | AksClusterIds

    @property
    def cluster_ids(self) -> AksClusterIds:
        """What the pool needs to know of its cluster."""
        return self.cluster.ids if isinstance(self.cluster, AksCluster) else self.cluster


class AksGpuPool(GpuPoolComponent):
    """One agent pool of GPU machines, in user mode, autoscaled by AKS itself.

    Outputs: those of every pool.
    """

    TOKEN = "gpuplatform:index:AksGpuPool"  # noqa: S105 - a type token, no secret

    def __init__(self, name: str, args: AksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        pool = self._node_group(name, args)
        self.finish_pool(pool, pool.name, pool.id)

    def _node_group(self, name: str, args: AksGpuPoolArgs) -> aks.AgentPool:
        cluster, profile = args.cluster_ids, args.profile
        return aks.AgentPool(
            f"{name}-gpu-pool",
            agent_pool_name=profile.pool,
            resource_group_name=cluster.resource_group_name,
            resource_name_=cluster.cluster_name,
            mode=aks.AgentPoolMode.USER,
            type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
            os_type=aks.OSType.LINUX,
            os_sku=profile.image,
            os_disk_size_gb=profile.disk_gib,
            vm_size=profile.sku,
            orchestrator_version=cluster.kubernetes_version,
            count=args.nodes_min,
            enable_auto_scaling=args.autoscaled,
            min_count=args.nodes_min if args.autoscaled else None,
            max_count=args.nodes_max if args.autoscaled else None,
            # A deallocated GPU machine keeps its disk's price and loses its place all the same.
            scale_down_mode=aks.ScaleDownMode.DELETE,
            availability_zones=list(args.zones),
            vnet_subnet_id=cluster.node_subnet_id,
            node_labels=dict(profile.labels),
            node_taints=[_taint(taint) for taint in profile.taints],
            # Explicit, though unset means Install too; the tag that once skipped it is retired
            # (Azure/AKS#4925).
            gpu_profile=aks.GPUProfileArgs(driver=aks.GPUDriver.INSTALL),
            **_capacity(spot=profile.spot),
            tags=args.tags.azure(),
            opts=self.child(
                depends_on=list(cluster.before_nodes),
                # The name is fixed, so a new pool cannot stand beside the old one; GPU quota forbids it too.
                delete_before_replace=True,
                deleted_with=args.cluster.handle.cluster if isinstance(args.cluster, AksCluster) else None,
                # The autoscaler owns the count; without this each update would reset it.
                ignore_changes=["count"] if args.autoscaled else [],
            ),
        )


def _capacity(*, spot: bool) -> dict[str, Any]:
    """How the machines are bought; all of it is fixed at creation but the upgrade settings."""
    if spot:
        return {
            "scale_set_priority": aks.ScaleSetPriority.SPOT,
            "scale_set_eviction_policy": aks.ScaleSetEvictionPolicy.DELETE,
            "spot_max_price": -1,  # up to the on-demand price
            # No upgrade settings: a spot pool can't set them (hashicorp/terraform-provider-azurerm#26465).
        }
    return {
        "scale_set_priority": aks.ScaleSetPriority.REGULAR,
        # One node at a time, in place: a surge needs quota and capacity for one more GPU machine, and the
        # upgrade stalls without (https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling).
        "upgrade_settings": aks.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1"),
    }


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}"
