"""An environment on Azure: provider, network, cluster, and one pool a profile."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_azure_native as azure_native

from gpuplatform.azure import (
    AksCluster,
    AksClusterArgs,
    AksGpuPool,
    AksGpuPoolArgs,
    AzureNetwork,
    AzureNetworkArgs,
)
from gpuplatform.config import Azure, Platform
from gpuplatform.config.defaults import system_sku
from gpuplatform.platform.built import Built
from gpuplatform.profile import NodeProfile

__all__ = ["build"]


def build(config: Platform, profiles: Sequence[NodeProfile]) -> Built:
    """Registers the environment's resources on Azure, all through a provider pinned to its subscription.

    Args:
        config: The environment; its cloud is Azure.
        profiles: One for each of its GPU pools.

    Raises:
        TypeError: The environment is another cloud's.
        Refusal: AKS cannot build it.
    """
    if not isinstance(config.cloud, Azure):
        raise TypeError(f"{config.cloud.provider} is not built here")
    provider = azure_native.Provider(
        "azure", subscription_id=config.cloud.subscription, location=config.cloud.region
    )
    opts = pulumi.ResourceOptions(providers=[provider])
    name = f"{config.name}-{config.environment}"
    network = AzureNetwork(
        "network",
        AzureNetworkArgs(
            name=name,
            cidr=config.network.cidr,
            zones=config.network.zones,
            nodes_max=config.nodes_max,
            region=config.cloud.region,
            tags=config.tags,
            protect=config.protects,
        ),
        opts,
    )
    cluster = AksCluster("cluster", _cluster_args(config, name, network), opts)
    pools = {pool.name: pool for pool in config.node_pools}
    built = {
        profile.pool: AksGpuPool(
            f"pool-{profile.pool}",
            AksGpuPoolArgs(
                cluster=cluster,
                profile=profile,
                nodes_min=pools[profile.pool].nodes.min,
                nodes_max=pools[profile.pool].nodes.max,
                zones=pools[profile.pool].zones or config.network.zones,
                tags=config.tags,
            ),
            opts,
        )
        for profile in profiles
    }
    return Built(
        cluster=cluster.handle,
        pools={pool: component.node_group for pool, component in built.items()},
        provider=provider,
    )


def _cluster_args(config: Platform, name: str, network: AzureNetwork) -> AksClusterArgs:
    cluster = config.cluster
    return AksClusterArgs(
        name=name,
        region=config.cloud.region,
        kubernetes_version=cluster.kubernetes_version,
        network=network,
        admins=cluster.admins,
        api_private=cluster.api_access.private,
        api_public_cidrs=tuple(str(cidr) for cidr in cluster.api_access.public_cidrs),
        support=cluster.support,
        system_sku=system_sku(config),
        system_min=cluster.system.nodes.min,
        system_max=cluster.system.nodes.max,
        tags=config.tags,
        protect=config.protects,
    )
