"""Who owns the GPU driver of a node: a closed union, so that two owners cannot be written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["AksDriver", "AmiDriver", "Driver", "GkeDriver", "OperatorDriver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiDriver:
    """EKS: the driver is part of the image; on AL2023 the container toolkit is too.

    Attributes:
        ami_type: As EKS spells it. Bottlerocket also brings its own device plugin.
    """

    ami_type: Literal[
        "AL2023_x86_64_NVIDIA",
        "AL2023_ARM_64_NVIDIA",
        "BOTTLEROCKET_x86_64_NVIDIA",
        "BOTTLEROCKET_ARM_64_NVIDIA",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GkeDriver:
    """GKE installs the driver and runs its own device plugin."""

    version: Literal["DEFAULT", "LATEST"] = "DEFAULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class AksDriver:
    """AKS installs driver and container toolkit; the device plugin is the GPU Operator's.

    Attributes:
        kind: CUDA, or GRID for the fractional A10 machines, which take no other.
    """

    kind: Literal["CUDA", "GRID"] = "CUDA"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorDriver:
    """NVIDIA's GPU Operator installs driver, toolkit and device plugin.

    Attributes:
        host: Where it runs: decides the toolkit's and the driver's paths and the installer.
        rdma: Whether the driver is built with GPUDirect RDMA (nvidia-peermem) for InfiniBand.
    """

    host: Literal["aks-ubuntu", "gke-cos", "gke-ubuntu"]
    rdma: bool = False


Driver = AmiDriver | GkeDriver | AksDriver | OperatorDriver
