"""A pool of GPU nodes in an AKS cluster, as its NodeProfile says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.cluster import AksCluster, AksClusterIds
from gpuplatform.azure.fabric import proximity_group
from gpuplatform.contracts import GpuPoolArgs, GpuPoolComponent
from gpuplatform.profile import AksDriver, CapacityPlan, Driver, LocalDisks, OperatorDriver, SharedGpu, Taint
from gpuplatform.profile.sharing import MIG_LABEL

__all__ = ["REPLACED_ON", "AksGpuPool", "AksGpuPoolArgs"]

REPLACED_ON: Final = (
    "availabilityZones",
    "capacityReservationGroupID",
    "gpuProfile",
    f'nodeLabels["{MIG_LABEL}"]',
    "osDiskSizeGB",
    "osDiskType",
    "osSKU",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "vnetSubnetID",
)
"""Inputs whose change makes a new pool, beside those that the provider knows of (vmSize, gpuInstanceProfile).

The provider asks for an update and AKS refuses it, minutes into a deployment ("Changing property ... is not
allowed"). The image alone could change in place: AKS would reimage every node under its jobs, without a word
in the preview; and the operator's MIG manager would cut GPUs anew under the pods that use them.
"""


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
    DRIVER = (AksDriver, OperatorDriver)

    cluster: AksCluster | AksClusterIds

    @property
    def cluster_ids(self) -> AksClusterIds:
        """What the pool needs to know of its cluster."""
        return self.cluster.ids if isinstance(self.cluster, AksCluster) else self.cluster


class AksGpuPool(GpuPoolComponent):
    """One agent pool of GPU machines, in user mode, autoscaled and repaired by AKS itself.

    AKS reboots, reimages and redeploys a node that is not ready for ten minutes, on every cluster and without
    a setting (https://learn.microsoft.com/azure/aks/node-auto-repair).

    Outputs: those of every pool.
    """

    TOKEN = "gpuplatform:index:AksGpuPool"  # noqa: S105 - a type token, no secret

    def __init__(self, name: str, args: AksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        pool = self._node_group(name, args)
        self.finish_pool(pool, pool.name, pool.id)

    def _node_group(self, name: str, args: AksGpuPoolArgs) -> aks.AgentPool:
        cluster, profile = args.cluster_ids, args.profile
        near = proximity_group(self, name, args.tags, cluster=cluster, profile=profile, zones=args.zones)
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
            os_disk_type=_boot_disk(profile.local_disks),
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
            gpu_profile=aks.GPUProfileArgs(driver=_installs(profile.driver)),
            gpu_instance_profile=_instance_profile(profile.sharing),
            proximity_placement_group_id=near.id,
            **_capacity(profile.capacity),
            tags=args.tags.azure(),
            opts=self.child(
                depends_on=[*cluster.before_nodes, *near.ready],
                # The name is fixed, so a new pool cannot stand beside the old one; GPU quota forbids it too.
                delete_before_replace=True,
                replace_on_changes=list(REPLACED_ON),
                deleted_with=_gone_with(args),
                # The autoscaler owns the count; without this each update would reset it.
                ignore_changes=["count"] if args.autoscaled else [],
            ),
        )


def _gone_with(args: AksGpuPoolArgs) -> pulumi.Resource | None:
    """The cluster takes its pools along; but one in a proximity group of ours goes first, by itself.

    The group needs the cluster, so it goes before it, and Azure deletes no group with machines in it
    (InUseProximityPlacementGroupCannotBeDeleted).
    """
    if args.profile.placement.kind == "proximity" or not isinstance(args.cluster, AksCluster):
        return None
    return args.cluster.handle.cluster


def _installs(driver: Driver) -> aks.GPUDriver:
    """Whether AKS installs the driver: always said, though unset means yes.

    The tag that once skipped it is retired (Azure/AKS#4925). AKS chooses CUDA or GRID by the machine; only
    Windows pools can say which.
    """
    return aks.GPUDriver.INSTALL if isinstance(driver, AksDriver) else aks.GPUDriver.NONE


def _instance_profile(sharing: SharedGpu | None) -> str | None:
    """AKS cuts the GPUs of pools whose driver it owns when it makes a node: `1g.10gb` is its MIG1g."""
    if sharing is None or sharing.kind != "mig" or sharing.owner != "aks":
        return None
    return f"MIG{sharing.profile.partition('.')[0]}"


def _boot_disk(disks: LocalDisks) -> aks.OSDiskType | None:
    """Create-time only, so it is left to AKS only where the profile could not decide."""
    match disks.boot:
        case "local":
            return aks.OSDiskType.EPHEMERAL
        case "network":
            return aks.OSDiskType.MANAGED
        case "cloud":
            return None


def _capacity(plan: CapacityPlan) -> dict[str, Any]:
    """How the machines are bought; all of it is fixed at creation but the upgrade settings."""
    if plan.kind == "spot":
        return {
            "scale_set_priority": aks.ScaleSetPriority.SPOT,
            "scale_set_eviction_policy": aks.ScaleSetEvictionPolicy.DELETE,
            "spot_max_price": -1,  # up to the on-demand price
            # No upgrade settings: a spot pool can't set them (hashicorp/terraform-provider-azurerm#26465).
        }
    return {
        "scale_set_priority": aks.ScaleSetPriority.REGULAR,
        "capacity_reservation_group_id": plan.id or None,
        # One node at a time, in place: a surge needs quota and capacity, or a reservation, for one more GPU
        # machine, and the upgrade stalls without (https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling).
        "upgrade_settings": aks.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1"),
    }


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}"
