"""A GPU pool of a GKE cluster: a NodeProfile as a node pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_gcp import container

from gpuplatform.component import Component
from gpuplatform.errors import Refusal
from gpuplatform.gcp.cluster import GkeCluster
from gpuplatform.gcp.node_pool import NodePool, node_pool
from gpuplatform.profile import GkeDriver, NodeProfile
from gpuplatform.tags import Tags

__all__ = ["GkeClusterIds", "GkeGpuPool", "GkeGpuPoolArgs"]


@dataclass(frozen=True, kw_only=True)
class GkeClusterIds:
    """A cluster that exists already, for a GPU pool in it.

    It needs another pool without GPUs, Workload Identity, and roles for the nodes' service account.

    Attributes:
        name: The cluster's name.
        region: Its region.
        service_account: Address of the nodes' service account.
    """

    name: pulumi.Input[str]
    region: str
    service_account: pulumi.Input[str]


@dataclass(frozen=True, kw_only=True)
class GkeGpuPoolArgs:
    """What a pool is made of.

    Attributes:
        cluster: The cluster, or the names of one that exists.
        profile: What its nodes are.
        nodes_min: Nodes in all zones together that are always there.
        nodes_max: Nodes in all zones together that the autoscaler may reach.
        zones: Where its nodes may be; the machine type must be offered there.
        tags: Labels of its machines and disks.
    """

    cluster: GkeCluster | GkeClusterIds
    profile: NodeProfile
    nodes_min: int
    nodes_max: int
    zones: tuple[str, ...]
    tags: Tags


class GkeGpuPool(Component):
    """One pool of GPU machines with Google's own driver.

    Outputs:
        node_group_name: The node pool's name.
        node_group_id: Its ID.

    Attributes:
        node_group: The node pool itself: what runs on its GPUs depends on it.

    Raises:
        Refusal: The profile is of another cloud.
    """

    TOKEN = "gpuplatform:index:GkeGpuPool"  # noqa: S105 - a type token, no secret

    node_group_name: pulumi.Output[str]
    node_group_id: pulumi.Output[str]
    node_group: pulumi.Resource

    def __init__(self, name: str, args: GkeGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        accelerators = _accelerators(args.profile)
        super().__init__(name, opts)
        ids, after = _joined(args.cluster)
        profile = args.profile
        pool = node_pool(
            self,
            f"{name}-gpu-pool",
            NodePool(
                name=profile.pool,
                cluster=ids.name,
                location=ids.region,
                zones=args.zones,
                nodes_min=args.nodes_min,
                nodes_max=args.nodes_max,
                sku=profile.sku,
                image=profile.image,
                disk_gib=profile.disk_gib,
                service_account=ids.service_account,
                tags=args.tags,
                spot=profile.spot,
                labels=profile.labels,
                taints=profile.taints,
                accelerators=accelerators,
                # The driver is a kernel module from outside the image; on GPU nodes GKE lets any be loaded,
                # signed or not (https://cloud.google.com/kubernetes-engine/security/secure-modules-cos).
                secure_boot=False,
                # No spare GPU machine is needed for an upgrade; there may be none.
                surge=0,
            ),
            after=after,
        )
        self.node_group = pool
        self.node_group_name = pool.name
        self.node_group_id = pool.id
        self.finish(node_group_name=self.node_group_name, node_group_id=self.node_group_id)


def _joined(cluster: GkeCluster | GkeClusterIds) -> tuple[GkeClusterIds, Sequence[pulumi.Resource]]:
    """The names a pool needs, and what it comes after.

    After the system pool: GKE puts its own taint on a GPU pool only where a pool without GPUs exists already
    (terraform-google-modules/terraform-google-kubernetes-engine#703), and the system's pods need a place.
    """
    if isinstance(cluster, GkeClusterIds):
        return cluster, ()
    ids = GkeClusterIds(
        name=cluster.cluster_name, region=cluster.args.region, service_account=cluster.nodes.email
    )
    return ids, (cluster.system_pool, *cluster.nodes.ready)


def _accelerators(profile: NodeProfile) -> list[Any]:
    """The GPUs, with the driver's version always spelled out.

    Left out, GKE's default changed with a Kubernetes minor, and the pools were replaced (GoogleCloudPlatform/
    magic-modules#11152).
    """
    if not isinstance(profile.driver, GkeDriver) or profile.accelerator is None:
        raise Refusal(
            f"the pool {profile.pool} has the driver of another cloud ({type(profile.driver).__name__})",
            rule="a GKE pool takes a profile of a Google Cloud machine type",
            way_out="make the profile from a machine type of Google Cloud: gpuplatform sku list --cloud gcp",
        )
    return [
        container.NodePoolNodeConfigGuestAcceleratorArgs(
            type=profile.accelerator,
            count=profile.gpus,
            gpu_driver_installation_config=(
                container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
                    gpu_driver_version=profile.driver.version
                )
            ),
        )
    ]
