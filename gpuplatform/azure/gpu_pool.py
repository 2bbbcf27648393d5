"""A pool of GPU nodes in an AKS cluster, as its NodeProfile says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.cluster import AksCluster, AksClusterIds
from gpuplatform.component import Component
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.profile import AksDriver, NodeProfile
from gpuplatform.profile.model import Taint
from gpuplatform.tags import Tags

__all__ = ["AksGpuPool", "AksGpuPoolArgs"]


@dataclass(frozen=True, kw_only=True)
class AksGpuPoolArgs:
    """What an `AksGpuPool` is made from.

    Attributes:
        cluster: The cluster, or the IDs of one that exists.
        profile: What the nodes are; its pool's name is the agent pool's: at most 12 lower-case letters and
            digits.
        nodes_min: Nodes that are always there; 0 lets the pool scale from zero.
        nodes_max: Nodes that AKS's autoscaler may reach; a fixed size where it equals `nodes_min`.
        zones: Availability zones of the nodes.
        tags: Tags of the pool and its machines.

    Raises:
        Refusal: The name is none for an agent pool, or the profile is another cloud's.
    """

    cluster: AksCluster | AksClusterIds
    profile: NodeProfile
    nodes_min: int
    nodes_max: int
    zones: tuple[str, ...]
    tags: Tags

    def __post_init__(self) -> None:
        # Azure itself says no more than "agentPoolProfile.name is invalid", minutes into a deployment
        # (Azure/AKS#3300).
        if (why := problem("AKS agent pool", self.profile.pool)) is not None:
            raise Refusal(why, where="profile.pool", way_out="shorten the pool's name")
        if not isinstance(self.profile.driver, AksDriver):
            raise Refusal(
                f"{self.profile.sku} is not one of AKS's machines: its driver is {self.profile.driver}",
                where="profile",
                rule="an AKS pool takes a profile of an Azure machine type",
                way_out="choose one: gpuplatform sku list --cloud azure",
            )


class AksGpuPool(Component):
    """One agent pool of GPU machines, in user mode, autoscaled by AKS itself.

    Attributes:
        name: The agent pool's name.
        id: Its resource ID.
        node_group: The agent pool; what runs on its GPUs depends on it.
    """

    TOKEN: ClassVar[str] = "gpuplatform:index:AksGpuPool"  # noqa: S105 - a type token

    name: pulumi.Output[str]
    id: pulumi.Output[str]
    node_group: aks.AgentPool

    def __init__(self, name: str, args: AksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        cluster = args.cluster.ids if isinstance(args.cluster, AksCluster) else args.cluster
        profile = args.profile
        autoscaled = args.nodes_max > args.nodes_min
        self.node_group = aks.AgentPool(
            f"{name}-gpu-pool",
            agent_pool_name=profile.pool,
            resource_group_name=cluster.resource_group_name,
            resource_name_=cluster.name,
            mode=aks.AgentPoolMode.USER,
            type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
            os_type=aks.OSType.LINUX,
            os_sku=profile.image,
            os_disk_size_gb=profile.disk_gib,
            vm_size=profile.sku,
            orchestrator_version=cluster.kubernetes_version,
            count=args.nodes_min,
            enable_auto_scaling=autoscaled,
            min_count=args.nodes_min if autoscaled else None,
            max_count=args.nodes_max if autoscaled else None,
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
                # The name is fixed, so a new pool cannot stand beside the old one; GPU quota forbids it too.
                delete_before_replace=True,
                deleted_with=args.cluster.resource if isinstance(args.cluster, AksCluster) else None,
                # The autoscaler owns the count; without this each update would reset it.
                ignore_changes=["count"] if autoscaled else None,
            ),
        )
        self.name = self.node_group.name
        self.id = self.node_group.id
        self.finish(name=self.name, id=self.id)


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
