"""An environment on Google Cloud: provider, network, cluster, GPU pools, storage, identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_gcp as gcp

from gpuplatform.config import Gcp, Platform
from gpuplatform.errors import Refusal
from gpuplatform.gcp import (
    GcpBudget,
    GcpBudgetArgs,
    GcpNetwork,
    GcpNetworkArgs,
    GcpObjectStore,
    GcpObjectStoreArgs,
    GcpSharedFilesystem,
    GcpSharedFilesystemArgs,
    GcpWorkloadIdentity,
    GcpWorkloadIdentityArgs,
    GkeCluster,
    GkeClusterArgs,
    GkeGpuNetworks,
    GkeGpuNetworksArgs,
    GkeGpuPool,
    GkeGpuPoolArgs,
    GkeNodeDaemons,
    GkeNodeDaemonsArgs,
)
from gpuplatform.gcp.fabric import in_one_zone
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
from gpuplatform.profile.fabric import NvlinkDomain
from gpuplatform.profile.gcp import FIRST_NVLINK_DOMAIN, node_daemons, node_networks

__all__ = ["build"]


def build(decision: Decision) -> Built:
    """Registers the environment's resources, all with one provider that is pinned to its project and region.

    Raises:
        TypeError: The configuration is of another cloud.
        Refusal: Google Cloud cannot build it as asked.
    """
    config, profiles = decision.config, decision.profiles
    cloud = cloud_of(config, Gcp)
    arguments = dict(pool_arguments(config, profiles))
    for each in arguments.values():
        in_one_zone(each["profile"], each["zones"])  # before the first resource, not at the pool
    _new_enough(config, profiles)
    provider = gcp.Provider("gcp", project=cloud.project, region=cloud.region)
    opts = pulumi.ResourceOptions(provider=provider)
    network = GcpNetwork(
        "network",
        GcpNetworkArgs(
            private_services=not {"lustre", "nfs"}.isdisjoint(mounts_of(decision.storage)),
            **network_arguments(config),
        ),
        opts,
    )
    cluster = GkeCluster(
        "cluster",
        GkeClusterArgs(
            network=network,
            project=cloud.project,
            multi_networking=any(_named(profile) for profile in profiles),
            bare_metal=any(_bare_metal(profile) for profile in profiles),
            **cluster_arguments(config, decision.storage),
        ),
        opts,
    )
    if node_daemons(profiles):
        GkeNodeDaemons("node-daemons", GkeNodeDaemonsArgs(cluster=cluster.handle, profiles=profiles), opts)
    pools = _pools(config, cloud, cluster, arguments, opts)
    storage = tiers(
        decision,
        store=lambda name, made_of: GcpObjectStore(
            name, GcpObjectStoreArgs(project=cloud.project, **made_of), opts
        ),
        filesystem=lambda name, made_of, _source: GcpSharedFilesystem(
            name, GcpSharedFilesystemArgs(network=network, project=cloud.project, **made_of), opts
        ),
    )
    teams = identities(
        config,
        storage.stores,
        lambda name, made_of, stores: GcpWorkloadIdentity(
            name,
            GcpWorkloadIdentityArgs(cluster=cluster, project=cloud.project, stores=stores, **made_of),
            opts,
        ),
    )
    _budget(config, cloud, opts)
    return Built(
        cluster=cluster.handle,
        pools=pools,
        provider=provider,
        storage=storage.handles,
        identities=teams,
    )


def _budget(config: Platform, cloud: Gcp, opts: pulumi.ResourceOptions) -> None:
    arguments = budget_arguments(config)
    if arguments is None or config.budget is None or config.budget.billing_account is None:
        return  # contacts without a billing account are refused with the configuration
    account = config.budget.billing_account
    made_of = GcpBudgetArgs(billing_account=account, project=cloud.project, region=cloud.region, **arguments)
    GcpBudget("budget", made_of, opts)


def _pools(
    config: Platform,
    cloud: Gcp,
    cluster: GkeCluster,
    arguments: dict[str, dict[str, Any]],
    opts: pulumi.ResourceOptions,
) -> dict[str, pulumi.Resource]:
    connected = [each["profile"] for each in arguments.values() if _networks(each["profile"])]
    networks = None
    if connected:
        networks = GkeGpuNetworks(
            "gpu-networks",
            GkeGpuNetworksArgs(
                name=config.physical_name,
                project=cloud.project,
                region=cloud.region,
                cidr=config.network.cidr,
                cluster=cluster.handle,
                profiles=connected,
                zones={name: each["zones"] for name, each in arguments.items()},
            ),
            opts,
        )
    return {
        name: GkeGpuPool(
            f"pool-{name}",
            GkeGpuPoolArgs(
                cluster=cluster,
                interfaces=networks.interfaces.get(name, ()) if networks else (),
                after=networks.objects.get(name, ()) if networks else (),
                **each,
            ),
            opts,
        ).node_group
        for name, each in arguments.items()
    }


def _new_enough(config: Platform, profiles: Sequence[NodeProfile]) -> None:
    """Refuses NVLink domains on a Kubernetes whose every release is too old for them.

    Raises:
        Refusal: The minor version is.
    """
    minor = config.cluster.kubernetes_version
    first = ".".join(FIRST_NVLINK_DOMAIN.split(".")[:2])
    for profile in profiles:
        if isinstance(profile.fabric, NvlinkDomain) and _numbers(minor) < _numbers(first):
            raise Refusal(
                f"{profile.sku} on Kubernetes {minor}",
                where="cluster.kubernetes_version",
                rule=f"GKE connects its nodes from {FIRST_NVLINK_DOMAIN} on",
                way_out=f'use kubernetes_version: "{first}" or later',
            )


def _numbers(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))


def _networks(profile: NodeProfile) -> bool:
    return bool(node_networks(profile.pool, profile.fabric))


def _named(profile: NodeProfile) -> bool:
    """Whether pods choose among the nodes' networks by name, which takes multi-networking."""
    return any(network.name for network in node_networks(profile.pool, profile.fabric))


def _bare_metal(profile: NodeProfile) -> bool:
    return isinstance(profile.fabric, NvlinkDomain) and profile.fabric.roce.bare_metal
