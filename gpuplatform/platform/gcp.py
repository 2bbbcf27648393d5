"""An environment on Google Cloud: network, cluster, one GPU pool for each profile."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from gpuplatform.config import Platform
from gpuplatform.config.clouds import Gcp
from gpuplatform.config.defaults import system_sku
from gpuplatform.gcp import GcpNetwork, GcpNetworkArgs, GkeCluster, GkeClusterArgs, GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.platform.built import Built
from gpuplatform.profile import NodeProfile

__all__ = ["build"]


def build(config: Platform, profiles: Sequence[NodeProfile]) -> Built:
    """Registers the environment's resources, all with one provider that is pinned to its project and region.

    Raises:
        TypeError: The configuration is of another cloud.
        Refusal: Google Cloud cannot build it as asked.
    """
    cloud = config.cloud
    if not isinstance(cloud, Gcp):
        raise TypeError(f"{cloud.provider} is not built here")
    provider = gcp.Provider("gcp", project=cloud.project, region=cloud.region)
    opts = pulumi.ResourceOptions(provider=provider)
    name = f"{config.name}-{config.environment}"
    network = GcpNetwork(
        "network",
        GcpNetworkArgs(
            name=name,
            cidr=config.network.cidr,
            zones=config.network.zones,
            nodes_max=config.nodes_max,
            region=cloud.region,
            tags=config.tags,
        ),
        opts,
    )
    cluster = GkeCluster("cluster", _cluster_args(config, cloud, name, network), opts)
    return Built(cluster=cluster.handle, pools=_pools(config, profiles, cluster, opts), provider=provider)


def _cluster_args(config: Platform, cloud: Gcp, name: str, network: GcpNetwork) -> GkeClusterArgs:
    wanted = config.cluster
    return GkeClusterArgs(
        name=name,
        project=cloud.project,
        region=cloud.region,
        zones=config.network.zones,
        kubernetes_version=wanted.kubernetes_version,
        network=network,
        api_private=wanted.api_access.private,
        api_public_cidrs=tuple(map(str, wanted.api_access.public_cidrs)),
        admins=wanted.admins,
        support=wanted.support,
        system_sku=system_sku(config),
        system_min=wanted.system.nodes.min,
        system_max=wanted.system.nodes.max,
        protect=config.protects,
        tags=config.tags,
    )


def _pools(
    config: Platform, profiles: Sequence[NodeProfile], cluster: GkeCluster, opts: pulumi.ResourceOptions
) -> dict[str, pulumi.Resource]:
    asked = {pool.name: pool for pool in config.node_pools}
    return {
        profile.pool: GkeGpuPool(
            f"pool-{profile.pool}",
            GkeGpuPoolArgs(
                cluster=cluster,
                profile=profile,
                nodes_min=asked[profile.pool].nodes.min,
                nodes_max=asked[profile.pool].nodes.max,
                zones=asked[profile.pool].zones or config.network.zones,
                tags=config.tags,
            ),
            opts,
        ).node_group
        for profile in profiles
    }
