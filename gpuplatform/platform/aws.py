"""An environment on AWS: provider, network, cluster, GPU pools, autoscaler, storage, identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pulumi
import pulumi_aws as aws

from gpuplatform.aws import (
    AutoscalerRole,
    AutoscalerRoleArgs,
    AwsBudget,
    AwsBudgetArgs,
    AwsNetwork,
    AwsNetworkArgs,
    AwsObjectStore,
    AwsObjectStoreArgs,
    AwsSharedFilesystem,
    AwsSharedFilesystemArgs,
    AwsWorkloadIdentity,
    AwsWorkloadIdentityArgs,
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
from gpuplatform.permissions.aws import boundary_arn, scope_of
from gpuplatform.platform.arguments import (
    budget_arguments,
    cloud_of,
    cluster_arguments,
    network_arguments,
    pool_arguments,
)
from gpuplatform.platform.built import Built
from gpuplatform.platform.decision import Decision
from gpuplatform.platform.durable import identities, tiers
from gpuplatform.profile import NodeProfile
from gpuplatform.profile.aws import check_zones

__all__ = ["build"]


def build(decision: Decision) -> Built:
    """Registers the environment's resources, all with one provider that is pinned to its account and region.

    Raises:
        TypeError: The configuration is of another cloud.
        Refusal: AWS cannot build it as asked.
    """
    config, profiles = decision.config, decision.profiles
    cloud = cloud_of(config, Aws)
    _check_zones(config, profiles)
    provider = aws.Provider("aws", region=cloud.region, allowed_account_ids=[cloud.account])
    opts = pulumi.ResourceOptions(provider=provider)
    nat: Literal["single", "per-zone"] = "per-zone" if config.environment == "prod" else "single"
    network = AwsNetwork("network", AwsNetworkArgs(nat=nat, **network_arguments(config)), opts)
    cluster = EksCluster(
        "cluster",
        EksClusterArgs(
            network=network,
            system_arch=_system_arch(config),
            # Without it, the identity that `gpuplatform bootstrap` makes may create no role.
            role_boundary=boundary_arn(scope_of(config)) if config.identity is not None else None,
            **cluster_arguments(config, decision.storage),
        ),
        opts,
    )
    pools = {
        name: EksGpuPool(f"pool-{name}", EksGpuPoolArgs(cluster=cluster, **arguments), opts).node_group
        for name, arguments in pool_arguments(config, profiles)
    }
    _autoscaler(config, cluster, opts)
    storage = tiers(
        decision,
        store=lambda name, made_of: AwsObjectStore(
            name, AwsObjectStoreArgs(account=cloud.account, **made_of), opts
        ),
        filesystem=lambda name, made_of, source: AwsSharedFilesystem(
            name, AwsSharedFilesystemArgs(network=network, source=source, **made_of), opts
        ),
    )
    teams = identities(
        config,
        storage.stores,
        lambda name, made_of, stores: AwsWorkloadIdentity(
            name, AwsWorkloadIdentityArgs(cluster=cluster, stores=stores, **made_of), opts
        ),
    )
    if (budget := budget_arguments(config)) is not None:
        AwsBudget("budget", AwsBudgetArgs(**budget), opts)
    return Built(
        cluster=cluster.handle,
        pools=pools,
        provider=provider,
        storage=storage.handles,
        identities=teams,
    )


def _check_zones(config: Platform, profiles: Sequence[NodeProfile]) -> None:
    """Before the first resource: a pool that names no zones gets all of the network's."""
    asked = {pool.name: pool for pool in config.node_pools}
    for profile in profiles:
        pool = asked[profile.pool]
        zones = pool.zones or config.network.zones
        check_zones(pool, profile.fabric, profile.capacity, zones, f"node_pools.{pool.name}")


def _system_arch(config: Platform) -> Literal["amd64", "arm64"]:
    """The system machine's architecture; amd64 for one that the catalogue does not know."""
    machine = load().machine("aws", system_sku(config))
    return machine.arch if machine is not None and machine.arch is not None else "amd64"


def _autoscaler(config: Platform, cluster: EksCluster, opts: pulumi.ResourceOptions) -> None:
    """AKS and GKE bring their own."""
    role = AutoscalerRole(
        "autoscaler-role",
        AutoscalerRoleArgs(
            name=config.physical_name,
            region=config.cloud.region,
            cluster=cluster,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            tags=config.tags,
        ),
        opts,
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
