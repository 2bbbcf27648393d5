"""A GPU pool of a GKE cluster: a NodeProfile as a node pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from gpuplatform.contracts import GpuPoolArgs, GpuPoolComponent
from gpuplatform.errors import Refusal
from gpuplatform.gcp.cluster import GkeCluster, GkeClusterIds
from gpuplatform.gcp.fabric import NodeInterface, in_one_zone
from gpuplatform.gcp.node_config import (
    accelerator,
    bare_metal,
    capacity,
    local_disks,
    network,
    placement,
    queued,
)
from gpuplatform.gcp.node_pool import NodePool, node_pool
from gpuplatform.gcp.resource import GcpResource
from gpuplatform.naming import fit
from gpuplatform.profile import GkeDriver, NodeProfile, OperatorDriver
from gpuplatform.profile.gcp import GKE_TAINTS, machine_type, node_networks
from gpuplatform.profile.sharing import MIG_LABEL

__all__ = ["GkeGpuPool", "GkeGpuPoolArgs"]

# GKE would change these in place, one node after the other, under the jobs that run there; another machine or
# another image is another pool.
REPLACED_ON: Final = ("nodeConfig.machineType", "nodeConfig.imageType", f'nodeConfig.labels["{MIG_LABEL}"]')


@dataclass(frozen=True, kw_only=True)
class GkeGpuPoolArgs(GpuPoolArgs):
    """What a `GkeGpuPool` is made of: the arguments of every pool, its cluster, its networks.

    Attributes:
        cluster: The cluster, or the IDs of one that exists.
        interfaces: The nodes' extra interfaces, as many as the profile's fabric has networks and in their
            order: `GkeGpuNetworks.interfaces`.
        after: What the pool comes after beside the cluster's system nodes: `GkeGpuNetworks.objects`.

    Raises:
        Refusal: GKE cannot hold the pool as it is described.
    """

    KIND = "GKE node pool"
    DRIVER = (GkeDriver, OperatorDriver)

    cluster: GkeCluster | GkeClusterIds
    interfaces: Sequence[NodeInterface] = ()
    after: Sequence[pulumi.Resource] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.profile.accelerator is None:
            raise Refusal(
                f"the profile of {self.profile.sku} names no accelerator",
                where=f"{self.where}.sku",
                rule="GKE is told the type of the GPUs beside the machine type",
                way_out="make it from a machine type of Google Cloud: gpuplatform sku list --cloud gcp",
            )
        in_one_zone(self.profile, self.zones)
        wanted = len(node_networks(self.profile.pool, self.profile.fabric))
        if len(self.interfaces) < wanted:
            raise Refusal(
                f"{self.profile.sku} has {wanted} extra networks, and {len(self.interfaces)} are given",
                where=f"{self.where}.fabric",
                # GoogleCloudPlatform/cluster-toolkit#2797: nodes come up with GPU NICs missing, and slow.
                rule="each NIC of the fabric is in a subnet of its own",
                way_out="make them with GkeGpuNetworks and pass interfaces=networks.interfaces[pool], or say "
                "fabric: none",
            )

    @property
    def cluster_ids(self) -> GkeClusterIds:
        """What the pool needs to know of its cluster."""
        return self.cluster.ids if isinstance(self.cluster, GkeCluster) else self.cluster


class GkeGpuPool(GpuPoolComponent):
    """One pool of GPU machines.

    Outputs: those of every pool.
    """

    TOKEN = "gpuplatform:index:GkeGpuPool"  # noqa: S105 - a type token, no secret

    def __init__(self, name: str, args: GkeGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        pool = self._node_group(name, args)
        self.finish_pool(pool, pool.name, pool.id)

    def _node_group(self, name: str, args: GkeGpuPoolArgs) -> Any:
        cluster, profile = args.cluster_ids, args.profile
        plan = profile.capacity
        lasting = plan.max_run_hours is None
        return node_pool(
            self,
            f"{name}-gpu-pool",
            NodePool(
                name=profile.pool,
                cluster=cluster.cluster_name,
                location=cluster.region,
                zones=args.zones,
                nodes_min=args.nodes_min,
                nodes_max=args.nodes_max,
                sku=machine_type(profile.sku),
                image=profile.image,
                disk_gib=profile.disk_gib,
                service_account=cluster.service_account,
                tags=args.tags,
                labels=profile.labels,
                taints=[taint for taint in profile.taints if taint.key not in GKE_TAINTS],
                accelerators=[accelerator(profile)],
                # The driver is a kernel module from outside the image; on GPU nodes GKE lets any be loaded,
                # signed or not (https://cloud.google.com/kubernetes-engine/security/secure-modules-cos).
                secure_boot=False,
                # No spare GPU machine is needed for an upgrade; there may be none.
                surge=0,
                # A repaired node of limited run would be a new one, whose machine may not come for days:
                # flex-start refuses it (GoogleCloudPlatform/cluster-toolkit, modules/compute/gke-node-pool).
                repaired=lasting,
                any_zone=True,
                node_config={
                    **capacity(plan),
                    **local_disks(profile.local_disks),
                    **bare_metal(profile.fabric),
                    **({"disk_type": profile.disk_type} if profile.disk_type else {}),
                },
                arguments={
                    **queued(plan),
                    **placement(profile.placement, self._workload_policy(name, cluster, profile)),
                    **network(profile.fabric, args.interfaces),
                },
                replaced_on=REPLACED_ON,
            ),
            after=[*cluster.before_nodes, *args.after],
        )

    def _workload_policy(self, name: str, cluster: GkeClusterIds, profile: NodeProfile) -> Any:
        """The name of the policy that puts the nodes into one NVLink domain; None for other machines."""
        if not profile.placement.topology:
            return None
        physical = pulumi.Output.from_input(cluster.cluster_name).apply(
            lambda known: fit("GCP resource", known, profile.pool, "domain")
        )
        policy = GcpResource(
            "gcp:compute/resourcePolicy:ResourcePolicy",
            f"{name}-domain",
            {
                "name": physical,
                "region": cluster.region,
                "workloadPolicy": {
                    "type": "HIGH_THROUGHPUT",
                    "acceleratorTopology": profile.placement.topology,
                },
            },
            self.child(),
        )
        return policy.name
