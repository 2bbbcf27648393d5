"""A GPU pool of a GKE cluster: a NodeProfile as a node pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_gcp import container

from gpuplatform.contracts import GpuPoolArgs, GpuPoolComponent, driver_of
from gpuplatform.errors import Refusal
from gpuplatform.gcp.cluster import GkeCluster, GkeClusterIds
from gpuplatform.gcp.node_pool import NodePool, node_pool
from gpuplatform.profile import GkeDriver, NodeProfile

__all__ = ["GkeGpuPool", "GkeGpuPoolArgs"]


@dataclass(frozen=True, kw_only=True)
class GkeGpuPoolArgs(GpuPoolArgs):
    """What a `GkeGpuPool` is made of: the arguments of every pool, and its cluster.

    Attributes:
        cluster: The cluster, or the IDs of one that exists.

    Raises:
        Refusal: GKE cannot hold the pool as it is described.
    """

    KIND = "GKE node pool"
    DRIVER = GkeDriver

    cluster: GkeCluster | GkeClusterIds

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.profile.accelerator is None:
            raise Refusal(
                f"the profile of {self.profile.sku} names no accelerator",
                where=f"{self.where}.sku",
                rule="GKE is told the type of the GPUs beside the machine type",
                way_out="make it from a machine type of Google Cloud: gpuplatform sku list --cloud gcp",
            )

    @property
    def cluster_ids(self) -> GkeClusterIds:
        """What the pool needs to know of its cluster."""
        return self.cluster.ids if isinstance(self.cluster, GkeCluster) else self.cluster


class GkeGpuPool(GpuPoolComponent):
    """One pool of GPU machines with Google's own driver.

    Outputs: those of every pool.
    """

    TOKEN = "gpuplatform:index:GkeGpuPool"  # noqa: S105 - a type token, no secret

    def __init__(self, name: str, args: GkeGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        pool = self._node_group(name, args)
        self.finish_pool(pool, pool.name, pool.id)

    def _node_group(self, name: str, args: GkeGpuPoolArgs) -> Any:
        cluster, profile = args.cluster_ids, args.profile
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
                sku=profile.sku,
                image=profile.image,
                disk_gib=profile.disk_gib,
                service_account=cluster.service_account,
                tags=args.tags,
                spot=profile.spot,
                labels=profile.labels,
                taints=profile.taints,
                accelerators=[_accelerator(profile)],
                # The driver is a kernel module from outside the image; on GPU nodes GKE lets any be loaded,
                # signed or not (https://cloud.google.com/kubernetes-engine/security/secure-modules-cos).
                secure_boot=False,
                # No spare GPU machine is needed for an upgrade; there may be none.
                surge=0,
            ),
            after=cluster.before_nodes,
        )


def _accelerator(profile: NodeProfile) -> Any:
    """The GPUs, with the driver's version always spelled out.

    Left out, GKE's default changed with a Kubernetes minor, and the pools were replaced (GoogleCloudPlatform/
    magic-modules#11152).
    """
    return container.NodePoolNodeConfigGuestAcceleratorArgs(
        type=profile.accelerator,
        count=profile.gpus,
        gpu_driver_installation_config=(
            container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
                gpu_driver_version=driver_of(profile, GkeDriver).version
            )
        ),
    )
