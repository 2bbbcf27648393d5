"""An environment on AWS: what a configuration asks for, as components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pulumi
import pulumi_aws as aws

from gpuplatform.aws import (
    AutoscalerRole,
    AutoscalerRoleArgs,
    AwsNetwork,
    AwsNetworkArgs,
    EksCluster,
    EksClusterArgs,
    EksGpuPool,
    EksGpuPoolArgs,
)
from gpuplatform.catalog import load
from gpuplatform.config import Aws, Platform
from gpuplatform.config.defaults import system_sku
from gpuplatform.kubernetes.cluster_autoscaler import (
    NAMESPACE,
    SERVICE_ACCOUNT,
    ClusterAutoscaler,
    ClusterAutoscalerArgs,
)
from gpuplatform.platform.built import Built
from gpuplatform.profile import NodeProfile

__all__ = ["build"]


def build(config: Platform, profiles: Sequence[NodeProfile]) -> Built:
    """Creates the environment's network, cluster, GPU pools and autoscaler.

    Args:
        config: The environment; its cloud is AWS.
        profiles: One for each of its pools.

    Raises:
        TypeError: The environment is another cloud's.
        Refusal: AWS cannot build it.
    """
    if not isinstance(config.cloud, Aws):
        raise TypeError(f"{config.cloud.provider} is not built here")
    provider = aws.Provider("aws", region=config.cloud.region, allowed_account_ids=[config.cloud.account])
    on_aws = pulumi.ResourceOptions(provider=provider)
    network = AwsNetwork("network", _network(config), on_aws)
    cluster = EksCluster("cluster", _cluster(config, network), on_aws)
    pools = {
        profile.pool: EksGpuPool(f"pool-{profile.pool}", _pool(config, cluster, profile), on_aws).node_group
        for profile in profiles
    }
    _autoscaler(config, cluster, on_aws)
    return Built(cluster=cluster.handle, pools=pools, provider=provider)


def _name(config: Platform) -> str:
    return f"{config.name}-{config.environment}"


def _network(config: Platform) -> AwsNetworkArgs:
    return AwsNetworkArgs(
        name=_name(config),
        cidr=config.network.cidr,
        zones=config.network.zones,
        nodes_max=config.nodes_max,
        region=config.cloud.region,
        tags=config.tags,
        nat="per-zone" if config.environment == "prod" else "single",
    )


def _cluster(config: Platform, network: AwsNetwork) -> EksClusterArgs:
    wanted = config.cluster
    sku = system_sku(config)
    return EksClusterArgs(
        name=_name(config),
        region=config.cloud.region,
        kubernetes_version=wanted.kubernetes_version,
        network=network,
        admins=wanted.admins,
        api_private=wanted.api_access.private,
        api_public_cidrs=tuple(str(cidr) for cidr in wanted.api_access.public_cidrs),
        system_sku=sku,
        system_arch=_arch(sku),
        system_min=wanted.system.nodes.min,
        system_max=wanted.system.nodes.max,
        support=wanted.support,
        protect=config.protects,
        tags=config.tags,
    )


def _arch(sku: str) -> Literal["amd64", "arm64"]:
    """The system machine's architecture; amd64 for one that the catalogue does not know."""
    machine = load().machine("aws", sku)
    return machine.arch if machine is not None and machine.arch is not None else "amd64"


def _pool(config: Platform, cluster: EksCluster, profile: NodeProfile) -> EksGpuPoolArgs:
    pool = next(pool for pool in config.node_pools if pool.name == profile.pool)
    return EksGpuPoolArgs(
        cluster=cluster,
        profile=profile,
        nodes_min=pool.nodes.min,
        nodes_max=pool.nodes.max,
        zones=pool.zones or config.network.zones,
        tags=config.tags,
    )


def _autoscaler(config: Platform, cluster: EksCluster, on_aws: pulumi.ResourceOptions) -> None:
    role = AutoscalerRole(
        "autoscaler-role",
        AutoscalerRoleArgs(
            name=_name(config),
            region=config.cloud.region,
            cluster=cluster,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            tags=config.tags,
        ),
        on_aws,
    )
    ClusterAutoscaler(
        "autoscaler",
        ClusterAutoscalerArgs(
            cluster=cluster.handle,
            region=config.cloud.region,
            kubernetes_version=config.cluster.kubernetes_version,
            after=[role.association],
        ),
    )
