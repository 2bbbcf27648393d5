"""The shape of the one decision: everything a pool's nodes are, before any resource exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["AksDriver", "AmiDriver", "Driver", "GkeDriver", "NodeProfile", "Taint"]

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A Kubernetes taint; components spell the effect as their cloud does."""

    key: str
    value: str
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiDriver:
    """EKS: driver and container toolkit are part of the node's image."""

    ami_type: Literal["AL2023_x86_64_NVIDIA", "AL2023_ARM_64_NVIDIA"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GkeDriver:
    """GKE installs the driver and runs its own device plugin (Container-Optimized OS)."""

    version: Literal["DEFAULT", "LATEST"] = "DEFAULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class AksDriver:
    """AKS installs driver and container toolkit; the device plugin is the GPU Operator's."""


Driver = AmiDriver | GkeDriver | AksDriver
"""Who owns the driver of a node, as a closed union: two owners on one node cannot be written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProfile:
    """What the nodes of one pool are. Components translate it into resources and decide nothing.

    Attributes:
        pool: The pool's name in the configuration.
        sku: The machine type.
        gpus: Whole GPUs that a node advertises as `nvidia.com/gpu`.
        gpu_model: The catalogue's name for the model, such as H100.
        accelerator: GKE's name for the accelerator (`nvidia-h100-80gb`); None on the other clouds.
        arch: The processor architecture.
        driver: Who owns the driver.
        image: The node image as its cloud's API names it.
        spot: Whether the nodes are spare capacity that the cloud may take back.
        labels: Kubernetes labels, the user's own included.
        taints: Kubernetes taints, the user's own included.
        scale_from_zero: Node-template hints for an autoscaler that cannot see a node of an empty pool: the
            tags below `k8s.io/cluster-autoscaler/node-template/`; empty where the cloud's autoscaler knows.
        disk_gib: Boot disk, GiB.
    """

    pool: str
    sku: str
    gpus: int
    gpu_model: str
    accelerator: str | None
    arch: Literal["amd64", "arm64"]
    driver: Driver
    image: str
    spot: bool
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    scale_from_zero: dict[str, str]
    disk_gib: int
