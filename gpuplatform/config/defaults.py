"""Defaults that depend on the cloud."""

from __future__ import annotations

from typing import Final

from gpuplatform.config.model import Platform

__all__ = ["SYSTEM_SKU", "system_sku"]

SYSTEM_SKU: Final[dict[str, str]] = {
    # Four vCPUs and 16 GiB: CoreDNS, metrics, the autoscaler and the GPU Operator's controllers with room to
    # spare. AKS recommends at least four vCPUs in a system pool
    # (https://learn.microsoft.com/azure/aks/use-system-pools); the other two follow for symmetry.
    "aws": "m6i.xlarge",
    "azure": "Standard_D4s_v5",
    "gcp": "e2-standard-4",
}


def system_sku(config: Platform) -> str:
    """The machine type of the system pool: the one asked for, or the cloud's default."""
    return config.cluster.system.sku or SYSTEM_SKU[config.cloud.provider]
