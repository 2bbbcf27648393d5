"""An environment on Azure: provider, network, cluster, GPU pools, storage, identities."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_azure_native as azure_native

from gpuplatform.azure import (
    AksCluster,
    AksClusterArgs,
    AksGpuPool,
    AksGpuPoolArgs,
    AzureBudget,
    AzureBudgetArgs,
    AzureLustreDriver,
    AzureLustreDriverArgs,
    AzureNetwork,
    AzureNetworkArgs,
    AzureObjectStore,
    AzureObjectStoreArgs,
    AzureSharedFilesystem,
    AzureSharedFilesystemArgs,
    AzureWorkloadIdentity,
    AzureWorkloadIdentityArgs,
)
from gpuplatform.config import Azure, Platform
from gpuplatform.platform.arguments import (
    budget_arguments,
    cloud_of,
    cluster_arguments,
    mounts_of,
    network_arguments,
    pool_arguments,
)
from gpuplatform.platform.built import Built
from gpuplatform.platform.decision import Decision
from gpuplatform.platform.durable import identities, tiers
from gpuplatform.profile import NodeProfile
from gpuplatform.profile.azure import check_feature, check_zones
from gpuplatform.storage import SharedFilesystemPlan

__all__ = ["build"]


def build(decision: Decision) -> Built:
    """Registers the environment's resources, all with one provider that is pinned to its subscription.

    Raises:
        TypeError: The configuration is of another cloud.
        Refusal: Azure cannot build it as asked.
    """
    config, profiles = decision.config, decision.profiles
    cloud = cloud_of(config, Azure)
    check_feature(profiles)
    _check_zones(config, profiles)
    provider = azure_native.Provider("azure", subscription_id=cloud.subscription, location=cloud.region)
    opts = pulumi.ResourceOptions(provider=provider)
    network = AzureNetwork(
        "network",
        AzureNetworkArgs(
            protect=config.protects,
            lustre={
                plan.tier: plan.capacity_gib
                for plan in decision.storage
                if isinstance(plan, SharedFilesystemPlan) and plan.service == "azure-managed-lustre"
            },
            files="nfs" in mounts_of(decision.storage),
            **network_arguments(config),
        ),
        opts,
    )
    reservations = tuple(profile.capacity.id for profile in profiles if profile.capacity.id)
    cluster = AksCluster(
        "cluster",
        AksClusterArgs(
            network=network, reservations=reservations, **cluster_arguments(config, decision.storage)
        ),
        opts,
    )
    pools = {
        name: AksGpuPool(f"pool-{name}", AksGpuPoolArgs(cluster=cluster, **arguments), opts).node_group
        for name, arguments in pool_arguments(config, profiles)
    }
    storage = tiers(
        decision,
        store=lambda name, made_of: AzureObjectStore(name, AzureObjectStoreArgs(**made_of), opts),
        filesystem=lambda name, made_of, _source: AzureSharedFilesystem(
            name, AzureSharedFilesystemArgs(network=network, subscription=cloud.subscription, **made_of), opts
        ),
    )
    teams = identities(
        config,
        storage.stores,
        lambda name, made_of, stores: AzureWorkloadIdentity(
            name,
            AzureWorkloadIdentityArgs(
                resource_group_name=network.resource_group_name,
                issuer=cluster.oidc_issuer,
                stores=stores,
                **made_of,
            ),
            opts,
        ),
    )
    if "lustre" in mounts_of(decision.storage):
        # The other clouds' drivers are add-ons of their clusters.
        AzureLustreDriver(
            "lustre-driver",
            AzureLustreDriverArgs(cluster=cluster.handle, profiles=profiles, pools=tuple(pools.values())),
        )
    if (budget := budget_arguments(config)) is not None:
        AzureBudget("budget", AzureBudgetArgs(subscription=cloud.subscription, **budget), opts)
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
