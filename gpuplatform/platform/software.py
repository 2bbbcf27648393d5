"""What runs in the cluster so that its GPUs, fabric and queues can be used: the same on all clouds."""

from __future__ import annotations

import pulumi

from gpuplatform.kubernetes import (
    ComputeDomains,
    ComputeDomainsArgs,
    DeviceIsolation,
    DeviceIsolationArgs,
    EfaDevicePlugin,
    EfaDevicePluginArgs,
    GpuOperator,
    GpuOperatorArgs,
    Kueue,
    KueueArgs,
    NetworkOperator,
    NetworkOperatorArgs,
    StorageClasses,
    StorageClassesArgs,
    TeamSpace,
    TeamSpaceArgs,
    leaves_gpus_open,
    pod_security,
    shares_nvlink,
)
from gpuplatform.platform.built import Built
from gpuplatform.platform.decision import Decision
from gpuplatform.profile import Efa, InfiniBand, operator_values
from gpuplatform.storage import BlockPlan

__all__ = ["install"]


def install(decision: Decision, built: Built) -> None:
    """Registers what the pools' profiles ask for, and nothing else.

    The Network Operator comes before the GPU Operator, whose driver is built against it, and Kueue after
    both: its webhook would turn away the Jobs of their hooks while it starts.
    """
    cluster, profiles, pools = built.cluster, decision.profiles, tuple(built.pools.values())
    before: list[pulumi.Resource] = []
    if any(isinstance(profile.fabric, InfiniBand) for profile in profiles):
        network = NetworkOperator(
            "network-operator", NetworkOperatorArgs(cluster=cluster, profiles=profiles, pools=pools)
        )
        before.append(network.policy)
    operator = GpuOperator(
        "gpu-operator",
        GpuOperatorArgs(cluster=cluster, values=operator_values(profiles), pools=pools, after=tuple(before)),
    )
    if any(leaves_gpus_open(profile.driver) for profile in profiles):
        DeviceIsolation(
            "device-isolation", DeviceIsolationArgs(cluster=cluster, profiles=profiles, pools=pools)
        )
    if any(isinstance(profile.fabric, Efa) for profile in profiles):
        EfaDevicePlugin(
            "efa-device-plugin", EfaDevicePluginArgs(cluster=cluster, profiles=profiles, pools=pools)
        )
    if any(shares_nvlink(profile) for profile in profiles):
        ComputeDomains(
            "compute-domains",
            ComputeDomainsArgs(cluster=cluster, profiles=profiles, pools=pools, after=(operator,)),
        )
    if decision.queues:
        Kueue(
            "kueue",
            KueueArgs(
                cluster=cluster,
                queues=decision.queues,
                nodes_max={pool.name: pool.nodes.max for pool in decision.config.node_pools},
                pools=pools,
                after=(*before, operator),
            ),
        )
    _teams(decision, built)


def _teams(decision: Decision, built: Built) -> None:
    """The classes of disks for everybody, and each team's namespace with its volumes."""
    for plan in decision.storage:
        if isinstance(plan, BlockPlan):
            StorageClasses(f"storage-{plan.tier}", StorageClassesArgs(cluster=built.cluster, plan=plan))
    admitted = pod_security(decision.profiles)
    for team in decision.config.teams:
        TeamSpace(
            f"team-{team.name}",
            TeamSpaceArgs(
                cluster=built.cluster,
                team=team.name,
                identity=built.identities[team.name],
                volumes=tuple(built.storage[tier] for tier in team.storage),
                tags=decision.config.tags,
                pod_security=admitted,
            ),
        )
