"""The pool that AKS demands of every cluster, inline in the cluster itself."""

from __future__ import annotations

from typing import Final

import pulumi
from pulumi_azure_native import containerservice as aks

from gpuplatform.tags import Tags

__all__ = ["SYSTEM_POOL", "system_pool"]

SYSTEM_POOL: Final = "system"
"""Its name; inline pools can be neither renamed nor removed."""


def system_pool(
    *,
    sku: str,
    nodes_min: int,
    nodes_max: int,
    kubernetes_version: str,
    zones: tuple[str, ...],
    node_subnet_id: pulumi.Input[str],
    tags: Tags,
) -> aks.ManagedClusterAgentPoolProfileArgs:
    """The one inline pool, autoscaled where `nodes_max` is above `nodes_min`.

    It carries no `CriticalAddonsOnly` taint: it is the environment's only pool without GPUs, and the
    controllers of everything installed later (GPU Operator, queues, monitoring) run here, as on the other
    clouds; GPU pools keep them off with their own taint.
    """
    autoscaled = nodes_max > nodes_min
    return aks.ManagedClusterAgentPoolProfileArgs(
        name=SYSTEM_POOL,
        mode=aks.AgentPoolMode.SYSTEM,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        os_type=aks.OSType.LINUX,
        os_sku=aks.OSSKU.UBUNTU,
        vm_size=sku,
        orchestrator_version=kubernetes_version,
        count=nodes_min,
        enable_auto_scaling=autoscaled,
        min_count=nodes_min if autoscaled else None,
        max_count=nodes_max if autoscaled else None,
        availability_zones=list(zones),
        vnet_subnet_id=node_subnet_id,
        # A system pool takes no maxUnavailable, so an upgrade adds a node
        # (https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling).
        upgrade_settings=aks.AgentPoolUpgradeSettingsArgs(max_surge="1"),
        tags=tags.azure(),
    )
