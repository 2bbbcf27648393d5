"""The pool that AKS demands of every cluster, inline in the cluster itself."""

from __future__ import annotations

from typing import Final

from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.network import AzureNetworkIds
from gpuplatform.contracts import ClusterArgs

__all__ = ["SYSTEM_POOL", "system_pool"]

SYSTEM_POOL: Final = "system"
"""Its name; inline pools can be neither renamed nor removed."""


def system_pool(args: ClusterArgs, *, network: AzureNetworkIds) -> aks.ManagedClusterAgentPoolProfileArgs:
    """The one inline pool, a part of the cluster itself, unlike on the other clouds.

    It carries no `CriticalAddonsOnly` taint: it is the environment's only pool without GPUs, and the
    controllers of everything installed later (GPU Operator, queues, monitoring) run here, as on the other
    clouds; GPU pools keep them off with their own taint.
    """
    return aks.ManagedClusterAgentPoolProfileArgs(
        name=SYSTEM_POOL,
        mode=aks.AgentPoolMode.SYSTEM,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        os_type=aks.OSType.LINUX,
        os_sku=aks.OSSKU.UBUNTU,
        vm_size=args.system_sku,
        orchestrator_version=args.kubernetes_version,
        count=args.system_min,
        enable_auto_scaling=args.system_autoscaled,
        min_count=args.system_min if args.system_autoscaled else None,
        max_count=args.system_max if args.system_autoscaled else None,
        availability_zones=list(network.zones),
        vnet_subnet_id=network.node_subnet_id,
        # A system pool takes no maxUnavailable, so an upgrade adds a node
        # (https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling).
        upgrade_settings=aks.AgentPoolUpgradeSettingsArgs(max_surge="1"),
        tags=args.tags.azure(),
    )
