"""Node images, and who installs the driver: AKS, or NVIDIA's GPU Operator."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.azure.fabric import GRACE_BLACKWELL
from gpuplatform.profile.driver import AksDriver, OperatorDriver
from gpuplatform.profile.fabric import Fabric, InfiniBand

__all__ = ["driver", "driver_preconditions", "image"]

UBUNTU: Final = "Ubuntu"
UBUNTU_24: Final = "Ubuntu2404"
AZURE_LINUX: Final = "AzureLinux"

# Azure/karpenter-provider-azure pkg/utils/supported-gpus.yaml (21 August 2026), the families with
# `azurelinux3`. The list moves: Azure Linux 2 had V100 and T4 alone (microsoft/tyger#209).
_AZURE_LINUX: Final = frozenset(
    {
        "NC_A100_v4",
        "NCadsA10_v4",
        "NCads_H100_v5",
        "NCasT4_v3",
        "NCv3",
        "ND_A100_v4",
        "ND_H100_v5",
        "ND_H200_v5",
        "NDm_A100_v4",
        "NDv2",
        "NVadsA10_v5",
    }
)

# Machines that take Azure's own GRID driver; the CUDA driver fails to install with opaque errors
# (Azure/karpenter-provider-azure pkg/utils/gpu.go, ConvergedGPUDriverSizes and rtxPro6000GPUDriverSizes).
_GRID: Final = frozenset({"NC_RTXPRO6000BSE_v6", "NCadsA10_v4", "NVadsA10_v5"})


def image(pool: NodePool, sku: Sku, connects: Fabric, where: str) -> str:
    """The pool's node image, as AKS's `osSKU` names it.

    Raises:
        Refusal: AKS has no such image, or not for this machine.
    """
    at = f"{where}.image"
    if pool.image not in {None, "ubuntu", "azurelinux"}:
        raise Refusal(
            f"AKS has no node image {pool.image}",
            where=at,
            rule="its images for GPU nodes are Ubuntu and Azure Linux",
            way_out="use image: ubuntu, or image: azurelinux",
        )
    if pool.image != "azurelinux":
        # Required there, whatever the cluster's Kubernetes version makes of "Ubuntu"
        # (Azure/ai-infrastructure-on-azure infrastructure_references/aks/README.md).
        return UBUNTU_24 if sku.gpu_model in GRACE_BLACKWELL else UBUNTU
    if sku.family not in _AZURE_LINUX:
        raise Refusal(
            f"Azure Linux has no GPU support for {sku.name}",
            where=at,
            rule=f"it has for {', '.join(sorted(_AZURE_LINUX))}",
            way_out="use image: ubuntu",
        )
    if isinstance(connects, InfiniBand):
        raise Refusal(
            f"{sku.name} has no InfiniBand under Azure Linux",
            where=at,
            rule="the Network Operator's and the GPU Operator's drivers for AKS are built for Ubuntu "
            "(https://azure.github.io/aks-rdma-infiniband)",
            way_out="use image: ubuntu, or do without InfiniBand: fabric: none",
        )
    return AZURE_LINUX


def driver(
    pool: NodePool, sku: Sku, connects: Fabric, node_image: str, where: str
) -> AksDriver | OperatorDriver:
    """Who installs the driver: AKS unless the pool asks for the operator, or InfiniBand needs it.

    Raises:
        Refusal: The machine, its image or its fabric excludes the one that the pool asks for.
    """
    infiniband = isinstance(connects, InfiniBand)
    operator = OperatorDriver(host="aks-ubuntu", rdma=infiniband)
    at = f"{where}.driver"
    if infiniband or sku.gpu_model in GRACE_BLACKWELL:
        if pool.driver == "cloud":
            raise Refusal(_why_not_aks(sku), where=at, rule=_NO_PEERMEM, way_out=_without(sku))
        return operator
    if pool.driver != "operator":
        return AksDriver(kind="GRID" if sku.family in _GRID else "CUDA")
    if sku.family in _GRID:
        raise Refusal(
            f"NVIDIA's GPU Operator has no driver for {sku.name}",
            where=at,
            rule="its GPU takes Azure's GRID driver, which AKS installs and NVIDIA publishes no container of",
            way_out="leave driver out, or say driver: cloud",
        )
    if node_image == AZURE_LINUX:
        raise Refusal(
            "NVIDIA's GPU Operator has no driver container for Azure Linux",
            where=at,
            rule="on AKS it installs the driver on Ubuntu",
            way_out="use image: ubuntu, or driver: cloud",
        )
    return operator


def driver_preconditions(sku: Sku) -> tuple[str, ...]:
    """What must be so on AKS's side, one sentence each."""
    if sku.family != "NC_RTXPRO6000BSE_v6":
        return ()
    # Its page named the fourth quarter of 2026 (https://learn.microsoft.com/azure/virtual-machines/sizes/
    # gpu-accelerated/nc-rtxpro6000-bse-v6-series-overview, question 3); AKS's own list of machines has it
    # since August (supported-gpus.yaml, as above).
    return (f"AKS has announced support for {sku.name} in the region.",)


_NO_PEERMEM: Final = (
    "the driver that AKS installs loads no nvidia-peermem, without which InfiniBand does not reach the GPUs' "
    "memory (https://azure.github.io/aks-rdma-infiniband/configurations/gpu-drivers)"
)


def _why_not_aks(sku: Sku) -> str:
    return f"AKS cannot own the driver of {sku.name} with its InfiniBand"


def _without(sku: Sku) -> str:
    way_out = "leave driver out, or say driver: operator"
    return way_out if sku.gpu_model in GRACE_BLACKWELL else f"{way_out}; or do without: fabric: none"
